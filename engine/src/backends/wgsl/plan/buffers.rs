//! The tensors and the data of a job on the device.

use results::InputMode;
use shaders::Stored;
use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers, RoundWeights};

use super::super::contents::features;
use super::super::layout::{CHANNEL_ALIGNMENT, TensorLayout, arena_elements};
use super::super::recording::{BufferRange, Builder, Half, JobPart};
use crate::error::Result;
use crate::model::{ModelError, Stages};
use crate::preprocessing::Preprocessing;
use crate::trainer::{EvaluationSet, TrainingJob};
use crate::training::{BatchPlan, Batching, Normalization, SampleOrder};

/// Buffers that hold all tensors.
pub(in super::super) struct Arenas {
    pub(super) elements: u32,
    pub(in super::super) weights: BufferRange,
    /// Weights that layers read: the trained ones, or their averages.
    pub(super) read: BufferRange,
    /// Rounded weights that products read, if they do not read the weights directly.
    rounded: Option<BufferRange>,
    /// Like `rounded`, in training.
    pub(in super::super) rounded_weights: Option<BufferRange>,
    stored: Stored,
    pub(in super::super) gradients: BufferRange,
    /// Multipliers of each block of 256 elements.
    pub(super) blocks: BufferRange,
    pub(in super::super) memories: Vec<BufferRange>,
    /// Averages of the weights, if the job has any.
    pub(in super::super) shadow: Option<BufferRange>,
    /// Zeros, one per element of the longest bias.
    pub(super) zeros: BufferRange,
}

impl Arenas {
    /// Creates arenas with the initial weights and each block's multipliers.
    pub(super) fn new(
        job: &TrainingJob,
        layouts: &[TensorLayout],
        stages: &Stages,
        stored: Stored,
        builder: &mut Builder,
    ) -> Self {
        let elements = arena_elements(layouts);
        let bytes = |each: u64| each * u64::from(elements);
        let widest = stages.values.iter().map(|value| value.stored_channels(CHANNEL_ALIGNMENT)).max().unwrap_or(0);
        let rounded = (stored == Stored::F16)
            .then(|| builder.part("rounded weights", bytes(stored.bytes()), JobPart::RoundedWeights));
        let weights = builder.part("weights", bytes(4), JobPart::Weights);
        let blocks = u64::from(elements / BLOCK_ELEMENTS) * size_of::<BlockMultipliers>() as u64;
        Self {
            elements,
            weights,
            read: weights,
            rounded,
            rounded_weights: rounded,
            stored,
            gradients: builder.floats("gradients", u64::from(elements)),
            blocks: builder.part("block multipliers", blocks, JobPart::BlockMultipliers),
            memories: (0..job.optimizer.rule.states())
                .map(|_| builder.floats("optimiser state", u64::from(elements)))
                .collect(),
            shadow: job.average.map(|_| builder.part("averaged weights", bytes(4), JobPart::Weights)),
            zeros: builder.floats("zeros", u64::from(widest)),
        }
    }

    /// Returns the arena that products read, with the size of its elements in bytes.
    pub(super) fn read_by_products(&self) -> (BufferRange, u64) {
        self.rounded.map_or((self.read, 4), |rounded| (rounded, self.stored.bytes()))
    }

    /// Makes layers read the weights used in tests from here on.
    pub(super) fn use_tested_weights(&mut self, job: &TrainingJob, builder: &mut Builder) {
        if let (Some(shadow), true) = (self.shadow, job.average.is_some_and(|average| average.is_tested())) {
            self.read = shadow;
            self.rounded = self.rounded.map(|rounded| builder.zeros("rounded averages", rounded.bytes));
        }
    }

    /// Rounds the weights that layers read for products, if products read rounded weights.
    pub(super) fn round_weights(&self, results: BufferRange, builder: &mut Builder) {
        if let Some(rounded) = self.rounded {
            let params = RoundWeights { elements: self.elements, largest: self.stored.largest(), reserved: [0; 2] };
            let bindings = [self.read, rounded, results];
            builder.dispatch("round_weights", &params, &bindings, u64::from(self.elements / 4));
        }
    }
}

/// Upper bound of a logit's largest gradient in f16, which is scaled to between half of this and this. It is the middle
/// of the range of f16: the largest number is 2⁹ times this, the smallest 2⁻³¹ times.
const MAX_LOGIT_GRADIENT: f64 = 128.0;

/// Returns the scale factor of gradients, which preserves small ones in few bits. It is a power of two, so multiplying
/// by it or its inverse rounds nothing. Method: Micikevicius et al., "Mixed Precision Training", ICLR 2018, section
/// 3.2, with a constant factor. They found theirs by experiment; this one follows from the batch, because a sample's
/// share of the mean, 1 / batch, makes gradients small.
#[expect(clippy::cast_possible_truncation, reason = "a power of two within the range of float32")]
pub(super) fn gradient_scale(job: &TrainingJob, positions: u32, stored: Stored) -> f32 {
    if stored == Stored::F32 {
        return 1.0;
    }
    // The smallest batch has the largest gradients because of its mean.
    let BatchPlan { samples, batch_size, batching, .. } = job.batches;
    let smallest_batch = match (batching, samples % batch_size) {
        (Batching::ShortLast, last) if last > 0 => last,
        (Batching::ShortLast | Batching::DropLast | Batching::Wrap, _) => batch_size.min(samples),
    };
    // The gradient of a logit is a difference of probabilities times this.
    let share = if job.loss.summed { 1.0 } else { 1.0 / f64::from(smallest_batch * positions) };
    let largest = share * f64::from(job.loss.logits_scale);
    (MAX_LOGIT_GRADIENT / largest).log2().floor().exp2() as f32
}

/// Data on the device, and the preprocessing that turns it into batches.
pub(super) struct BatchInput {
    pub(super) preprocessing: Preprocessing,
    /// Buffers of streamed batches; `None` if the whole set is on the device.
    pub(super) streamed: Option<Streamed>,
    pub(super) mean_image: BufferRange,
    pub(super) training: SplitBuffers,
    pub(super) test: SplitBuffers,
    pub(super) held_out: Option<SplitBuffers>,
}

/// One half of a data set, or the batches of a few steps.
#[derive(Clone, Copy)]
pub(super) struct SplitBuffers {
    /// Samples below `samples_in_first`, and the others. Both are all samples if one binding can hold them.
    pub(super) images: [BufferRange; 2],
    pub(super) samples_in_first: u32,
    pub(super) labels: BufferRange,
    /// Order of the samples, and their number.
    pub(super) order: BufferRange,
    pub(super) samples: u32,
}

impl BatchInput {
    pub(super) fn new(
        job: &TrainingJob,
        stages: &Stages,
        mode: InputMode,
        largest_binding: u64,
        builder: &mut Builder,
    ) -> Result<Self> {
        let preprocessing = Preprocessing::new(job, &stages.values[0], CHANNEL_ALIGNMENT)?;
        if mode != InputMode::Resident && job.data.definition.is_text() {
            let reason = "it reads windows of a text, which are not streamed; keep the text on the device".to_owned();
            return Err(ModelError::Unsupported { model: job.model.name, layer: 0, reason }.into());
        }
        let streamed = (mode != InputMode::Resident).then(|| Streamed::new(job, builder));
        let training = match &streamed {
            Some(streamed) => SplitBuffers::streamed(streamed, largest_binding),
            None => {
                let bytes = 4 * u64::from(job.batches.samples);
                // A kernel writes the order of each epoch.
                let order = match job.batches.order {
                    SampleOrder::File => builder.part("order", bytes, JobPart::FileOrder),
                    SampleOrder::Shuffled | SampleOrder::Drawn { .. } => builder.zeros("order", bytes),
                };
                SplitBuffers::resident(job, Half::Training, (order, job.batches.samples), largest_binding, builder)
            }
        };
        let evaluation_order = |samples: u32, set, builder: &mut Builder| {
            (builder.part("order", 4 * u64::from(samples), JobPart::Order(set)), samples)
        };
        let held_out = job.early_stopping.map(|_| {
            let set = EvaluationSet::HeldOut;
            let (order, samples) = evaluation_order(job.evaluated_samples(set), set, builder);
            // Only training samples are streamed.
            match &streamed {
                Some(_) => SplitBuffers::resident(job, Half::Training, (order, samples), largest_binding, builder),
                None => SplitBuffers { order, samples, ..training },
            }
        });
        let test_order = evaluation_order(job.test_samples(), EvaluationSet::Test, builder);
        let mean_image = match job.input.normalization {
            Normalization::MeanImage => {
                let features = features(&job.data.train).0 as u64;
                builder.part("mean image", 4 * features, JobPart::MeanImage)
            }
            _ => builder.floats("no mean image", 1),
        };
        Ok(Self {
            mean_image,
            preprocessing,
            streamed,
            training,
            held_out,
            test: SplitBuffers::resident(job, Half::Test, test_order, largest_binding, builder),
        })
    }
}

impl SplitBuffers {
    /// Returns the whole half, with the order of its samples and their number.
    fn resident(
        job: &TrainingJob,
        half: Half,
        (order, samples): (BufferRange, u32),
        largest_binding: u64,
        builder: &mut Builder,
    ) -> Self {
        let name = if half == Half::Training { "training images" } else { "test images" };
        let split = half.of(&job.data);
        let in_file = split.samples();
        let sample_bytes = features(split).1;
        if job.data.definition.is_text() {
            // The labels are characters of the same text.
            let text = builder.part(name, u64::from(in_file), JobPart::Images(half));
            return Self { images: [text; 2], samples_in_first: in_file, labels: text, order, samples };
        }
        let whole = builder.part(name, sample_bytes as u64 * u64::from(in_file), JobPart::Images(half));
        let (images, samples_in_first) = divide_bindings(whole, in_file, sample_bytes, largest_binding);
        let labels = builder.part("labels", 2 * u64::from(in_file), JobPart::Labels(half));
        Self { images, samples_in_first, labels, order, samples }
    }

    fn streamed(streamed: &Streamed, largest_binding: u64) -> Self {
        let &Streamed { images, labels, numbers, steps, rows, sample_bytes } = streamed;
        let samples = steps * rows;
        let (images, samples_in_first) = divide_bindings(images, samples, sample_bytes, largest_binding);
        Self { images, samples_in_first, labels, order: numbers, samples }
    }
}

/// Divides samples between the two bindings of a kernel, and counts those in the first.
fn divide_bindings(
    whole: BufferRange,
    samples: u32,
    sample_bytes: usize,
    largest_binding: u64,
) -> ([BufferRange; 2], u32) {
    if whole.bytes <= largest_binding {
        return ([whole; 2], samples);
    }
    // A multiple of 256 samples, so that the second part begins at a multiple of 256 bytes.
    let samples_in_first = (samples / 2).next_multiple_of(256);
    let bytes = sample_bytes as u64 * u64::from(samples_in_first);
    let first = BufferRange { bytes, ..whole };
    let second = BufferRange { offset_bytes: bytes, bytes: whole.bytes - bytes, ..whole };
    ([first, second], samples_in_first)
}

/// Maximum total size of streamed batches on the device, unless a single one is larger. It holds enough steps for a
/// submission to be worth its launch on a fast device.
const MAX_STREAMED_BYTES: u64 = 16 << 20;
/// Maximum number of streamed steps on the device, more than a submission has on any but the fastest device.
const MAX_STREAMED_STEPS: u64 = 256;

/// Buffers for the batches of a few steps, refilled repeatedly by the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streamed {
    /// (steps · rows, `sample_bytes`) bytes.
    pub(crate) images: BufferRange,
    /// (steps · rows) numbers of 16 bits.
    pub(crate) labels: BufferRange,
    /// (steps · rows) sample numbers.
    pub(crate) numbers: BufferRange,
    pub(crate) steps: u32,
    /// Sample slots per step: a batch, padded to whole words of labels.
    pub(crate) rows: u32,
    /// Size of a sample, padded to whole words.
    pub(crate) sample_bytes: usize,
}

impl Streamed {
    pub(super) fn new(job: &TrainingJob, builder: &mut Builder) -> Self {
        let (_, sample_bytes) = features(&job.data.train);
        let rows = job.batches.batch_size.next_multiple_of(2);
        let of_a_step = u64::from(rows) * sample_bytes as u64;
        let steps = (MAX_STREAMED_BYTES / of_a_step.max(1)).clamp(1, MAX_STREAMED_STEPS);
        let samples = steps * u64::from(rows);
        Self {
            images: builder.zeros("streamed images", samples * sample_bytes as u64),
            labels: builder.zeros("streamed labels", 2 * samples),
            numbers: builder.zeros("streamed sample numbers", 4 * samples),
            steps: u32::try_from(steps).expect("few"),
            rows,
            sample_bytes,
        }
    }
}
