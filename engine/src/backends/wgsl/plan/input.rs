use std::borrow::Cow;

use shaders::params::{LocalContrast, Standardize};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::BufferRange;
use super::Planner;
use super::builder::Builder;
use crate::data::Split;
use crate::error::EngineError;
use crate::model::Stages;
use crate::preprocessing::{GatherKind, Preprocessing};
use crate::trainer::{EvaluationSet, TrainingJob};
use crate::training::TestView;

/// Offsets of bindings are multiples of this.
const OFFSET_ALIGNMENT: u64 = 256;

/// The data set on the device, and how batches are made of it.
pub(super) struct Input {
    preprocessing: Preprocessing,
    mean_image: BufferRange,
    pub(super) training: SplitBuffers,
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
    pub(super) order: BufferRange,
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
        let (test, _) = job.evaluated(EvaluationSet::Test);
        let training =
            SplitBuffers::new("training images", &job.data.train, &job.batches.order(0), largest_binding, builder);
        let held_out = job.early_stopping.map(|_| {
            let (samples, _) = job.evaluated(EvaluationSet::HeldOut);
            SplitBuffers {
                order: builder.bytes("order", bytemuck::cast_slice(&samples)),
                samples: u32::try_from(samples.len()).unwrap_or(u32::MAX),
                ..training
            }
        });
        Ok(Self {
            mean_image: builder.bytes("mean image", bytemuck::cast_slice(&preprocessing.mean_image)),
            preprocessing,
            training,
            held_out,
            test: SplitBuffers::new("test images", &job.data.test, &test, largest_binding, builder),
        })
    }
}

impl SplitBuffers {
    fn new(name: &'static str, split: &Split, order: &[u32], largest_binding: u64, builder: &mut Builder) -> Self {
        let samples = split.samples();
        let whole = builder.bytes(name, &in_whole_words(split));
        let mut images = [whole; 2];
        let mut samples_in_first = samples;
        if whole.bytes > largest_binding {
            // A multiple of 256 samples, so that the second part begins at a multiple of 256 bytes.
            samples_in_first = (samples / 2).next_multiple_of(256);
            let first = whole.bytes / u64::from(samples.max(1)) * u64::from(samples_in_first);
            debug_assert_eq!(first % OFFSET_ALIGNMENT, 0);
            images[0].bytes = first;
            images[1] = BufferRange { offset_bytes: first, bytes: whole.bytes - first, ..whole };
        }
        Self {
            images,
            samples_in_first,
            labels: builder.bytes("labels", &split.labels),
            order: builder.bytes("order", bytemuck::cast_slice(order)),
            samples: u32::try_from(order.len()).unwrap_or(u32::MAX),
        }
    }
}

/// The images, each filled up to a multiple of four bytes.
fn in_whole_words(split: &Split) -> Cow<'_, [u8]> {
    let features = split.images.len() / split.labels.len().max(1);
    if features.is_multiple_of(4) {
        return Cow::Borrowed(&split.images);
    }
    let mut bytes = Vec::with_capacity(split.labels.len() * features.next_multiple_of(4));
    for sample in split.images.chunks_exact(features) {
        bytes.extend(sample);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    Cow::Owned(bytes)
}

impl Planner<'_> {
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
