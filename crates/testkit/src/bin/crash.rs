//! Serves one request and kills itself (SIGKILL) at the point whose number it is given: for law 5.
//!
//! `ibplan-crash POINT` reads the request from standard input. It ends with 0 when it came to its end before that point.

use ibplan_host::watch::{Point, Watch};
use std::io::Read;

struct KillAt {
    left: usize,
}

impl Watch for KillAt {
    fn at(&mut self, _: Point) -> std::io::Result<()> {
        if self.left == 0 {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
            loop {
                std::thread::park();
            }
        }
        self.left -= 1;
        Ok(())
    }
}

fn main() {
    let left = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .expect("the number of a point");
    let mut request = Vec::new();
    std::io::stdin().read_to_end(&mut request).expect("a request");
    let (response, exit) = ibplan_host::serve_watched(
        &request,
        &ibplan_testkit::laws::PROGRAM,
        &mut |_| {},
        &mut KillAt { left },
    );
    println!("{}", serde_json::to_string(&response).expect("a response"));
    std::process::exit(exit.status());
}
