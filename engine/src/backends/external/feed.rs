//! The batches of a job as bytes, prepared on the host by the plain loops.

use shaders::params::Step;
use shaders::reference::pcg4d::uniform;

use super::messages::DropoutPlace;
use crate::data::Split;
use crate::error::EngineError;
use crate::model::{Layer, ModelError, Source};
use crate::preprocessing::{GatherKind, Preprocessing};
use crate::random::stream;
use crate::trainer::TrainingJob;
use crate::training::{Order, TestView};

/// Makes batches of the job's samples.
pub(super) struct Feed {
    preprocessing: Preprocessing,
    /// Values of a sample.
    features: u32,
    dropouts: Vec<Dropout>,
    order: Order,
}

struct Dropout {
    place: DropoutPlace,
    rate: f32,
}

impl Feed {
    pub(super) fn new(job: &TrainingJob) -> Result<Self, EngineError> {
        let data = job.model.stages(job.dropout)?.values[0];
        Ok(Self {
            preprocessing: Preprocessing::new(job, &data, 1)?,
            features: job.model.input.features(),
            dropouts: dropouts(job)?,
            order: Order::default(),
        })
    }

    pub(super) fn dropouts(&self) -> Vec<DropoutPlace> {
        self.dropouts.iter().map(|dropout| dropout.place).collect()
    }

    /// Bytes of a training batch of so many samples.
    pub(super) fn bytes(&self, rows: u32) -> usize {
        let masks = self.dropouts.iter().map(|dropout| dropout.place.features).sum::<u32>();
        rows as usize * (4 * self.features + 4 + masks) as usize
    }

    /// Appends the training batch of step `number`: values as (rows, features) of f32, labels as u32, and for each
    /// dropout layer its mask as (rows, features) of bytes, 1 for kept elements.
    pub(super) fn training_batch(&mut self, job: &TrainingJob, number: u64, bytes: &mut Vec<u8>) {
        self.order.advance(job, number);
        let step = job.step(number, 0);
        self.batch(self.preprocessing.gather, &job.data.train, &self.order.samples, &step, bytes);
        for (layer, dropout) in (0..).zip(&self.dropouts) {
            let stream = stream::DROPOUT + layer;
            let survives = |index| u8::from(uniform(index, stream, step.step, step.seed) >= dropout.rate);
            bytes.extend((0..step.count * dropout.place.features).map(survives));
        }
    }

    /// Appends test samples as a view sees them.
    pub(super) fn test_batch(&self, split: &Split, order: &[u32], step: &Step, view: &TestView, bytes: &mut Vec<u8>) {
        self.batch(self.preprocessing.gather.seen(view), split, order, step, bytes);
    }

    fn batch(&self, kind: GatherKind, split: &Split, order: &[u32], step: &Step, bytes: &mut Vec<u8>) {
        let (values, labels) = self.preprocessing.on_host::<f32>(kind, split, order, step, self.features);
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(labels.iter().flat_map(|label| label.to_le_bytes()));
    }
}

/// The model's dropout layers, if they drop. Each sees as many values as what it reads has.
fn dropouts(job: &TrainingJob) -> Result<Vec<Dropout>, ModelError> {
    let (model, shapes) = (&job.model, job.model.shapes()?);
    let features = |source: Source| match source {
        Source::Data => model.input.features(),
        Source::Node(node) => shapes[node].features(),
    };
    let dropout = |(node, of): (usize, &crate::model::Node)| match of.layer {
        Layer::Dropout { rate } => {
            Some(Dropout { place: DropoutPlace { node, features: features(of.inputs[0]) }, rate })
        }
        _ => None,
    };
    Ok(model.nodes.iter().enumerate().filter(|_| job.dropout).filter_map(dropout).collect())
}
