use std::time::Duration;

use console::Style;
use indicatif::HumanDuration;
use results::kernels::{KernelReport, KernelSummary};

use super::Progress;
use super::run::{ended, headline};
use crate::figures::figure;
use crate::interrupt::Interrupt;
use crate::kernel_results::amount;
use crate::screen::Screen;
use crate::study::{Ending, Finished, Guess};

const TEMPLATE: &str = "{wide_bar:.cyan/dim} {pos:>3} of {len}  {elapsed}\n  {prefix}\n  {wide_msg}";

/// Shows the cells of a study as they run, one after another.
pub(crate) struct StudyProgress {
    progress: Progress,
}

impl StudyProgress {
    /// Listens to Ctrl-C, which ends the cell that runs.
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        let notice = "Ending the cell that runs; what is finished is kept".to_owned();
        Self { progress: Progress::with_notice(interrupt, TEMPLATE, notice) }
    }

    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    /// Cell `number`, from 1, of `count` begins; all that are left take about `left`.
    pub(crate) fn begin(&mut self, number: usize, count: usize, what: &str, left: Option<&Left>) {
        let name = Screen::Error.paint(Style::new().bold(), what);
        let left = left.map(|left| format!(", {}", left.text())).unwrap_or_default();
        let place = format!("({number} of {count}{left})");
        self.progress.say(&Screen::Error.wrapped(&format!("{name} "), &place, 2));
        self.progress.show_position(number as u64 - 1, count as u64);
        self.progress.show(Some(&place), String::new());
    }

    /// A line that the cell wrote. Those with an epoch, or with the number of an entry, say how far it has come.
    pub(crate) fn heard(&mut self, line: &str) {
        let line = line.trim();
        if line.contains("epoch ") || counts_entries(line) {
            self.progress.say_now_and_then(&format!("  {line}"));
            self.progress.show(None, line.to_owned());
        }
    }

    pub(crate) fn ended(&mut self, finished: &Finished) {
        let took = format!("{} in all", figure("training_seconds", finished.seconds));
        let figures = finished.workload().map(|workload| headline(&workload.summary));
        let figures = figures.or_else(|| finished.kernels().map(|record| in_short(&record.report)));
        let text = match (finished.ending, figures, &finished.reason) {
            (Ending::Completed, Some(figures), _) => format!("{figures} · {took}"),
            (_, _, Some(reason)) => reason.clone(),
            (_, _, None) => took,
        };
        self.progress.say(&ended(finished.ending == Ending::Completed, &text));
    }
}

/// Whether a line begins as measurements that follow each other are counted: `3 of 39: …`.
fn counts_entries(line: &str) -> bool {
    let is_number = |word: Option<&str>| word.is_some_and(|word| word.parse::<u32>().is_ok());
    let mut words = line.split(": ").next().unwrap_or_default().split(' ');
    is_number(words.next()) && words.next() == Some("of") && is_number(words.next()) && words.next().is_none()
}

/// What came of kernels, on a line.
fn in_short(report: &KernelReport) -> String {
    let KernelSummary { entries, measured, peak_share, .. } = KernelSummary::of(&report.entries);
    let share = peak_share.map(|share| format!("{:.1} % of the peak in the median", share * 100.0));
    let of_entries = (entries > 0).then(|| format!("{measured} of {entries} entries"));
    let peaks = report.peaks.iter().map(|peak| amount(peak.unit, peak.value)).collect::<Vec<_>>().join(", ");
    of_entries.into_iter().chain(share).chain([format!("peaks {peaks}")]).collect::<Vec<_>>().join(" · ")
}

/// How long the rest of something takes.
pub(crate) struct Left {
    /// Absent where nothing is known of any of it.
    pub(crate) known: Option<Guess>,
    /// Parts of which nothing is known.
    pub(crate) unknown: usize,
}

impl Left {
    pub(crate) fn text(&self) -> String {
        let of_known = self.known.map(|guess| {
            format!("about {} left, {} to {}", duration(guess.value), duration(guess.low), duration(guess.high))
        });
        let cells = format!("{} cell{}", self.unknown, if self.unknown == 1 { "" } else { "s" });
        match (of_known, self.unknown) {
            (Some(known), 0) => known,
            (Some(known), _) => format!("{known}, without {cells} of which nothing is known yet"),
            (None, _) => "time left not known yet".to_owned(),
        }
    }
}

/// Rounded as a person would.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds.max(1.0)).unwrap_or(Duration::MAX);
    HumanDuration(Duration::from_secs(whole.as_secs())).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_said_as_a_person_would() {
        assert_eq!([0.2, 45.0, 700.0, 9000.0].map(duration), ["1 second", "45 seconds", "12 minutes", "3 hours"]);
    }

    #[test]
    fn lines_that_count_entries_are_told_from_others() {
        assert!(counts_entries("3 of 39: gemm 512 × 512 × 512, forward"));
        for other in ["device    A GPU of 3", "3 of them", "of 3: x", ""] {
            assert!(!counts_entries(other), "{other}");
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let nothing = Left { known: None, unknown: 3 };
        assert_eq!(nothing.text(), "time left not known yet");
    }
}
