//! How long cells of kernels will take, from the budgets of their entries and from finished cells.

use results::kernels::Suite;

use super::estimate::{Estimate, Guess, MemoryOf, OF_THE_SAME, Source};
use super::finished::{Ending, Finished};
use super::kernel_settings::KernelSettings;

/// An entry takes what it may where it is slow, and ends before that where it is not, or is left out …
const OF_BUDGETS: f64 = 4.0;
/// … those of another suite have other sizes, and are checked against other plain sums …
const OF_ANOTHER_SUITE: f64 = 3.0;
/// … and beside its buffers a device keeps the kernels that measure the peak.
const OF_BUFFERS: f64 = 1.5;
/// Three windows of a tenth of a second and the peaks beside them are made whatever the budget.
const SHORTEST_ENTRY_SECONDS: f64 = 0.6;
/// About what finding the best variant of a peak and measuring it takes.
const PEAK_SECONDS: f64 = 2.0;
/// Of the process, to open the device.
const START_SECONDS: f64 = 1.0;

/// How long the cell of a suite took.
#[derive(Clone, Debug)]
pub(super) struct KernelEvidence {
    settings: KernelSettings,
    seconds: f64,
}

impl KernelEvidence {
    /// `None` where nothing was measured.
    pub(super) fn of(finished: &Finished) -> Option<Self> {
        finished.kernels().filter(|_| finished.ending == Ending::Completed)?;
        let super::cell::Settings::Kernels(settings) = &finished.settings else { return None };
        Some(Self { settings: settings.clone(), seconds: finished.seconds })
    }

    /// The seconds of each entry, without start and peaks; absent where there are no entries.
    fn seconds_each(&self) -> Option<f64> {
        let outline = outline(self.settings.suite, self.settings.budget_bytes())?;
        let of_entries = (self.seconds - START_SECONDS - PEAK_SECONDS * outline.peaks as f64).max(0.0);
        (outline.entries > 0).then(|| of_entries / outline.entries as f64)
    }
}

/// What there is to measure.
struct Outline {
    peaks: usize,
    entries: usize,
    most_bytes: u64,
}

#[cfg(feature = "wgsl")]
fn outline(suite: Suite, budget_bytes: u64) -> Option<Outline> {
    let outline = engine::backends::wgsl::microbenchmarks::outline(suite, budget_bytes);
    Some(Outline { peaks: outline.peaks, entries: outline.entries, most_bytes: outline.most_bytes })
}

/// A program without our kernels cannot measure them either.
#[cfg(not(feature = "wgsl"))]
fn outline(_suite: Suite, _budget_bytes: u64) -> Option<Outline> {
    None
}

/// `None` in a program without our kernels.
pub(super) fn estimate(evidence: &[KernelEvidence], settings: &KernelSettings) -> Option<Estimate> {
    let outline = outline(settings.suite, settings.budget_bytes())?;
    let memory_bytes = Guess::within(outline.most_bytes as f64, OF_BUFFERS, Source::Budgets);
    let seconds = Some(seconds(evidence, settings, &outline));
    Some(Estimate { flops: None, seconds, memory_bytes, memory_of: MemoryOf::Device })
}

fn seconds(evidence: &[KernelEvidence], settings: &KernelSettings, outline: &Outline) -> Guess {
    if let Some(same) = evidence.iter().rev().find(|of| of.settings == *settings) {
        return Guess::within(same.seconds, OF_THE_SAME, Source::Cell);
    }
    let besides = START_SECONDS + PEAK_SECONDS * outline.peaks as f64;
    let of_entries = |each: f64| besides + each * outline.entries as f64;
    let is_alike = |of: &&KernelEvidence| {
        let KernelSettings { adapter, budget_seconds, budget_mib, .. } = &of.settings;
        (adapter, budget_seconds, budget_mib) == (&settings.adapter, &settings.budget_seconds, &settings.budget_mib)
    };
    let others: Vec<f64> = evidence.iter().filter(is_alike).filter_map(KernelEvidence::seconds_each).collect();
    match results::statistics::median(&others) {
        Some(each) => Guess::within(of_entries(each), OF_ANOTHER_SUITE, Source::OtherSuites),
        None => {
            let each = settings.budget_seconds.max(SHORTEST_ENTRY_SECONDS);
            Guess::within(of_entries(each), OF_BUDGETS, Source::Budgets)
        }
    }
}

#[cfg(all(test, feature = "wgsl"))]
mod tests {
    use super::super::testing::kernel_settings;
    use super::*;

    fn took(suite: Suite, seconds: f64) -> KernelEvidence {
        KernelEvidence { settings: kernel_settings(suite), seconds }
    }

    fn of(evidence: &[KernelEvidence], settings: &KernelSettings) -> Guess {
        estimate(evidence, settings).unwrap().seconds.unwrap()
    }

    #[test]
    fn nothing_measured_is_as_many_entries_as_fit_times_what_each_may_take() {
        let gemm = kernel_settings(Suite::Gemm);
        let entries = outline(Suite::Gemm, gemm.budget_bytes()).unwrap().entries as f64;
        let guess = of(&[], &gemm);
        assert_eq!((guess.value, guess.source), (1.0 + 2.0 + 2.0 * entries, Source::Budgets));
        assert!(guess.low < guess.value && guess.high > guess.value);
        let short = of(&[], &KernelSettings { budget_seconds: 0.02, ..gemm.clone() });
        assert!(short.value < guess.value && short.value > 0.5 * entries, "windows are made whatever the budget");
        let small = KernelSettings { budget_mib: 64, ..gemm.clone() };
        assert!(of(&[], &small).value < guess.value, "what does not fit takes no time");
        let memory = |settings: &KernelSettings| estimate(&[], settings).unwrap().memory_bytes.value;
        assert!(memory(&small) <= f64::from(64 << 20) && memory(&gemm) > memory(&small));
    }

    #[test]
    fn a_finished_cell_says_more_than_another_suite_and_that_more_than_budgets() {
        let gemm = kernel_settings(Suite::Gemm);
        let other = of(&[took(Suite::Conv, 100.0)], &gemm);
        assert_eq!(other.source, Source::OtherSuites);
        let both = [took(Suite::Gemm, 30.0), took(Suite::Conv, 100.0)];
        assert_eq!((of(&both, &gemm).value, of(&both, &gemm).source), (30.0, Source::Cell));
        let elsewhere = KernelSettings { adapter: "cpu".to_owned(), ..gemm };
        assert_eq!(of(&both, &elsewhere).source, Source::Budgets);
        assert_eq!(of(&[took(Suite::Launch, 100.0)], &elsewhere).source, Source::Budgets);
    }
}
