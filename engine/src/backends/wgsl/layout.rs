//! Where each tensor lies in the arenas, and how its logical elements map to stored ones.

use shaders::params::BLOCK_ELEMENTS;

use crate::model::{Model, ModelError, Stage, StageKind};

/// Kernels read and write four channels at once.
pub(super) const CHANNEL_ALIGNMENT: u32 = 4;

/// A tensor in the arenas. Stored channels are padded; the padding is zero and stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TensorLayout {
    /// First element in the arena, a multiple of 256.
    pub(super) offset: u32,
    /// Taps or pixels before the input channels.
    outer: u32,
    inner: u32,
    stored_inner: u32,
    columns: u32,
    stored_columns: u32,
}

impl TensorLayout {
    /// Stored elements.
    pub(super) fn elements(&self) -> u32 {
        self.outer * self.stored_inner * self.stored_columns
    }

    /// Elements of the arena up to the next tensor.
    pub(super) fn span(&self) -> u32 {
        self.elements().next_multiple_of(BLOCK_ELEMENTS)
    }

    /// Arena position of each logical element, in row-major order.
    fn positions(self) -> impl Iterator<Item = usize> {
        (0..self.outer).flat_map(move |outer| {
            (0..self.inner).flat_map(move |inner| {
                let row = self.offset + (outer * self.stored_inner + inner) * self.stored_columns;
                (row..row + self.columns).map(|position| position as usize)
            })
        })
    }

    /// Writes a tensor's logical elements into the arena.
    pub(super) fn store(&self, tensor: &[f32], arena: &mut [f32]) {
        for (position, &value) in self.positions().zip(tensor) {
            arena[position] = value;
        }
    }

    /// Reads a tensor's logical elements from the arena.
    pub(super) fn load(&self, arena: &[f32]) -> Vec<f32> {
        self.positions().map(|position| arena[position]).collect()
    }
}

/// Layouts of all tensors of a model, kernel and bias of each stage in turn.
pub(super) fn tensor_layouts(model: &Model, stages: &[Stage]) -> Result<Vec<TensorLayout>, ModelError> {
    let specs = model.tensors()?;
    let mut layouts = Vec::with_capacity(specs.len());
    let mut offset = 0;
    for stage in stages.iter().filter(|stage| stage.kernel.is_some()) {
        let (outer, inner, stored_inner) = match stage.kind {
            StageKind::Conv2d { side, .. } => {
                (side * side, stage.input.channels, stage.stored_input_channels(CHANNEL_ALIGNMENT))
            }
            // The data is one flat row for a dense layer.
            StageKind::Dense if stage.reads_data => (1, stage.input.features(), stage.stored_inputs(CHANNEL_ALIGNMENT)),
            StageKind::Dense => {
                (stage.input.pixels(), stage.input.channels, stage.stored_input_channels(CHANNEL_ALIGNMENT))
            }
            StageKind::MaxPool { .. } => unreachable!("pooling has no kernel"),
        };
        let (columns, stored_columns) = (stage.output.channels, stage.stored_output_channels(CHANNEL_ALIGNMENT));
        for (outer, inner, stored_inner) in [(outer, inner, stored_inner), (1, 1, 1)] {
            let layout = TensorLayout { offset, outer, inner, stored_inner, columns, stored_columns };
            offset += layout.span();
            layouts.push(layout);
        }
    }
    debug_assert_eq!(layouts.len(), specs.len());
    Ok(layouts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_channels_stay_zero_and_tensors_come_back_whole() {
        let model = crate::workload("caffe-mnist").unwrap().model;
        let layouts = tensor_layouts(&model, &model.stages(true).unwrap()).unwrap();
        let specs = model.tensors().unwrap();
        assert_eq!(layouts.len(), specs.len());
        let last = layouts.last().unwrap();
        let mut arena = vec![0.0; (last.offset + last.span()) as usize];
        let tensors: Vec<Vec<f32>> = specs.iter().map(|spec| vec![1.0; spec.elements()]).collect();
        for (layout, tensor) in layouts.iter().zip(&tensors) {
            layout.store(tensor, &mut arena);
        }
        let ones = arena.iter().filter(|&&v| v == 1.0).count();
        assert_eq!(ones as u64, model.parameters().unwrap());
        for (layout, tensor) in layouts.iter().zip(&tensors) {
            assert_eq!(&layout.load(&arena), tensor);
            assert_eq!(layout.offset % BLOCK_ELEMENTS, 0);
        }
    }
}
