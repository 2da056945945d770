//! Rules that the document alone decides, and what ib_ipoib makes of its parameters.

use super::codes;
use super::want::ModuleWant;
use crate::pointer::Pointer;
use crate::problem::Findings;
use crate::types::num::kernel_integer;
use std::collections::BTreeMap;

/// Where an entry is in the document.
pub fn at(index: usize) -> Pointer {
    Pointer::of("modules").index(index)
}

/// All of them.
pub fn check(want: &[ModuleWant], found: &mut Findings) {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (index, module) in want.iter().enumerate() {
        if let Some(other) = first.get(&module.name.normal()) {
            found.error(
                codes::NAMED_TWICE,
                at(index).key("name"),
                format!("{} is the module of /modules/{other} again", module.name),
                "join the two entries",
            );
        } else {
            first.insert(module.name.normal(), index);
        }
        if module.name.normal() == "ib_ipoib" {
            ipoib(index, module, found);
        }
    }
}

/// Ranges of linux: drivers/infiniband/ulp/ipoib/ipoib.h (IPOIB_MIN_QUEUE_SIZE and its neighbours).
const IPOIB: &[(&str, i128, i128)] = &[
    ("send_queue_size", 2, 8192),
    ("recv_queue_size", 2, 8192),
    ("max_nonsrq_conn_qp", 0, 4096),
];

fn ipoib(index: usize, module: &ModuleWant, found: &mut Findings) {
    for (name, value) in &module.parameters {
        let Some((_, least, most)) = IPOIB.iter().find(|(n, ..)| *n == name.as_str()) else {
            continue;
        };
        let pointer = at(index).key("parameters").key(name.as_str());
        let number = kernel_integer(value.as_str());
        let Some(number) = number.filter(|n| (*least..=*most).contains(n)) else {
            found.error(
                codes::PARAMETER_RANGE,
                pointer,
                format!(
                    "{} = {} is not an integer from {least} to {most}",
                    name.as_str(),
                    value.as_str()
                ),
                format!("give an integer from {least} to {most}"),
            );
            continue;
        };
        if let Some(rounded) = queue(name.as_str(), number).filter(|r| *r != number) {
            found.warn(
                codes::ROUNDED,
                pointer,
                format!(
                    "the kernel makes {rounded} of {} = {number}: queue sizes are powers of two",
                    name.as_str()
                ),
                format!("write {rounded}"),
            );
        }
    }
}

/// What ib_ipoib makes of a queue size; `None` for other parameters (linux: ipoib_main.c, ipoib_init_module).
fn queue(name: &str, number: i128) -> Option<i128> {
    if !matches!(name, "send_queue_size" | "recv_queue_size") {
        return None;
    }
    let number = u32::try_from(number).ok()?;
    Some(i128::from(number.checked_next_power_of_two()?.clamp(2, 8192)))
}

/// What the loaded module will show for a wanted value.
pub fn becomes(module: &str, parameter: &str, wanted: &str) -> String {
    kernel_integer(wanted)
        .filter(|_| module == "ib_ipoib")
        .and_then(|number| queue(parameter, number))
        .map_or_else(|| wanted.to_owned(), |rounded| rounded.to_string())
}

/// Whether the value that the kernel shows is the wanted one.
pub fn effective(module: &str, parameter: &str, wanted: &str, shown: &str) -> bool {
    if same(wanted, shown) {
        return true;
    }
    if module != "ib_ipoib" {
        return false;
    }
    let (Some(want), Some(now)) = (kernel_integer(wanted), kernel_integer(shown)) else {
        return false;
    };
    queue(parameter, want).is_some_and(|rounded| {
        // The send queue holds at least two batches of completions: MAX_SEND_CQE, 16 in older kernels and 64 in newer ones.
        let floors: &[i128] = if parameter == "send_queue_size" {
            &[2, 32, 128]
        } else {
            &[2]
        };
        floors.iter().any(|floor| rounded.max(*floor) == now)
    })
}

/// Whether two spellings are one value: integers by value, booleans as the kernel reads them (it prints Y and N), lists
/// by element (linux: kernel/params.c, lib/kstrtox.c).
pub fn same(a: &str, b: &str) -> bool {
    let (x, y): (Vec<&str>, Vec<&str>) = (a.split(',').collect(), b.split(',').collect());
    x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| one(x.trim(), y.trim()))
}

fn one(a: &str, b: &str) -> bool {
    a == b
        || matches!((kernel_integer(a), kernel_integer(b)), (Some(x), Some(y)) if x == y)
        || matches!((boolean(a), boolean(b)), (Some(x), Some(y)) if x == y)
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "1" | "on" | "On" | "ON" | "t" | "T" | "true" => Some(true),
        "n" | "N" | "0" | "off" | "Off" | "OFF" | "f" | "F" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_compare_as_the_kernel_reads_them() {
        for (a, b, wanted) in [
            ("1", "Y", true),
            ("0", "N", true),
            ("1", "N", false),
            ("0x10", "16", true),
            ("1,2", "1,2", true),
            ("1,2", "1", false),
            ("ib,eth", "ib,ib", false),
            ("-1", "-1", true),
            ("yes", "Y", false),
        ] {
            assert_eq!(same(a, b), wanted, "{a} {b}");
        }
    }

    #[test]
    fn queues_are_powers_of_two() {
        for (parameter, want, shown, equal) in [
            ("send_queue_size", "500", "512", true),
            ("send_queue_size", "512", "512", true),
            ("send_queue_size", "500", "500", true),
            ("send_queue_size", "500", "256", false),
            ("send_queue_size", "16", "32", true),
            ("send_queue_size", "16", "128", true),
            ("recv_queue_size", "16", "128", false),
            ("recv_queue_size", "2", "2", true),
            ("max_nonsrq_conn_qp", "100", "128", false),
        ] {
            assert_eq!(
                effective("ib_ipoib", parameter, want, shown),
                equal,
                "{parameter} {want} {shown}"
            );
        }
        assert!(!effective("other", "send_queue_size", "500", "512"));
    }
}
