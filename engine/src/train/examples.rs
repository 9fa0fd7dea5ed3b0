//! What a network answers on a few test images while it learns, for whoever looks on.

use super::learning::Learning;
use super::{Edges, Event};
use crate::backends::reference;
use crate::data::Origin;
use crate::error::EngineError;
use crate::measure::Phase;

const MOST_EXAMPLES: u32 = 12;
/// All of them together may cost so many operations of the plain loops, a fraction of a second. Larger networks show fewer …
const MOST_FLOPS: u64 = 200_000_000;
/// … and none where there would be fewer than these.
const FEWEST_EXAMPLES: u32 = 4;
/// Between two looks at the test set, answers follow each other no faster than a person looks from one to the next …
const SECONDS_BETWEEN_ANSWERS: f64 = 2.0;
/// … and take no more of the time than this share, which a leaderboard that follows counts as training: a slow device answers
/// seldom.
const SHARE_OF_ANSWERING: f64 = 1.0 / 60.0;

impl Learning<'_> {
    /// How many test images are shown with the network's answers; none where nobody looks on, where the samples are no
    /// images that show something, where answering would take long, and where it is averages that are tested.
    fn examples(&self, edges: &Edges<'_>) -> Result<u32, EngineError> {
        let (job, definition) = (self.job, self.job.data.definition);
        let shows_something = matches!(definition.origin, Origin::Files { .. });
        let tests_averages = job.average.is_some_and(|average| average.is_tested());
        if !edges.observer.wants_examples() || !shows_something || tests_averages {
            return Ok(0);
        }
        let flops = job.model.operations()?.forward_flops * job.input.test_views.len() as u64;
        let affordable = u32::try_from(MOST_FLOPS / flops.max(1)).unwrap_or(u32::MAX);
        let samples = MOST_EXAMPLES.min(affordable).min(job.data.test.samples());
        Ok(if samples >= FEWEST_EXAMPLES { samples } else { 0 })
    }

    /// Announces the images themselves.
    pub(super) fn announce_examples(&self, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        let samples = self.examples(edges)? as usize;
        if samples == 0 {
            return Ok(());
        }
        let (shape, test) = (self.job.data.definition.test, &self.job.data.test);
        edges.observer.event(&Event::Examples {
            workload: self.progress.workload(),
            height: shape.height,
            width: shape.width,
            channels: shape.channels,
            images: test.images[..samples * shape.features() as usize].to_vec(),
            labels: test.labels[..samples].to_vec(),
        });
        Ok(())
    }

    /// Announces the network's current answers, outside every window. The plain loops compute them, so that back ends
    /// need no second way to classify.
    pub(super) async fn show_answers(&mut self, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        let samples = self.examples(edges)?;
        if samples == 0 || !self.going() {
            return Ok(());
        }
        self.progress.phase(edges, Phase::Testing);
        let start = edges.clock.now_seconds();
        let weights = self.trainer.weights().await?;
        let answers = reference::answers(self.job, weights, samples)?;
        edges.observer.event(&Event::Answered { workload: self.progress.workload(), answers });
        let end = edges.clock.now_seconds();
        self.next_answers_seconds = end + SECONDS_BETWEEN_ANSWERS.max((end - start) / SHARE_OF_ANSWERING);
        Ok(())
    }

    /// Announces what the network answers now, if the last answers are old enough.
    pub(super) async fn show_answers_in_between(&mut self, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        if edges.clock.now_seconds() < self.next_answers_seconds {
            return Ok(());
        }
        self.show_answers(edges).await
    }
}
