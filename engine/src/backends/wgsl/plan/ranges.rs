//! Parts of buffers that launches read and write.

use shaders::params::Epilogue;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::BufferRange;
use super::Planner;
use crate::model::{SizedStage, Stage};

impl Planner<'_> {
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

    pub(super) fn input_of(&self, stage: &Stage, input: usize) -> BufferRange {
        let value = stage.inputs[input];
        self.rows_of(value, self.values[value].values)
    }

    pub(super) fn output_of(&self, stage: &Stage) -> BufferRange {
        self.rows_of(stage.output, self.values[stage.output].values)
    }

    pub(super) fn output_gradient(&self, stage: &Stage) -> BufferRange {
        let gradient = self.values[stage.output].gradient.expect("only the data has no gradient");
        self.rows_of(stage.output, gradient)
    }

    /// Returns the destination of the gradient of a stage's input, and the epilogue that completes it; `None` for the
    /// data.
    pub(super) fn input_gradient(&mut self, stage: &Stage, input: usize) -> Option<(BufferRange, Epilogue)> {
        let value = stage.inputs[input];
        let gradient = self.rows_of(value, self.values[value].gradient?);
        let accumulate = u32::from(std::mem::replace(&mut self.values[value].contributed, true));
        let epilogue = self.stages.values[value].stored_epilogue(CHANNEL_ALIGNMENT);
        Some((gradient, Epilogue { accumulate, ..epilogue }))
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

    /// Returns the part of the weight arena with a stage's tensor.
    pub(super) fn weight(&self, stage: &Stage, tensor: usize) -> BufferRange {
        let layout = &self.tensors[stage.tensor + tensor];
        self.arenas.part(self.arenas.read, layout.offset, layout.elements())
    }

    /// Returns the part of the products' arena with a stage's tensor.
    pub(super) fn product_weight(&self, stage: &Stage, tensor: usize) -> BufferRange {
        let layout = &self.tensors[stage.tensor + tensor];
        self.arenas.product_part(layout.offset, layout.elements())
    }

    /// Returns the bias of a stage, or zeros if it has none.
    pub(super) fn bias(&self, stage: &Stage, bias: bool) -> BufferRange {
        if bias { self.weight(stage, 1) } else { self.arenas.zeros }
    }
}
