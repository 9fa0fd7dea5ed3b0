//! Positions of tensors in the arenas.

use std::ops::Range;

use shaders::params::BLOCK_ELEMENTS;

use crate::model::{Model, ModelError, Shape, SlidingWindow, Stage, StageKind, Stages, Storage, Value, Words};

/// Number of channels that kernels read and write at once.
pub(super) const CHANNEL_ALIGNMENT: u32 = 4;

/// A tensor in the arenas, with logical and stored rows and columns. Stored channels are padded with zeros, which never
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TensorLayout {
    /// First element in the arena, a multiple of 256.
    pub(super) offset: u32,
    /// Taps or pixels before the input channels.
    outer: u32,
    inner: u32,
    stored_inner: u32,
    /// Blocks of columns: one for each gate of a recurrent layer.
    groups: u32,
    columns: u32,
    stored_columns: u32,
}

impl TensorLayout {
    /// Creates a tensor with `outer × inner` rows of `columns`, both padded, at the beginning of an arena.
    fn new(outer: u32, inner: u32, stored_inner: u32, columns: u32) -> Self {
        let stored_columns = columns.next_multiple_of(CHANNEL_ALIGNMENT);
        Self { offset: 0, outer, inner, stored_inner, groups: 1, columns, stored_columns }
    }

    fn vector(columns: u32) -> Self {
        Self::new(1, 1, 1, columns)
    }

    fn gates(self, gates: u32) -> Self {
        Self { groups: gates, ..self }
    }

    pub(super) fn elements(&self) -> u32 {
        self.outer * self.stored_inner * self.groups * self.stored_columns
    }

    /// Returns the number of arena elements up to the next tensor.
    pub(super) fn span(&self) -> u32 {
        self.elements().next_multiple_of(BLOCK_ELEMENTS)
    }

    /// Returns the arena positions of the logical elements in row-major order, as contiguous ranges.
    fn runs(self) -> impl Iterator<Item = Range<usize>> {
        let Self { offset, outer, inner, stored_inner, groups, columns, stored_columns } = self;
        (0..outer).flat_map(move |outer| {
            (0..inner).flat_map(move |inner| {
                (0..groups).map(move |group| {
                    let row = ((outer * stored_inner + inner) * groups + group) * stored_columns;
                    let start = (offset + row) as usize;
                    start..start + columns as usize
                })
            })
        })
    }

    pub(super) fn load(&self, arena: &[f32]) -> Vec<f32> {
        self.runs().flat_map(|run| &arena[run]).copied().collect()
    }
}

/// Returns an arena with the logical elements of all tensors. Its padding is zero.
pub(super) fn arena_of(layouts: &[TensorLayout], tensors: &[Vec<f32>]) -> Vec<f32> {
    let mut arena = vec![0.0; arena_elements(layouts) as usize];
    for (layout, tensor) in layouts.iter().zip(tensors) {
        for (run, values) in layout.runs().zip(tensor.chunks_exact(layout.columns as usize)) {
            arena[run].copy_from_slice(values);
        }
    }
    arena
}

pub(super) fn arena_elements(layouts: &[TensorLayout]) -> u32 {
    let end = layouts.iter().map(|layout| layout.offset + layout.elements()).max().unwrap_or(0);
    end.next_multiple_of(BLOCK_ELEMENTS)
}

pub(super) fn tensor_layouts(model: &Model, stages: &Stages) -> Result<Vec<TensorLayout>, ModelError> {
    let mut layouts: Vec<Option<TensorLayout>> = vec![None; model.tensors()?.len()];
    let mut offset = 0;
    for stage in &stages.stages {
        for (place, layout) in layouts_of_stage(stage, stages.input(stage), stages.output(stage).shape) {
            if layouts[stage.tensor + place].is_some() {
                // The tensor belongs to an earlier stage, which shares it with this one.
                continue;
            }
            let layout = TensorLayout { offset, ..layout };
            // A running variance directly follows its mean, because one kernel binds both.
            let running_mean = matches!(stage.kind, StageKind::BatchNorm { .. }) && place == 2;
            offset += if running_mean { layout.elements() } else { layout.span() };
            offset = if running_mean { offset } else { offset.next_multiple_of(BLOCK_ELEMENTS) };
            layouts[stage.tensor + place] = Some(layout);
        }
    }
    Ok(layouts.into_iter().map(|layout| layout.expect("every tensor belongs to a stage")).collect())
}

/// Returns a stage's tensors in arena order, each with its index among the stage's tensors, and not yet placed.
fn layouts_of_stage(stage: &Stage, input: &Value, output: Shape) -> Vec<(usize, TensorLayout)> {
    let channels = input.shape.channels;
    let stored_channels = input.stored_channels(CHANNEL_ALIGNMENT);
    let with_bias = |kernel: TensorLayout, bias: bool| {
        let mut shapes = vec![(0, kernel)];
        shapes.extend(bias.then(|| (1, TensorLayout::vector(output.channels))));
        shapes
    };
    match stage.kind {
        StageKind::Conv2d { window: SlidingWindow { sides: [height, width], .. }, bias } => {
            with_bias(TensorLayout::new(height * width, channels, stored_channels, output.channels), bias)
        }
        StageKind::Dense { bias, per_pixel } => {
            let flat = input.storage == Storage::Flat;
            let kernel = match (per_pixel, flat) {
                (true, _) => TensorLayout::new(1, channels, stored_channels, output.channels),
                // The data is one flat row.
                (false, true) => {
                    let stored = input.stored_features(CHANNEL_ALIGNMENT);
                    TensorLayout::new(1, input.shape.features(), stored, output.channels)
                }
                (false, false) => TensorLayout::new(input.shape.pixels(), channels, stored_channels, output.channels),
            };
            with_bias(kernel, bias)
        }
        StageKind::Recurrent(cell) => {
            let (units, gates) = (output.channels, cell.gates());
            let recurrent = TensorLayout::new(1, units, units.next_multiple_of(CHANNEL_ALIGNMENT), units);
            let bias = TensorLayout::vector(units).gates(gates);
            // Each kernel is next to its bias, because their gradients are computed together.
            let mut shapes = vec![
                (0, TensorLayout::new(1, channels, stored_channels, units).gates(gates)),
                (2, bias),
                (1, recurrent.gates(gates)),
            ];
            shapes.extend(cell.has_recurrent_bias().then_some((3, bias)));
            shapes
        }
        // Both pad their words alike, because an embedding and a word comparison may share vectors.
        StageKind::Embedding(Words { vocabulary, .. }) => vec![(0, word_vectors(vocabulary, output.channels))],
        StageKind::WordScores => vec![(0, word_vectors(output.channels, channels))],
        StageKind::PositionEmbedding => {
            vec![(0, TensorLayout::new(1, output.pixels(), output.pixels(), output.channels))]
        }
        // Scale, bias, running mean, running variance.
        StageKind::BatchNorm { .. } => (0..4).map(|place| (place, TensorLayout::vector(channels))).collect(),
        StageKind::LayerNorm { bias, .. } => {
            (0..1 + usize::from(bias)).map(|place| (place, TensorLayout::vector(channels))).collect()
        }
        StageKind::Pool { .. }
        | StageKind::LocalResponseNorm { .. }
        | StageKind::Add
        | StageKind::Attention { .. }
        | StageKind::SentenceSum { .. }
        | StageKind::PixelProducts
        | StageKind::Softmax { .. }
        | StageKind::Transpose
        | StageKind::Concatenate
        | StageKind::Gelu => Vec::new(),
    }
}

fn word_vectors(vocabulary: u32, channels: u32) -> TensorLayout {
    TensorLayout::new(1, vocabulary, vocabulary.next_multiple_of(CHANNEL_ALIGNMENT), channels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TensorKind;

    #[test]
    fn padded_channels_stay_zero_and_tensors_come_back_whole() {
        for make in crate::WORKLOADS {
            let model = make().model;
            let layouts = tensor_layouts(&model, &model.stages(true).unwrap()).unwrap();
            let specs = model.tensors().unwrap();
            let tensors: Vec<Vec<f32>> = specs.iter().map(|spec| vec![1.0; spec.elements()]).collect();
            let arena = arena_of(&layouts, &tensors);
            let ones = arena.iter().filter(|&&v| v == 1.0).count();
            assert_eq!(ones, specs.iter().map(|spec| spec.elements()).sum::<usize>(), "{}", model.name);
            for ((layout, tensor), spec) in layouts.iter().zip(&tensors).zip(&specs) {
                assert_eq!(&layout.load(&arena), tensor, "{}", model.name);
                // Trained tensors begin with a new block.
                assert!(spec.kind == TensorKind::Statistic || layout.offset % BLOCK_ELEMENTS == 0, "{}", spec.name);
            }
        }
    }
}
