//! What `network_backend: auto` means on a host.

use super::{Facts, IpoibLink};
use crate::distro::Backend;

/// A back end and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendChoice {
    /// The back end.
    pub backend: Backend,
    /// Why, as half a sentence for people: `it owns ib0`.
    pub because: String,
}

impl Facts {
    /// The back end that `auto` stands for: the owner of the IPoIB links that are there, else netplan where it is used, else the first
    /// of the distribution's that is installed, else the distribution's own. `None` on an unknown distribution without any.
    pub fn default_backend(&self) -> Option<BackendChoice> {
        let choice = |backend, because: String| Some(BackendChoice { backend, because });
        if let Some((backend, names)) = self.agreed_owner() {
            return choice(backend, format!("it owns {names}"));
        }
        let disagree = self.disagreement();
        if self.backends.netplan_used {
            return choice(
                Backend::Netplan,
                format!("{disagree}netplan's files configure this host"),
            );
        }
        let Some(row) = self.row() else {
            let first = self.backends.installed.first()?;
            return choice(
                *first,
                format!("{disagree}the distribution is unknown and {first} is installed"),
            );
        };
        match row.backends.iter().find(|b| self.backends.installed.contains(b)) {
            Some(backend) => choice(
                *backend,
                format!(
                    "{disagree}it is the first of {}'s back ends that is installed",
                    row.name
                ),
            ),
            None => choice(
                *row.backends.first()?,
                format!("{disagree}it is {}'s own, and none was found installed", row.name),
            ),
        }
    }

    /// The links that say whose the host's IPoIB is. A P_Key child follows its parent, where the parent is owned: below
    /// netplan a child always is networkd's.
    fn owned(&self) -> Vec<(&IpoibLink, Backend)> {
        let owned = |parents: bool| -> Vec<(&IpoibLink, Backend)> {
            self.ipoib
                .iter()
                .filter(|l| !parents || l.parent.is_none())
                .filter_map(|l| Some((l, l.owner?)))
                .collect()
        };
        let parents = owned(true);
        if parents.is_empty() { owned(false) } else { parents }
    }

    fn agreed_owner(&self) -> Option<(Backend, String)> {
        let owned = self.owned();
        let (_, first) = owned.first()?;
        let names: Vec<&str> = owned.iter().map(|(l, _)| l.name.as_str()).collect();
        owned
            .iter()
            .all(|(l, b)| b == first && l.owners.is_empty())
            .then(|| (*first, names.join(", ")))
    }

    fn disagreement(&self) -> String {
        let owned: Vec<String> = self
            .owned()
            .iter()
            .map(|(l, b)| {
                let all: Vec<&str> = l.owners.iter().map(|b| b.word()).collect();
                let who = if all.is_empty() {
                    b.word().to_owned()
                } else {
                    all.join(" and ")
                };
                format!("{} is of {who}", l.name)
            })
            .collect();
        if owned.is_empty() {
            String::new()
        } else {
            format!("the owners do not agree ({}); ", owned.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distro::Row;
    use crate::facts::{Scope, read};
    use crate::fake::Fake;

    fn link(name: &str, parent: Option<&str>, owners: &[Backend]) -> IpoibLink {
        let mut facts = read(
            &Fake::new().file(&format!("/sys/class/net/{name}/type"), "32\n"),
            Scope::Live,
        )
        .unwrap();
        let mut link = facts.ipoib.remove(0);
        link.parent = parent.map(str::to_owned);
        link.owner = owners.first().copied();
        link.owners = if owners.len() > 1 {
            owners.to_vec()
        } else {
            Vec::new()
        };
        link
    }

    fn facts(
        row: Option<&'static Row>,
        links: Vec<IpoibLink>,
        installed: &[Backend],
        netplan: bool,
    ) -> Facts {
        let mut facts = Facts::unknown(Scope::Live);
        facts.os.row = row;
        facts.ipoib = links;
        facts.backends.installed = installed.to_vec();
        facts.backends.netplan_used = netplan;
        facts
    }

    fn chosen(facts: &Facts, backend: Backend, because: &str) {
        let wanted = BackendChoice {
            backend,
            because: because.to_owned(),
        };
        assert_eq!(facts.default_backend(), Some(wanted));
    }

    use Backend::{Ifupdown, Netplan, NetworkManager, Networkd};

    #[test]
    fn the_owner_of_the_links_comes_first() {
        let deb = Row::find("debian", "12");
        let owned = facts(deb, vec![link("ib0", None, &[NetworkManager])], &[Ifupdown], true);
        chosen(&owned, NetworkManager, "it owns ib0");
        let child = || link("ib0.8001", Some("ib0"), &[Networkd]);
        let family = vec![link("ib0", None, &[Netplan]), child()];
        chosen(&facts(deb, family, &[], true), Netplan, "it owns ib0");
        let orphan = vec![link("ib0", None, &[]), child()];
        chosen(&facts(deb, orphan, &[], false), Networkd, "it owns ib0.8001");
    }

    #[test]
    fn owners_that_disagree_are_named() {
        let deb = Row::find("debian", "12");
        let two = vec![
            link("ib0", None, &[NetworkManager]),
            link("ib1", None, &[Ifupdown]),
        ];
        chosen(
            &facts(deb, two, &[Networkd], false),
            Networkd,
            "the owners do not agree (ib0 is of networkmanager, ib1 is of ifupdown); it is the first of \
             Debian 12's back ends that is installed",
        );
        let twice = vec![link("ib0", None, &[Netplan, NetworkManager])];
        chosen(
            &facts(deb, twice, &[], true),
            Netplan,
            "the owners do not agree (ib0 is of netplan and networkmanager); netplan's files configure this host",
        );
    }

    #[test]
    fn then_netplan_then_installed_then_the_rows_own() {
        let deb = Row::find("debian", "12");
        chosen(
            &facts(deb, vec![], &[Ifupdown, Netplan], true),
            Netplan,
            "netplan's files configure this host",
        );
        chosen(
            &facts(deb, vec![], &[NetworkManager], false),
            NetworkManager,
            "it is the first of Debian 12's back ends that is installed",
        );
        chosen(
            &facts(deb, vec![], &[], false),
            Ifupdown,
            "it is Debian 12's own, and none was found installed",
        );
        chosen(
            &facts(None, vec![], &[Networkd], false),
            Networkd,
            "the distribution is unknown and networkd is installed",
        );
        assert_eq!(facts(None, vec![], &[], false).default_backend(), None);
    }
}
