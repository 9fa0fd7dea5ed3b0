//! State of planning: the buffers so far, and the recording in the making.

use half::f16;
use results::InputMode;
use shaders::Stored;
use shaders::params::{Epilogue, MAX_HEAD_SIZE, StepResult, activation};

use super::super::layout::{CHANNEL_ALIGNMENT, TensorLayout, tensor_layouts};
use super::super::recording::{BufferRange, Builder};
use super::super::tuning::Choices;
use super::buffers::{Arenas, BatchInput, gradient_scale};
use crate::backends::sharing::most_rows;
use crate::error::Result;
use crate::model::{Model, ModelError, SizedStage, Stage, StageKind, Stages, Words};
use crate::trainer::TrainingJob;

/// Number of steps whose results fit on the device before they are read: a whole window on any but the fastest device.
pub(in super::super) const RESULT_SLOTS: u32 = 65_536;
/// Number of rows in the step table. Rows are overwritten after earlier submissions have read them.
pub(in super::super) const STEP_ROWS: u32 = 1024;
/// Minimum number of samples per test batch, because the batches of some recipes are tiny.
const MIN_TEST_ROWS: u32 = 100;

/// Settings of training that are not part of the job.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct TrainingSetup {
    /// Number of devices that share each batch.
    pub(in super::super) devices: u32,
    /// True if devices exchange gradients in parts during the backward pass, rather than all together after it.
    pub(in super::super) overlaps: bool,
    pub(in super::super) input: InputMode,
}

impl TrainingSetup {
    /// One device, which holds the data set.
    pub(in super::super) const STANDARD: Self = Self { devices: 1, overlaps: false, input: InputMode::Resident };

    pub(in super::super) fn of_input(input: InputMode) -> Self {
        Self { input, ..Self::STANDARD }
    }
}

/// The value of the data, which has no gradient.
const DATA: usize = 0;

pub(super) struct Planner<'a> {
    pub(super) job: &'a TrainingJob,
    pub(super) choices: &'a Choices,
    pub(super) stages: Stages,
    pub(super) tensors: Vec<TensorLayout>,
    pub(super) builder: Builder,
    pub(super) arenas: Arenas,
    pub(super) input: BatchInput,
    pub(super) results: BufferRange,
    pub(super) labels: BufferRange,
    pub(super) values: Vec<ValueBuffers>,
    /// Buffers that each stage keeps from its forward to its backward pass, by output value.
    pub(super) kept: Vec<Vec<BufferRange>>,
    /// True for each tensor with a gradient in the arena from an earlier stage that shares it.
    pub(super) has_gradient: Vec<bool>,
    /// Sum of the logits of all views, allocated on first use.
    pub(super) blended: Option<BufferRange>,
    /// Number of samples in the current recording.
    pub(super) rows: u32,
    pub(super) test_rows: u32,
    pub(super) gradient_scale: f32,
    pub(super) setup: TrainingSetup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayerPhase {
    Training,
    Test,
    /// Another view of test samples.
    AnotherView,
    Backward,
}

#[derive(Clone, Copy)]
pub(super) struct ValueBuffers {
    /// Index of the buffer with the values.
    pub(super) values: usize,
    /// Index of the buffer with their gradient; `None` for the data, and before a stage of the backward pass.
    pub(super) gradient: Option<usize>,
    /// True once a stage of the backward pass has written the gradient.
    pub(super) contributed: bool,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        job: &'a TrainingJob,
        setup: TrainingSetup,
        largest_binding: u64,
        choices: &'a Choices,
    ) -> Result<Self> {
        let stages = job.model.stages(job.dropout)?;
        let stored = choices.abilities.stored;
        check_limits(&job.model, &stages, stored)?;
        let tensors = tensor_layouts(&job.model, &stages)?;
        let mut builder = Builder::new(STEP_ROWS);
        let batch = most_rows(job.batches.batch_size, setup.devices);
        let features = stages.values.iter().map(|value| value.stored_features(CHANNEL_ALIGNMENT));
        let gates = stages.stages.iter().map(|stage| {
            let StageKind::Recurrent(cell) = stage.kind else { return 0 };
            let params = stages.sized(stage, 1, CHANNEL_ALIGNMENT).recurrent(cell);
            cell.gates() * params.sequences * params.steps * params.stored_units
        });
        let bytes_per_sample = 4 * u64::from(features.chain(gates).max().unwrap_or(1));
        let most = u32::try_from(largest_binding / bytes_per_sample).unwrap_or(u32::MAX);
        let test_rows = batch.max(MIN_TEST_ROWS.min(job.test_samples()).min(most));
        let results = builder.zeros("results", u64::from(RESULT_SLOTS) * size_of::<StepResult>() as u64);
        let arenas = Arenas::new(job, &tensors, &stages, stored, &mut builder);
        let positions = stages.logits().shape.pixels();
        let labels = builder.floats("batch labels", u64::from(test_rows) * u64::from(positions));
        let input = BatchInput::new(job, &stages, setup.input, largest_binding, &mut builder)?;
        let mut values = Vec::with_capacity(stages.values.len());
        for (index, value) in stages.values.iter().enumerate() {
            let features = u64::from(value.stored_features(CHANNEL_ALIGNMENT));
            let name = if index == 0 { "batch" } else { "activation" };
            let buffer = builder.zeros(name, stored.bytes() * u64::from(test_rows) * features).buffer;
            values.push(ValueBuffers { values: buffer, gradient: None, contributed: false });
        }
        // The kernel of the loss writes a gradient of zeros for each row of a test.
        if let Some(logits) = values.last_mut() {
            let features = u64::from(stages.logits().stored_features(CHANNEL_ALIGNMENT));
            let bytes = stored.bytes() * u64::from(test_rows) * features;
            logits.gradient = Some(builder.zeros("logits gradient", bytes).buffer);
        }
        Ok(Self {
            kept: vec![Vec::new(); stages.values.len()],
            has_gradient: vec![false; tensors.len()],
            blended: None,
            job,
            choices,
            stages,
            tensors,
            builder,
            arenas,
            input,
            results,
            labels,
            values,
            rows: 0,
            test_rows,
            gradient_scale: gradient_scale(job, positions, stored),
            setup,
        })
    }

    pub(super) fn sized(&self, stage: &Stage) -> SizedStage {
        self.stages.sized(stage, self.rows, CHANNEL_ALIGNMENT)
    }

    /// Returns the part of a buffer with a value's rows in the current recording.
    pub(super) fn rows_of(&self, value: usize, buffer: usize) -> BufferRange {
        let features = self.stages.values[value].stored_features(CHANNEL_ALIGNMENT);
        let bytes = self.choices.abilities.stored.bytes() * u64::from(self.rows) * u64::from(features);
        BufferRange { buffer, offset_bytes: 0, bytes }
    }

    /// Returns the number of elements in part of a buffer of activations or their gradients, in groups of four.
    pub(super) fn quads(&self, range: BufferRange) -> u64 {
        range.bytes / (4 * self.choices.abilities.stored.bytes())
    }

    /// Returns the labels of the current recording's batch.
    pub(super) fn batch_labels(&self) -> BufferRange {
        let positions = self.stages.logits().shape.pixels();
        BufferRange { bytes: 4 * u64::from(self.rows) * u64::from(positions), ..self.labels }
    }

    pub(super) fn input_of(&self, stage: &Stage, input: usize) -> BufferRange {
        let value = stage.inputs[input];
        self.rows_of(value, self.values[value].values)
    }

    pub(super) fn output_of(&self, stage: &Stage) -> BufferRange {
        self.rows_of(stage.output, self.values[stage.output].values)
    }

    pub(super) fn output_gradient(&mut self, stage: &Stage) -> BufferRange {
        self.gradient_of(stage.output)
    }

    fn gradient_of(&mut self, value: usize) -> BufferRange {
        let bytes = self.rows_of(value, self.values[value].values).bytes;
        let buffer = &mut self.values[value].gradient;
        let buffer = *buffer.get_or_insert_with(|| self.builder.zeros("activation gradient", bytes).buffer);
        self.rows_of(value, buffer)
    }

    /// Returns the gradient of a stage's input, and the epilogue that completes it; `None` for the data.
    pub(super) fn input_gradient(&mut self, stage: &Stage, input: usize) -> Option<(BufferRange, Epilogue)> {
        let value = stage.inputs[input];
        if value == DATA {
            return None;
        }
        let gradient = self.gradient_of(value);
        let accumulate = u32::from(std::mem::replace(&mut self.values[value].contributed, true));
        let epilogue = self.stages.values[value].stored_epilogue(CHANNEL_ALIGNMENT);
        Some((gradient, Epilogue { accumulate, ..epilogue }))
    }

    /// Makes the gradient of a stage's output the gradient of an input, without a launch. Returns false if they differ,
    /// or if a later launch would change a gradient that is still needed.
    pub(super) fn hand_gradient_on(&mut self, stage: &Stage, input: usize) -> bool {
        let value = stage.inputs[input];
        let [source, target] = [stage.output, value].map(|value| self.stages.values[value]);
        let is_first = value != DATA && !self.values[value].contributed;
        if !is_first || source.shape != target.shape || !is_plain(&target.epilogue) {
            return false;
        }
        let gradient = Some(self.output_gradient(stage).buffer);
        // The previous stage, which is the next of the backward pass, is the last to read its output's gradient.
        let previous = stage.output - 1;
        let is_over_soon = |a: usize, b: usize| a == previous && !self.stages.stages[a - 1].inputs.contains(&b);
        let mut others = stage.inputs.iter().enumerate().filter(|(other, _)| *other != input).map(|(_, other)| *other);
        let is_safe = others.all(|other| {
            let shares = self.values[other].gradient == gradient;
            other != value && (!shares || is_over_soon(value, other) || is_over_soon(other, value))
        });
        if is_safe {
            self.values[value] = ValueBuffers { gradient, contributed: true, ..self.values[value] };
        }
        is_safe
    }

    /// Returns a buffer that a stage keeps from its forward to its backward pass, given the bytes per sample.
    pub(super) fn keep(&mut self, stage: &Stage, place: usize, name: &'static str, bytes: u64) -> BufferRange {
        let kept = self.keep_bytes(stage, place, name, u64::from(self.test_rows) * bytes);
        BufferRange { bytes: u64::from(self.rows) * bytes, ..kept }
    }

    /// Returns a buffer of any size that a stage keeps or that both recordings use.
    pub(super) fn keep_bytes(&mut self, stage: &Stage, place: usize, name: &'static str, bytes: u64) -> BufferRange {
        let kept = &mut self.kept[stage.output];
        if kept.len() <= place {
            kept.resize(place + 1, BufferRange::default());
        }
        // The test recording may have more rows.
        if kept[place].bytes < bytes {
            kept[place] = self.builder.zeros(name, bytes);
        }
        BufferRange { bytes, ..kept[place] }
    }

    pub(super) fn weight(&self, stage: &Stage, tensor: usize) -> BufferRange {
        let layout = &self.tensors[stage.tensor + tensor];
        self.arenas.read.part(layout.offset, layout.elements(), 4)
    }

    pub(super) fn product_weight(&self, stage: &Stage, tensor: usize) -> BufferRange {
        let layout = &self.tensors[stage.tensor + tensor];
        let (arena, element_bytes) = self.arenas.read_by_products();
        arena.part(layout.offset, layout.elements(), element_bytes)
    }

    pub(super) fn bias(&self, stage: &Stage, bias: bool) -> BufferRange {
        if bias { self.weight(stage, 1) } else { self.arenas.zeros }
    }
}

/// Returns true if values are stored, and gradients passed back, as they are computed.
pub(super) fn is_plain(epilogue: &Epilogue) -> bool {
    (epilogue.activation, epilogue.dropout_stream, epilogue.accumulate) == (activation::IDENTITY, 0, 0)
}

fn check_limits(model: &Model, stages: &Stages, stored: Stored) -> Result<(), ModelError> {
    for (layer, stage) in stages.stages.iter().enumerate() {
        let channels = stages.output(stage).shape.channels;
        let reason = match stage.kind {
            StageKind::Attention { heads, .. } if channels / heads > MAX_HEAD_SIZE => {
                format!("heads of {} channels; the kernels hold {MAX_HEAD_SIZE} at most", channels / heads)
            }
            // Word numbers are stored like activations, and whole numbers are exact up to this limit.
            StageKind::Embedding(Words { vocabulary, .. })
                if stored == Stored::F16 && vocabulary > 1 << f16::MANTISSA_DIGITS =>
            {
                format!(
                    "a vocabulary of {vocabulary} words; in f16 the kernels hold {} at most",
                    1 << f16::MANTISSA_DIGITS
                )
            }
            _ => continue,
        };
        return Err(ModelError::Unsupported { model: model.name, layer, reason });
    }
    Ok(())
}
