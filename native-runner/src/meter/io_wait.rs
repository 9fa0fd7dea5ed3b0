use std::fs;
use std::path::Path;

/// What the cores of the whole machine did since it was started, in the kernel's ticks.
pub(super) struct MachineTime {
    cores: u32,
    all: u64,
    waiting: u64,
}

impl MachineTime {
    /// `None` where the platform does not tell.
    pub(super) fn now(root: &Path) -> Option<Self> {
        Self::read(&fs::read_to_string(root.join("proc/stat")).ok()?)
    }

    /// The first line sums up those of the cores, which follow. Of its numbers the fifth is waiting for input and output;
    /// those after the eighth are counted in the first already.
    fn read(text: &str) -> Option<Self> {
        let numbers: Vec<u64> =
            text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let cores = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
        Some(Self {
            cores: u32::try_from(cores).ok().filter(|cores| *cores > 0)?,
            all: numbers.iter().take(8).sum(),
            waiting: *numbers.get(4)?,
        })
    }

    /// In percent of one core. The kernel says itself that this number may fall: then nothing is known.
    pub(super) fn waited_percent_since(&self, before: &Self) -> Option<f64> {
        let waiting = self.waiting.checked_sub(before.waiting)?;
        let all = self.all.checked_sub(before.all).filter(|ticks| *ticks > 0)?;
        Some(100.0 * f64::from(self.cores) * waiting as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str =
        "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 50 0 25 400 25 0 0 0 7 0\ncpu1 50 0 25 400 25 0 0 0\nintr 1";

    #[test]
    fn waiting_is_a_share_of_one_core() {
        let before = MachineTime::read(BEFORE).unwrap();
        let after = MachineTime::read("cpu  200 0 100 1600 100 0 0 0 9 0\ncpu0 1\ncpu1 1\nintr 1").unwrap();
        // Fifty of a thousand ticks of two cores.
        assert_eq!(after.waited_percent_since(&before), Some(10.0));
        assert_eq!(before.waited_percent_since(&after), None);
        assert_eq!(before.waited_percent_since(&before), None);
    }

    #[test]
    fn what_is_no_such_file_tells_nothing() {
        for text in ["", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 8", "memory 1 2 3 4 5"] {
            assert!(MachineTime::read(text).is_none(), "{text}");
        }
        assert!(MachineTime::now(Path::new("/no/such/root")).is_none());
    }
}
