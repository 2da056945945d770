//! Whose an IPoIB interface is. Two owners for one interface is the commonest fault of the field, so all are found.
//!
//! A claim is strong where its back end works now, starts at boot, or is in the image. What a back end that is not
//! there left in its folders is a weak claim, and so is a link that NetworkManager manages without a profile (it manages
//! every link by default). Weak claims count only where there is no strong one.

mod files;

use super::backends::Eyes;
use super::folder::Folder;
use super::text::value;
use super::{BackendFacts, IpoibLink, Scope};
use crate::distro::{Backend, IfcfgReader};
use crate::probe::ProbeError;
use crate::types::HostPath;
use files::{Ifcfg, Network, Profile};
use std::collections::{BTreeMap, BTreeSet};

/// The order in which owners are named; netplan before the back ends that it feeds.
const ORDER: [Backend; 6] = [
    Backend::Netplan,
    Backend::NetworkManager,
    Backend::Networkd,
    Backend::Ifupdown,
    Backend::Wicked,
    Backend::Ifcfg,
];

/// Files that netplan's generator wrote (netplan: src/networkd.c, src/nm.c).
const GENERATED: [&str; 2] = ["10-netplan-", "netplan-"];

fn generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    GENERATED.iter().any(|prefix| name.starts_with(prefix))
}

/// Fills in owner and owners of every link.
///
/// # Errors
/// Configuration of a back end is there and cannot be read.
pub(super) fn assign(
    links: &mut [IpoibLink],
    index: &BTreeMap<String, u32>,
    eyes: &Eyes<'_>,
    facts: &BackendFacts,
) -> Result<(), ProbeError> {
    if links.is_empty() {
        return Ok(());
    }
    let sources = Sources::read(eyes, facts)?;
    for link in links {
        let mut found = sources.claims(link, index.get(&link.name).copied());
        let strong: Vec<Backend> = found
            .iter()
            .filter(|(_, strong)| **strong)
            .map(|(b, _)| *b)
            .collect();
        if !strong.is_empty() {
            found.retain(|backend, _| strong.contains(backend));
        }
        let owners: Vec<Backend> = ORDER.into_iter().filter(|b| found.contains_key(b)).collect();
        link.owner = owners.first().copied();
        link.owners = if owners.len() > 1 { owners } else { Vec::new() };
    }
    Ok(())
}

/// Claims by back end, and whether they are strong.
type Claims = BTreeMap<Backend, bool>;

fn claim(claims: &mut Claims, backend: Backend, strong: bool) {
    *claims.entry(backend).or_default() |= strong;
}

/// All that back ends keep, read once.
struct Sources<'a> {
    eyes: &'a Eyes<'a>,
    awake: BTreeSet<Backend>,
    initscripts: bool,
    profiles: Vec<Profile>,
    networks: Vec<Network>,
    stanzas: BTreeSet<String>,
    wicked: BTreeSet<String>,
    ifcfg: Vec<Ifcfg>,
}

impl<'a> Sources<'a> {
    fn read(eyes: &'a Eyes<'a>, facts: &BackendFacts) -> Result<Self, ProbeError> {
        let mut awake: BTreeSet<Backend> = facts.running.iter().copied().collect();
        for backend in Backend::ALL {
            if eyes.enabled(backend)?
                || (eyes.scope == Scope::Image && facts.installed.contains(&backend))
                || (backend == Backend::Netplan && facts.netplan_used)
            {
                awake.insert(backend);
            }
        }
        // On a row where NetworkManager reads ifcfg files, the scripts are an extra package.
        let initscripts = match eyes.row.map(|r| r.ifcfg) {
            Some(IfcfgReader::NetworkManager) => {
                super::folder::any(eyes.probe, &["/etc/rc.d/init.d/network", "/etc/init.d/network"])?
            }
            _ => awake.contains(&Backend::Ifcfg),
        };
        let read_by_nobody = eyes.row.is_some_and(|r| r.ifcfg == IfcfgReader::Nobody);
        Ok(Self {
            eyes,
            awake,
            initscripts,
            profiles: files::profiles(eyes.probe)?,
            networks: files::networks(eyes.probe)?,
            stanzas: files::stanzas(eyes.probe)?,
            wicked: files::wicked(eyes.probe)?,
            ifcfg: if read_by_nobody {
                Vec::new()
            } else {
                files::ifcfg(eyes.probe)?
            },
        })
    }

    fn awake(&self, backend: Backend) -> bool {
        self.awake.contains(&backend)
    }

    fn claims(&self, link: &IpoibLink, index: Option<u32>) -> Claims {
        let mut claims = Claims::new();
        let netplan = self.eyes.netplan.claims(&link.name, &link.address);
        if netplan {
            claim(&mut claims, Backend::Netplan, self.awake(Backend::Netplan));
        }
        let by_networkmanager = self.ifcfg_claims(link, &mut claims);
        if self.stanzas.contains(&link.name) {
            claim(&mut claims, Backend::Ifupdown, self.awake(Backend::Ifupdown));
        }
        if self.wicked.contains(&link.name) {
            claim(&mut claims, Backend::Wicked, self.awake(Backend::Wicked));
        }
        self.networkmanager_claims(link, index, netplan, by_networkmanager, &mut claims);
        self.networkd_claims(link, index, netplan, &mut claims);
        claims
    }

    /// ifcfg files; true where one is read by NetworkManager, which then manages the link for it.
    fn ifcfg_claims(&self, link: &IpoibLink, claims: &mut Claims) -> bool {
        let mut by_networkmanager = false;
        for file in self.ifcfg.iter().filter(|f| f.device == link.name) {
            let networkmanager = file.networkmanager && self.awake(Backend::NetworkManager);
            claim(claims, Backend::Ifcfg, networkmanager || self.initscripts);
            by_networkmanager |= networkmanager;
        }
        by_networkmanager
    }

    fn networkmanager_claims(
        &self,
        link: &IpoibLink,
        index: Option<u32>,
        netplan: bool,
        ifcfg: bool,
        claims: &mut Claims,
    ) {
        let awake = self.awake(Backend::NetworkManager);
        for profile in self.profiles.iter().filter(|p| p.is_for(link)) {
            if !(netplan && generated(&profile.path)) {
                claim(claims, Backend::NetworkManager, awake);
            }
        }
        // The state of a device outlives the daemon; whose profile it is has been told by the files.
        if !awake || netplan || ifcfg || claims.contains_key(&Backend::NetworkManager) {
            return;
        }
        if let Some(state) = self.state("/run/NetworkManager/devices", index)
            && value(&state, "managed").as_deref() == Some("true")
        {
            let profile = value(&state, "connection-uuid").is_some();
            claim(claims, Backend::NetworkManager, profile);
        }
    }

    fn networkd_claims(&self, link: &IpoibLink, index: Option<u32>, netplan: bool, claims: &mut Claims) {
        let awake = self.awake(Backend::Networkd);
        for network in self.networks.iter().filter(|n| n.is_for(link)) {
            if !(netplan && generated(&network.path)) {
                claim(claims, Backend::Networkd, awake);
            }
        }
        if let Some(state) = self.state("/run/systemd/netif/links", index)
            && awake
        {
            // sd-network: `pending`, `initialized` and `unmanaged` have no file yet or none at all.
            let admin = value(&state, "ADMIN_STATE").unwrap_or_default();
            let configured = matches!(admin.as_str(), "configuring" | "configured" | "failed" | "linger");
            let file = value(&state, "NETWORK_FILE").unwrap_or_default();
            if configured && !(netplan && generated(&file)) {
                claim(claims, Backend::Networkd, true);
            }
        }
    }

    fn state(&self, folder: &'static str, index: Option<u32>) -> Option<String> {
        if !self.eyes.scope.live() {
            return None;
        }
        Folder::new(self.eyes.probe, HostPath::fixed(folder)).attr(&index?.to_string())
    }
}

#[cfg(test)]
mod tests;
