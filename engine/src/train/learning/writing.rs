//! Texts that a language model writes while it trains, for the observer.

use results::Phase;

use super::Learning;
use crate::backends::reference::Writer;
use crate::error::Result;
use crate::measure::WantedTexts;
use crate::train::Event;

/// Minimum time between texts, so that a person can follow them.
const SECONDS_BETWEEN_TEXTS: f64 = 2.0;
/// Maximum share of time spent on texts, because a leaderboard counts it as training.
const MAX_WRITING_SHARE: f64 = 1.0 / 30.0;
/// Characters of a text: a paragraph, or a line if the time does not suffice.
const MAX_CHARACTERS: usize = 200;
const MIN_CHARACTERS: usize = 40;

/// Writer of a training, with its timing.
pub(super) struct Writing {
    writer: Writer,
    wanted: WantedTexts,
    /// End of the last text, or the start of the training.
    end_seconds: f64,
    next_seconds: f64,
}

impl Writing {
    pub(super) fn new(writer: Writer, wanted: WantedTexts, now_seconds: f64) -> Self {
        Self { writer, wanted, end_seconds: now_seconds, next_seconds: now_seconds }
    }
}

impl Learning<'_, '_> {
    /// Announces a text if it is time for one.
    pub(super) async fn write_at_intervals(&mut self) -> Result<()> {
        let now = self.edges.clock.now_seconds();
        let is_due = |writing: &Writing| writing.wanted == WantedTexts::AtIntervals && now >= writing.next_seconds;
        if self.writing.as_ref().is_some_and(is_due) { self.write().await } else { Ok(()) }
    }

    pub(super) async fn write_after_evaluation(&mut self) -> Result<()> {
        let is_due = |writing: &Writing| writing.wanted == WantedTexts::AtEvaluations;
        if self.writing.as_ref().is_some_and(is_due) { self.write().await } else { Ok(()) }
    }

    /// Announces a text, outside timed windows. The plain loops write it, so backends need not. A text is shorter if a
    /// whole paragraph would take too much of the time since the last one.
    async fn write(&mut self) -> Result<()> {
        if !self.going() {
            return Ok(());
        }
        let Some(writing) = &mut self.writing else { return Ok(()) };
        self.progress.phase(self.edges, Phase::Writing);
        let (clock, start) = (self.edges.clock, self.edges.clock.now_seconds());
        let budget_seconds = (start - writing.end_seconds) * MAX_WRITING_SHARE;
        writing.writer.set_weights(self.trainer.weights().await?);
        let characters = writing.writer.continuation(Writer::PROMPT, Writer::TEMPERATURE, self.job.seed);
        let mut text = String::new();
        for (count, character) in characters.take(MAX_CHARACTERS).enumerate() {
            if count >= MIN_CHARACTERS && clock.now_seconds() - start >= budget_seconds {
                break;
            }
            text.push(character);
        }
        self.edges.observer.event(&Event::Wrote { workload: self.progress.workload(), text });
        let end = clock.now_seconds();
        writing.end_seconds = end;
        writing.next_seconds = end + SECONDS_BETWEEN_TEXTS.max((end - start) / MAX_WRITING_SHARE);
        Ok(())
    }

    pub(in crate::train) fn take_writer(&mut self) -> Option<Writer> {
        self.writing.take().map(|writing| writing.writer)
    }
}
