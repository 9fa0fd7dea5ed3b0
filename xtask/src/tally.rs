//! The sum of the `test result:` lines of several test programs.

/// What cargo's test programs reported together.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub programs: u32,
    pub passed: u32,
    pub failed: u32,
    pub ignored: u32,
}

impl Tally {
    /// Counts a line of output if it is the closing line of a test program:
    /// `test result: ok. 18 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.04s`.
    pub(crate) fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        self.programs += 1;
        for count in counts.split(';') {
            if let Some((Ok(number), what)) =
                count.trim().split_once(' ').map(|(number, what)| (number.parse::<u32>(), what))
            {
                match what {
                    "passed" => self.passed += number,
                    "failed" => self.failed += number,
                    "ignored" => self.ignored += number,
                    _ => {}
                }
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { programs, passed, failed, ignored } = self;
        write!(out, "{passed} tests passed, {failed} failed, {ignored} ignored in {programs} test programs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up_and_other_lines_are_not() {
        let mut tally = Tally::default();
        for line in [
            "running 2 tests",
            "test a ... ok",
            "test result: ok. 18 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.04s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out; finished in 1.30s",
            "said a test: test result: ok. 99 passed;",
        ] {
            tally.add(line);
        }
        assert_eq!(tally, Tally { programs: 2, passed: 21, failed: 2, ignored: 1 });
    }
}
