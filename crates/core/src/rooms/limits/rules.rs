//! Rules that the document alone decides.

use super::codes;
use super::want::LimitsWant;
use crate::pointer::Pointer;
use crate::problem::Findings;

/// Where a service is in the document.
pub fn service_at(index: usize) -> Pointer {
    Pointer::of("limits").key("services").index(index)
}

/// Where the users are.
pub fn users_at() -> Pointer {
    Pointer::of("limits").key("users")
}

/// All of them.
pub fn check(want: &LimitsWant, found: &mut Findings) {
    let Some((_, users)) = want.users() else {
        if want.users.as_ref().is_some_and(|u| !u.is_empty()) || !want.services.is_empty() {
            found.error(
                codes::NO_MEMLOCK,
                Pointer::of("limits").key("memlock"),
                "users or services are named, and no limit for them",
                "add `memlock`: unlimited or a number of KiB",
            );
        }
        return;
    };
    for (index, user) in users.iter().enumerate() {
        if users[..index].contains(user) {
            let at = users_at().index(index);
            found.error(
                codes::NAMED_TWICE,
                at,
                format!("{user} is in the list twice"),
                "remove one of the two",
            );
        }
    }
    for (index, service) in want.services.iter().enumerate() {
        let unit = service.unit();
        if want.services[..index].iter().any(|s| s.unit() == unit) {
            let at = service_at(index);
            found.error(
                codes::NAMED_TWICE,
                at,
                format!("{unit} is in the list twice"),
                "remove one of the two",
            );
        }
        if !unit.ends_with(".service") {
            found.error(
                codes::NOT_A_SERVICE,
                service_at(index),
                format!("{unit} is not a service"),
                "name the service that runs the program, such as slurmd.service",
            );
        }
    }
    let named = |name: &str| users.iter().any(|u| u.as_str() == name);
    if named("*") && !named("root") {
        found.warn(
            codes::ROOT_NOT_COVERED,
            users_at(),
            "\"*\" does not cover root (limits.conf(5)): root keeps its old limit",
            "add root to the users",
        );
    }
}
