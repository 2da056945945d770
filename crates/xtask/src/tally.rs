//! Counting what passed and what failed, over checks and test programs.

use anyhow::Result;
use std::io::Write;
use std::time::Instant;

/// Passed, failed, and the names of what failed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    failures: Vec<String>,
}

/// Passed and failed of one `test result:` line of a test program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    passed: u64,
    failed: u64,
}

impl Line {
    /// Reads `test result: ok. 12 passed; 1 failed; 0 ignored; …`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let rest = text.trim_start().strip_prefix("test result: ")?;
        let (_, counts) = rest.split_once(". ")?;
        let count = |word: &str| {
            let part = counts.split("; ").find_map(|p| p.strip_suffix(word))?;
            part.trim().parse().ok()
        };
        Some(Self {
            passed: count("passed")?,
            failed: count("failed")?,
        })
    }
}

impl Tally {
    /// Does one step, which counts as one test, under a heading, and says how long it took.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> bool {
        self.timed(name, |tally| {
            let done = work();
            tally.one(name, done)
        })
    }

    /// A heading, the work, its duration.
    pub(crate) fn timed<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        println!("\n== {name}");
        drop(std::io::stdout().flush());
        let start = Instant::now();
        let done = work(self);
        println!("-- {name}: {:.1} s", start.elapsed().as_secs_f64());
        done
    }

    /// Counts one step.
    pub(crate) fn one(&mut self, name: &str, done: Result<()>) -> bool {
        match done {
            Ok(()) => self.passed += 1,
            Err(error) => {
                println!("FAILED: {error:#}");
                self.fail(name);
                return false;
            }
        }
        true
    }

    /// Adds the counts of a test program.
    pub(crate) fn add(&mut self, line: Line) {
        self.passed += line.passed;
        self.failed += line.failed;
    }

    /// Notes the name of something that failed and is counted already.
    pub(crate) fn name_failure(&mut self, name: &str) {
        self.failures.push(name.to_owned());
    }

    /// How many failed so far.
    pub(crate) const fn failed(&self) -> u64 {
        self.failed
    }

    fn fail(&mut self, name: &str) {
        self.failed += 1;
        self.failures.push(name.to_owned());
    }

    /// Names what failed; the last line is `N passed, N failed`. Whether all went well.
    pub(crate) fn close(self) -> bool {
        println!();
        for name in &self.failures {
            println!("failed: {name}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_line_of_a_test_program() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.5s";
        assert_eq!(
            Line::parse(line),
            Some(Line {
                passed: 12,
                failed: 3
            })
        );
        assert_eq!(Line::parse("test a::b ... ok"), None);
        assert_eq!(Line::parse("test result: what?"), None);
    }

    #[test]
    fn a_failed_step_counts_and_does_not_stop_the_rest() {
        let mut tally = Tally::default();
        assert!(!tally.one("a", Err(anyhow::anyhow!("no"))));
        assert!(tally.one("b", Ok(())));
        tally.add(Line { passed: 5, failed: 1 });
        assert_eq!((tally.passed, tally.failed), (6, 2));
        assert!(!tally.close());
    }
}
