//! Parts of buffers that launches read and write.

use shaders::Stored;
use shaders::params::Epilogue;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::BufferRange;
use super::Planner;
use crate::model::Stage;

impl Planner<'_> {
    /// The part of a buffer with a value's rows of the recording being made.
    pub(super) fn rows_of(&self, value: usize, buffer: usize) -> BufferRange {
        let features = self.stages.values[value].stored_features(CHANNEL_ALIGNMENT);
        let bytes = self.stored().bytes() * u64::from(self.rows) * u64::from(features);
        BufferRange { buffer, offset_bytes: 0, bytes }
    }

    pub(super) fn stored(&self) -> Stored {
        self.choices.stored()
    }

    /// Numbers in a part of a buffer of activations or their gradients.
    pub(super) fn elements(&self, range: BufferRange) -> u64 {
        range.bytes / self.stored().bytes()
    }

    /// The same in groups of four.
    pub(super) fn quads(&self, range: BufferRange) -> u64 {
        self.elements(range) / 4
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

    /// Destination of the gradient of a stage's input, and the epilogue to finish it with; `None` for the data.
    pub(super) fn input_gradient(&mut self, stage: &Stage, input: usize) -> Option<(BufferRange, Epilogue)> {
        let value = stage.inputs[input];
        let gradient = self.rows_of(value, self.values[value].gradient?);
        let accumulate = u32::from(std::mem::replace(&mut self.values[value].contributed, true));
        let epilogue = self.stages.values[value].stored_epilogue(CHANNEL_ALIGNMENT);
        Some((gradient, Epilogue { accumulate, ..epilogue }))
    }

    /// A buffer that a stage keeps from the forward to the backward pass, of values of four bytes.
    pub(super) fn keep(
        &mut self,
        stage: &Stage,
        place: usize,
        name: &'static str,
        values_per_sample: u64,
    ) -> BufferRange {
        self.keep_for_samples(stage, place, name, 4 * values_per_sample)
    }

    /// The same, of values that are stored as activations are.
    pub(super) fn keep_stored(
        &mut self,
        stage: &Stage,
        place: usize,
        name: &'static str,
        values_per_sample: u64,
    ) -> BufferRange {
        self.keep_for_samples(stage, place, name, self.stored().bytes() * values_per_sample)
    }

    fn keep_for_samples(&mut self, stage: &Stage, place: usize, name: &'static str, bytes: u64) -> BufferRange {
        let kept = self.keep_bytes(stage, place, name, u64::from(self.test_rows) * bytes);
        BufferRange { bytes: u64::from(self.rows) * bytes, ..kept }
    }

    /// A buffer of values of four bytes that a stage keeps, or that both recordings use.
    pub(super) fn keep_values(&mut self, stage: &Stage, place: usize, name: &'static str, values: u64) -> BufferRange {
        self.keep_bytes(stage, place, name, 4 * values)
    }

    fn keep_bytes(&mut self, stage: &Stage, place: usize, name: &'static str, bytes: u64) -> BufferRange {
        let kept = &mut self.kept[stage.output];
        if kept.len() <= place {
            kept.resize(place + 1, BufferRange::default());
        }
        // The recording for tests may have more rows.
        if kept[place].bytes < bytes {
            kept[place] = self.builder.zeros(name, bytes);
        }
        BufferRange { bytes, ..kept[place] }
    }

    /// Part of the weights' arena that holds a tensor of a stage.
    pub(super) fn weight(&self, stage: &Stage, tensor: usize) -> BufferRange {
        let layout = &self.tensors[stage.tensor + tensor];
        self.arenas.part(self.arenas.read, layout.offset, layout.elements())
    }

    /// Part of the arena that products read with a tensor of a stage.
    pub(super) fn product_weight(&self, stage: &Stage, tensor: usize) -> BufferRange {
        let layout = &self.tensors[stage.tensor + tensor];
        self.arenas.product_part(layout.offset, layout.elements())
    }

    /// The bias of a stage, or zeros for one that has none.
    pub(super) fn bias(&self, stage: &Stage, bias: bool) -> BufferRange {
        if bias { self.weight(stage, 1) } else { self.arenas.zeros }
    }
}
