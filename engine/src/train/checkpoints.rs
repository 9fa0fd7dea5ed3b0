use results::{Checkpoint, Phase, Warning, measured_sha256, weights_bytes, weights_sha256};

use super::Edges;
use super::event::Event;
use super::evidence;
use super::learning::Learning;
use crate::error::EngineError;

impl Learning<'_> {
    /// Tells the witness, if there is one, how far the training has come, outside every window; gives the weights that
    /// were read for that.
    pub(super) async fn tell_witness(&mut self, edges: &mut Edges<'_>) -> Result<Option<Vec<Vec<f32>>>, EngineError> {
        if edges.witness.is_none() || !self.going() {
            return Ok(None);
        }
        self.progress.phase(edges, Phase::Proving);
        let weights = self.trainer.weights().await?;
        self.tell_of(&weights, false, edges).await;
        Ok(Some(weights))
    }

    /// Keeps a few of the final weights, which the seed chooses, and tells the witness of all of them.
    pub(super) async fn conclude(&mut self, edges: &mut Edges<'_>) -> Result<(), EngineError> {
        let told = edges.witness.is_some() && self.going();
        if told {
            self.progress.phase(edges, Phase::Proving);
        }
        let weights = self.trainer.weights().await?;
        self.record.weight_samples = evidence::choose(&weights, self.job.seed);
        // JSON has no infinity: weights that diverged are left out.
        self.record.weight_samples.retain(|sample| sample.value.is_finite());
        if told {
            self.tell_of(&weights, true, edges).await;
            // One more step, of which only the loss counts: whoever has the weights can compute it too.
            self.progress.phase(edges, Phase::Testing);
            let report = self.trainer.train_steps(1).await?;
            self.note_next_loss(self.step(), &report.losses);
        }
        Ok(())
    }

    async fn tell_of(&mut self, weights: &[Vec<f32>], last: bool, edges: &mut Edges<'_>) {
        let Some(witness) = edges.witness.as_mut() else { return };
        let bytes = weights_bytes(weights);
        let step = self.step();
        let checkpoint = Checkpoint {
            step,
            weights_sha256: weights_sha256(&bytes),
            measured_sha256: measured_sha256(self.record, step),
            next_loss: None,
        };
        let number = u32::try_from(self.record.checkpoints.len()).unwrap_or(u32::MAX);
        let workload = &self.record.workload;
        let told = match witness.tell(workload, number, &checkpoint, last).await {
            Ok(true) => witness.show(workload, number, bytes).await,
            Ok(false) => Ok(()),
            Err(reason) => Err(reason),
        };
        match told {
            Ok(()) => self.record.checkpoints.push(checkpoint),
            Err(reason) => {
                edges.witness = None;
                let warning = Warning::CheckpointMissed { workload: workload.clone(), reason };
                edges.observer.event(&Event::Warned { warning: warning.clone() });
                self.warnings.push(warning);
            }
        }
    }

    /// Notes the loss of the step that follows the latest checkpoint.
    pub(super) fn note_next_loss(&mut self, first_step: u64, losses: &[f64]) {
        let Some(&loss) = losses.first().filter(|loss| loss.is_finite()) else { return };
        // The last look at the test set and the end may be at the same step.
        for checkpoint in self.record.checkpoints.iter_mut().filter(|checkpoint| checkpoint.step == first_step) {
            checkpoint.next_loss.get_or_insert(loss);
        }
    }
}
