use std::time::Duration;

use console::Style;
use indicatif::HumanDuration;

use super::Progress;
use super::run::{ended, headline};
use crate::figures::figure;
use crate::interrupt::Interrupt;
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

    /// A line that the cell wrote. Those with an epoch say how far it has come.
    pub(crate) fn heard(&mut self, line: &str) {
        let line = line.trim();
        if line.contains("epoch ") {
            self.progress.say_now_and_then(&format!("  {line}"));
            self.progress.show(None, line.to_owned());
        }
    }

    pub(crate) fn ended(&mut self, finished: &Finished) {
        let took = format!("{} in all", figure("training_seconds", finished.seconds));
        let text = match (finished.ending, finished.workload(), &finished.reason) {
            (Ending::Completed, Some(workload), _) => format!("{} · {took}", headline(&workload.summary)),
            (_, _, Some(reason)) => reason.clone(),
            (_, _, None) => took,
        };
        self.progress.say(&ended(finished.ending == Ending::Completed, &text));
    }
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
    fn what_is_not_known_is_said() {
        let nothing = Left { known: None, unknown: 3 };
        assert_eq!(nothing.text(), "time left not known yet");
    }
}
