use shaders::Real;
use shaders::params::{Blend, Step};
use shaders::reference as twin;

use super::network::{ALIGNMENT, Network};
use crate::data::Split;
use crate::error::EngineError;
use crate::preprocessing::Preprocessing;
use crate::trainer::TrainingJob;
use crate::training::TestView;

/// Trained network with its preprocessing. It holds no samples, and classifies without dropout or augmentation.
pub struct Classifier<T> {
    pub(super) classes: u32,
    pub(super) preprocessing: Preprocessing,
    pub(super) row_stride: u32,
    pub(super) network: Network<T>,
    views: &'static [TestView],
    logits_scale: f32,
}

impl<T: Real> Classifier<T> {
    pub(crate) fn new(job: &TrainingJob, weights: Vec<Vec<f32>>) -> Result<Self, EngineError> {
        let stages = job.model.stages(job.dropout)?;
        let data = stages.values[0];
        Ok(Self {
            preprocessing: Preprocessing::new(job, &data, ALIGNMENT)?,
            row_stride: data.stored_features(ALIGNMENT),
            classes: job.model.classes()?,
            network: Network::new(stages, precise(weights)),
            views: job.input.test_views,
            logits_scale: job.loss.logits_scale,
        })
    }

    /// Returns the probability of each class for an image: bytes of shape (rows, columns, channels), as in files.
    pub fn probabilities(&mut self, image: Vec<u8>) -> Vec<f64> {
        let split = Split { images: image, labels: vec![0] };
        let (logits, _) = self.logits(&split, &[0], &Step { count: 1, ..Step::default() });
        let logits: Vec<f64> = logits.iter().map(|logit| logit.to_f64() * f64::from(self.logits_scale)).collect();
        let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = logits.iter().map(|logit| (logit - highest).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.iter().map(|power| power / sum).collect()
    }

    /// Returns the most probable class of each of the first images.
    pub(crate) fn answers(&mut self, split: &Split, samples: u32) -> Vec<u16> {
        let order: Vec<u32> = (0..samples).collect();
        let (logits, _) = self.logits(split, &order, &Step { count: samples, ..Step::default() });
        let highest = |row: &[T]| {
            let best = (0..row.len()).max_by(|&a, &b| row[a].to_f64().total_cmp(&row[b].to_f64()));
            u16::try_from(best.unwrap_or_default()).unwrap_or(u16::MAX)
        };
        logits.chunks_exact(self.classes as usize).map(highest).collect()
    }

    /// Returns logits, summed over all views of the samples, and labels.
    pub(super) fn logits(&mut self, split: &Split, order: &[u32], step: &Step) -> (Vec<T>, Vec<u32>) {
        let (mut sum, mut labels) = (vec![T::ZERO; (step.count * self.classes) as usize], Vec::new());
        for (place, view) in self.views.iter().enumerate() {
            let kind = self.preprocessing.gather.seen(view);
            let (input, of_view) = self.preprocessing.on_host(kind, split, order, step, self.row_stride);
            labels = of_view;
            let logits = self.network.forward(step, input, step.count);
            let elements = step.count * self.classes;
            let blend = Blend { elements, weight: view.weight, first: u32::from(place == 0), reserved: 0 };
            twin::blend(&blend, logits, &mut sum);
        }
        (sum, labels)
    }
}

pub(super) fn precise<T: Real>(tensors: Vec<Vec<f32>>) -> Vec<Vec<T>> {
    tensors.into_iter().map(|values| values.into_iter().map(|value| T::from_f64(f64::from(value))).collect()).collect()
}
