//! The sum of the `test result:` lines of several test programs, and of what their tests could not look at.

use std::collections::BTreeMap;

/// What cargo's test programs reported together.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub programs: u32,
    pub passed: u32,
    pub failed: u32,
    pub ignored: u32,
    /// Why tests passed without looking at what they are for, and how many say so.
    pub skipped: BTreeMap<String, u32>,
}

impl Tally {
    /// Counts a line of output if it is the closing line of a test program,
    /// `test result: ok. 18 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.04s`,
    /// or a test's word that it was skipped, in whole or in part: `SKIPPED gpu::trains: there is no adapter`.
    pub(crate) fn add(&mut self, line: &str) {
        if let Some(skipped) = line.strip_prefix("SKIPPED ") {
            let why = skipped.split_once(": ").map_or(skipped, |(_, why)| why);
            *self.skipped.entry(why.trim_end().to_owned()).or_default() += 1;
            return;
        }
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

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        for (why, times) in other.skipped {
            *self.skipped.entry(why).or_default() += times;
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { programs, passed, failed, ignored, skipped } = self;
        write!(out, "{passed} tests passed, {failed} failed, {ignored} ignored in {programs} test programs")?;
        if !skipped.is_empty() {
            let reasons: Vec<String> = skipped.iter().map(|(why, times)| format!("{times} × {why}")).collect();
            write!(out, "; SKIPPED in whole or in part: {}", reasons.join(", "))?;
        }
        Ok(())
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
        assert_eq!(tally, Tally { programs: 2, passed: 21, failed: 2, ignored: 1, ..Tally::default() });
        assert_eq!(tally.to_string(), "21 tests passed, 2 failed, 1 ignored in 2 test programs");
    }

    #[test]
    fn what_tests_skipped_is_told_with_the_reasons() {
        let mut tally = Tally::default();
        for line in [
            "SKIPPED wgsl::kernel_tests::add::sums: there is no adapter: none at all",
            "SKIPPED wgsl::kernel_tests::pool::pools: there is no adapter: none at all",
            "SKIPPED profile --steps 3: `script` cannot be started\r",
            "a line that has SKIPPED this: and that",
        ] {
            tally.add(line);
        }
        assert!(
            tally.to_string().ends_with(
                "; SKIPPED in whole or in part: 1 × `script` cannot be started, 2 × there is no adapter: none at all"
            ),
            "{tally}"
        );
    }
}
