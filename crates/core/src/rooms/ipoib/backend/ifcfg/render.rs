//! From a link to its ifcfg file and route files.

use super::shell;
use crate::distro::IfcfgReader;
use crate::rooms::ipoib::backend::{Context, networkmanager};
use crate::rooms::ipoib::model::{Link, LinkKind, Mode};
use crate::types::Address;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The files of a link: `ifcfg`, and `route` and `route6` where it has routes, each with its text.
pub fn files(link: &Link, reader: IfcfgReader, context: &Context<'_>) -> Vec<(&'static str, String)> {
    let mut out = vec![("ifcfg", ifcfg(link, reader, context))];
    for (stem, v4) in [("route", true), ("route6", false)] {
        let routes: Vec<String> = link
            .routes
            .iter()
            .filter(|r| r.via.is_ipv4() == v4)
            .map(|r| {
                let metric = r.metric.map_or(String::new(), |m| format!(" metric {m}"));
                format!("{} via {} dev {}{metric}\n", r.to, r.via, link.name)
            })
            .collect();
        if !routes.is_empty() {
            out.push((stem, format!("{HEAD}{}", routes.concat())));
        }
    }
    out
}

const HEAD: &str = "# Written by ibplan: change the document, not this file.\n";

/// Lines of assignments.
struct Lines(String);

impl Lines {
    fn set(&mut self, key: &str, value: impl AsRef<str>) {
        let value = shell::quoted(value.as_ref());
        self.0.push_str(&format!("{key}={value}\n"));
    }
}

fn ifcfg(link: &Link, reader: IfcfgReader, context: &Context<'_>) -> String {
    let there = there(link, context);
    let mut out = Lines(HEAD.to_owned());
    out.set(
        "TYPE",
        if matches!(link.kind, LinkKind::Bond { .. }) {
            "Bond"
        } else {
            "InfiniBand"
        },
    );
    if let LinkKind::Child { parent, pkey } = &link.kind {
        out.set("PKEY", "yes");
        out.set("PKEY_ID", format!("{:#06x}", pkey.full()));
        out.set("PHYSDEV", parent);
    }
    out.set("DEVICE", &link.name);
    out.set("NAME", &link.name);
    if reader != IfcfgReader::Initscripts {
        out.set("UUID", uuid_of(link, &there, context));
    }
    out.set("ONBOOT", "yes");
    if let Some(choice) = there.get("NM_CONTROLLED").filter(|v| !shell::truth(v)) {
        out.set("NM_CONTROLLED", choice);
    }
    if let Some(mode) = link.mode {
        out.set(
            "CONNECTED_MODE",
            if mode == Mode::Connected { "yes" } else { "no" },
        );
    }
    if let LinkKind::Bond { primary, miimon, .. } = &link.kind {
        let primary = primary
            .as_ref()
            .map_or(String::new(), |p| format!(" primary={p}"));
        out.set("BONDING_MASTER", "yes");
        out.set(
            "BONDING_OPTS",
            format!("mode=active-backup miimon={miimon} fail_over_mac=active{primary}"),
        );
    }
    if let Some(mtu) = link.mtu {
        out.set("MTU", mtu.to_string());
    }
    out.set("BOOTPROTO", if link.dhcp4 { "dhcp" } else { "none" });
    if let Some(bond) = &link.bond {
        out.set("MASTER", bond);
        out.set("SLAVE", "yes");
    } else {
        four(link, &mut out);
        six(link, &mut out);
    }
    out.0
}

fn four(link: &Link, out: &mut Lines) {
    let addresses = link.addresses.iter().filter(|a| a.is_v4());
    let mut any = false;
    for (n, address) in addresses.enumerate() {
        let number = if n == 0 { String::new() } else { n.to_string() };
        out.set(&format!("IPADDR{number}"), address.net().addr().to_string());
        out.set(&format!("PREFIX{number}"), address.net().prefix_len().to_string());
        any = true;
    }
    if let Some(gateway) = link.gateway4 {
        out.set("GATEWAY", gateway.to_string());
    }
    if any || link.dhcp4 {
        let default = link.gateway4.is_some() || link.dhcp4;
        out.set("DEFROUTE", if default { "yes" } else { "no" });
    }
}

fn six(link: &Link, out: &mut Lines) {
    let addresses: Vec<&Address> = link.addresses.iter().filter(|a| !a.is_v4()).collect();
    if addresses.is_empty() && !link.dhcp6 {
        out.set("IPV6INIT", "no");
        return;
    }
    out.set("IPV6INIT", "yes");
    out.set("IPV6_AUTOCONF", if link.dhcp6 { "yes" } else { "no" });
    if link.dhcp6 {
        out.set("DHCPV6C", "yes");
    }
    if let Some((first, more)) = addresses.split_first() {
        out.set("IPV6ADDR", first.to_string());
        if !more.is_empty() {
            let list: Vec<String> = more.iter().map(ToString::to_string).collect();
            out.set("IPV6ADDR_SECONDARIES", list.join(" "));
        }
    }
    if let Some(gateway) = link.gateway6 {
        out.set("IPV6_DEFAULTGW", gateway.to_string());
        out.set("IPV6_DEFROUTE", "yes");
    }
}

/// The assignments of the link's file as it is.
fn there(link: &Link, context: &Context<'_>) -> BTreeMap<String, String> {
    let end = format!("{}/ifcfg-{}", super::FOLDER, link.name);
    context
        .files
        .iter()
        .find(|(path, _)| path.as_str() == end)
        .map(|(_, text)| shell::parse(text))
        .unwrap_or_default()
}

/// As for keyfiles: the file's own id where it is valid and not another file's too, else one from host and link.
fn uuid_of(link: &Link, there: &BTreeMap<String, String>, context: &Context<'_>) -> String {
    let kept = there.get("UUID").filter(|uuid| {
        let holders = context
            .files
            .values()
            .filter(|text| shell::parse(text).get("UUID") == Some(uuid))
            .count();
        Uuid::try_parse(uuid).is_ok() && holders == 1
    });
    kept.cloned()
        .unwrap_or_else(|| networkmanager::render::fresh_uuid(context.facts, &link.name))
}
