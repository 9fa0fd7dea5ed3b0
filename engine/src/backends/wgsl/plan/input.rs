use shaders::params::{LocalContrast, Shuffle, Standardize};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::{BufferRange, Half, JobPart, Recording};
use super::builder::Builder;
use super::{Planner, contents};
use crate::error::EngineError;
use crate::model::Stages;
use crate::preprocessing::{GatherKind, Preprocessing};
use crate::random::stream;
use crate::trainer::{EvaluationSet, TrainingJob};
use crate::training::{BatchPlan, Normalization, SampleOrder, TestView};

/// Offsets of bindings are multiples of this.
const OFFSET_ALIGNMENT: u64 = 256;

/// The data set on the device, and how batches are made of it.
pub(super) struct Input {
    preprocessing: Preprocessing,
    mean_image: BufferRange,
    training: SplitBuffers,
    test: SplitBuffers,
    held_out: Option<SplitBuffers>,
}

/// One half of a data set.
#[derive(Clone, Copy)]
pub(super) struct SplitBuffers {
    /// Samples below `samples_in_first`, and the others; both are all of them where they fit into one binding.
    images: [BufferRange; 2],
    samples_in_first: u32,
    labels: BufferRange,
    /// Order of the samples, and how many there are in it.
    order: BufferRange,
    samples: u32,
}

impl Input {
    pub(super) fn new(
        job: &TrainingJob,
        stages: &Stages,
        largest_binding: u64,
        builder: &mut Builder,
    ) -> Result<Self, EngineError> {
        let preprocessing = Preprocessing::new(job, &stages.values[0], CHANNEL_ALIGNMENT)?;
        let training = SplitBuffers::new(job, Half::Training, largest_binding, builder);
        let held_out = job.early_stopping.map(|_| {
            let samples = job.evaluated_samples(EvaluationSet::HeldOut);
            SplitBuffers { order: order(samples, EvaluationSet::HeldOut, builder), samples, ..training }
        });
        let mean_image = match job.input.normalization {
            Normalization::MeanImage => {
                let features = contents::features(&job.data.train).0 as u64;
                builder.part("mean image", 4 * features, JobPart::MeanImage)
            }
            _ => builder.floats("no mean image", 1),
        };
        Ok(Self {
            mean_image,
            preprocessing,
            training,
            held_out,
            test: SplitBuffers::new(job, Half::Test, largest_binding, builder),
        })
    }
}

/// The order of samples that are evaluated, which stays.
fn order(samples: u32, set: EvaluationSet, builder: &mut Builder) -> BufferRange {
    builder.part("order", 4 * u64::from(samples), JobPart::Order(set))
}

/// The order of the samples that are trained on: one that stays, or what `shuffle` writes for each epoch.
fn training_order(job: &TrainingJob, builder: &mut Builder) -> BufferRange {
    let bytes = 4 * u64::from(job.batches.samples);
    match job.batches.order {
        SampleOrder::File => builder.part("order", bytes, JobPart::FixedOrder),
        SampleOrder::Shuffled => builder.zeros("order", bytes),
    }
}

impl SplitBuffers {
    fn new(job: &TrainingJob, half: Half, largest_binding: u64, builder: &mut Builder) -> Self {
        let (name, split) = match half {
            Half::Training => ("training images", &job.data.train),
            Half::Test => ("test images", &job.data.test),
        };
        let samples = split.samples();
        let bytes_per_sample = contents::features(split).1 as u64;
        let whole = builder.part(name, bytes_per_sample * u64::from(samples), JobPart::Images(half));
        let mut images = [whole; 2];
        let mut samples_in_first = samples;
        if whole.bytes > largest_binding {
            // A multiple of 256 samples, so that the second part begins at a multiple of 256 bytes.
            samples_in_first = (samples / 2).next_multiple_of(256);
            let first = bytes_per_sample * u64::from(samples_in_first);
            debug_assert_eq!(first % OFFSET_ALIGNMENT, 0);
            images[0].bytes = first;
            images[1] = BufferRange { offset_bytes: first, bytes: whole.bytes - first, ..whole };
        }
        let labels = builder.part("labels", 2 * u64::from(samples), JobPart::Labels(half));
        let (order, samples) = match half {
            Half::Training => (training_order(job, builder), job.batches.samples),
            Half::Test => (order(samples, EvaluationSet::Test, builder), samples),
        };
        Self { images, samples_in_first, labels, order, samples }
    }
}

impl Planner<'_> {
    /// Puts the samples of an epoch into its order, if epochs have orders of their own.
    pub(super) fn shuffle(&mut self) -> Option<Recording> {
        let SplitBuffers { order, samples, .. } = self.input.training;
        let BatchPlan { first, seed, .. } = self.job.batches;
        (self.job.batches.order == SampleOrder::Shuffled).then(|| {
            let params = Shuffle { samples, first, stream: stream::SHUFFLE, seed };
            self.builder.dispatch("shuffle", &params, &[order], u64::from(samples));
            self.builder.take_recording()
        })
    }

    pub(super) fn gather_training(&mut self) {
        self.gather(self.input.training, self.input.preprocessing.gather);
    }

    pub(super) fn gather_evaluated(&mut self, set: EvaluationSet, view: &TestView) {
        let split = match set {
            EvaluationSet::Test => self.input.test,
            EvaluationSet::HeldOut => self.input.held_out.expect("jobs with early stopping have held-out samples"),
        };
        self.gather(split, self.input.preprocessing.gather.seen(view));
    }

    fn gather(&mut self, split: SplitBuffers, kind: GatherKind) {
        let SplitBuffers { images: [first, second], samples_in_first, labels, order, samples } = split;
        let rows = self.rows;
        let batch = self.rows_of(0, self.values[0].values);
        let batch_labels = BufferRange { bytes: 4 * u64::from(rows), ..self.labels };
        let invocations = self.quads(batch);
        match kind.of(rows, samples, samples_in_first) {
            GatherKind::Plain(params) => {
                let bindings = [first, second, labels, order, batch, batch_labels];
                self.builder.dispatch("gather", &params, &bindings, invocations);
            }
            GatherKind::Augmented(params) => {
                let bindings = [first, second, labels, order, self.input.mean_image, batch, batch_labels];
                self.builder.dispatch("gather_augmented", &params, &bindings, invocations);
            }
        }
        // One workgroup for each image.
        if let Some(params) = self.input.preprocessing.standardize {
            let params = Standardize { rows, ..params };
            self.builder.dispatch("standardize", &params, &[batch], u64::from(rows) * 64);
        }
        if let Some(params) = self.input.preprocessing.local_contrast {
            let params = LocalContrast { rows, ..params };
            self.builder.dispatch("local_contrast", &params, &[batch], u64::from(rows) * 256);
        }
    }
}
