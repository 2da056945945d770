//! Panics in the way that its argument names, so that the hook can be watched from outside.

use ibplan_host::Program;

#[allow(clippy::panic)]
fn main() {
    ibplan_bins::bug_hook(&Program {
        name: "panics",
        version: "0.0.0",
        stages: &[],
        sections: &[],
    });
    let secret = std::env::args().nth(1).unwrap_or_default();
    match secret.as_str() {
        "fixed" => panic!("a fixed text"),
        "thread" => drop(std::thread::spawn(|| panic!("in a thread")).join()),
        // While standard output is locked and borrowed, as in the middle of a print.
        "locked" => {
            let _held = std::io::stdout().lock();
            panic!("while printing");
        }
        value => panic!("the value was {value}"),
    }
}
