use shaders::params::Epilogue;

use super::{Activation, Cell, KernelSize, Layer, Model, ModelError, Padding, PoolKind, Shape, Source};
use crate::random::stream;

/// Model lowered to values and stages that compute them. Activations and dropout are fused into stages if possible.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stages {
    /// The first is the data, the last the logits.
    pub(crate) values: Vec<Value>,
    /// Each reads only values of earlier stages.
    pub(crate) stages: Vec<Stage>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) shape: Shape,
    /// Functions applied before storing. Gradients of the value include their slopes.
    pub(crate) epilogue: Epilogue,
    pub(crate) storage: Storage,
}

/// Layout of channels in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Each pixel's channels are zero-padded to a multiple of four.
    PaddedChannels,
    /// Each sample is contiguous and padded at its end. Used for the data.
    Flat,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    pub(crate) kind: StageKind,
    pub(crate) inputs: Vec<usize>,
    pub(crate) output: usize,
    /// Index of the stage's first tensor in the model's list.
    pub(crate) tensor: usize,
    /// True if a later stage also reads this tensor, so its gradient exists before this stage's backward pass.
    pub(crate) adds_to_gradient: bool,
}

/// Window of a convolution or a square pooling layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlidingWindow {
    /// Height and width.
    pub(crate) sides: [u32; 2],
    pub(crate) stride: u32,
    /// Zeros before the first row and the first column.
    pub(crate) padding: [u32; 2],
}

/// Computation of a stage. A dense one reads all values of a sample or, `per_pixel`, the channels of each pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StageKind {
    Conv2d { window: SlidingWindow, bias: bool },
    Pool { kind: PoolKind, window: SlidingWindow },
    Dense { bias: bool, per_pixel: bool },
    LocalResponseNorm { radius: u32, bias: f32, alpha: f32, beta: f32 },
    Recurrent(Cell),
    Embedding(Words),
    SentenceSum { words: u32 },
    WordScores,
    PixelProducts,
    Softmax { linear_start: bool },
    Transpose,
    Concatenate,
    Add,
    BatchNorm { epsilon: f32, keep: f32, activation: Activation },
    LayerNorm { epsilon: f32, bias: bool },
    PositionEmbedding,
    Attention { heads: u32, causal: bool },
    Gelu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) vocabulary: u32,
    pub(crate) first: u32,
    pub(crate) zero_padding: bool,
}

impl Stages {
    #[cfg(any(feature = "burn", feature = "wgsl"))]
    pub(crate) fn input(&self, stage: &Stage) -> &Value {
        &self.values[stage.inputs[0]]
    }

    pub(crate) fn output(&self, stage: &Stage) -> &Value {
        &self.values[stage.output]
    }

    #[cfg(feature = "wgsl")]
    pub(crate) fn logits(&self) -> &Value {
        self.values.last().expect("the data is always a value")
    }
}

struct Lowering<'a> {
    model: &'a Model,
    stages: Stages,
    made: Vec<usize>,
    tensor: usize,
    adds_to_gradient: bool,
    dropouts: u32,
}

impl Model {
    /// Lowers the model to stages, with or without active dropout.
    pub(crate) fn stages(&self, dropout: bool) -> Result<Stages, ModelError> {
        // Recurrent layers read padded pixels. Other layers read unpadded data.
        let reads_sequences = |node: &super::Node| node.layer.is_recurrent() && node.inputs.contains(&Source::Data);
        let storage = if self.nodes.iter().any(reads_sequences) { Storage::PaddedChannels } else { Storage::Flat };
        let data = Value { shape: self.input, epilogue: Epilogue::default(), storage };
        let stages = Stages { values: vec![data], stages: Vec::new() };
        let mut lowering =
            Lowering { model: self, stages, made: Vec::new(), tensor: 0, adds_to_gradient: false, dropouts: 0 };
        let tensors = self.tensors()?;
        for (index, output) in self.shapes()?.into_iter().enumerate() {
            let owner = self.owner(index);
            lowering.tensor = tensors.iter().take_while(|tensor| tensor.layer < owner).count();
            lowering.adds_to_gradient = self.nodes[index + 1..].iter().any(|later| later.shares == Some(owner));
            lowering.node(index, output, dropout)?;
        }
        Ok(lowering.stages)
    }
}

impl Lowering<'_> {
    fn value(&self, source: Source) -> usize {
        match source {
            Source::Data => 0,
            Source::Node(node) => self.made[node],
        }
    }

    fn node(&mut self, index: usize, output: Shape, dropout: bool) -> Result<(), ModelError> {
        let node = &self.model.nodes[index];
        let inputs: Vec<usize> = node.inputs.iter().map(|&source| self.value(source)).collect();
        let input = self.stages.values[inputs[0]].shape;
        let kind = match node.layer {
            Layer::Conv2d { size, stride, padding, weights, .. } => {
                let padding = zeros_before(padding, size, stride, input, output);
                let bias = weights.bias.is_some();
                let sides = size.sides();
                let pointwise = (sides, stride, padding) == ([1; 2], 1, [0; 2]);
                if pointwise && self.stages.values[inputs[0]].storage == Storage::PaddedChannels {
                    StageKind::Dense { bias, per_pixel: true }
                } else {
                    StageKind::Conv2d { window: SlidingWindow { sides, stride, padding }, bias }
                }
            }
            Layer::Pool { kind, side, stride, padding, .. } => {
                let window = SlidingWindow { sides: [side; 2], stride, padding: [padding; 2] };
                StageKind::Pool { kind, window }
            }
            Layer::Dense { weights, .. } => StageKind::Dense { bias: weights.bias.is_some(), per_pixel: false },
            Layer::Dropout { rate } => return self.dropout(index, inputs[0], rate, dropout),
            Layer::LocalResponseNorm { radius, bias, alpha, beta } => {
                StageKind::LocalResponseNorm { radius, bias, alpha, beta }
            }
            Layer::Lstm { .. } => StageKind::Recurrent(Cell::Lstm),
            Layer::Gru { activation, .. } => StageKind::Recurrent(Cell::Gru(activation)),
            Layer::SimpleRnn { activation, .. } => StageKind::Recurrent(Cell::SimpleRnn(activation)),
            Layer::Embedding { vocabulary, first, zero_padding, .. } => {
                StageKind::Embedding(Words { vocabulary, first, zero_padding })
            }
            Layer::SentenceSum { words } => StageKind::SentenceSum { words },
            Layer::WordScores { .. } => StageKind::WordScores,
            Layer::PixelProducts => StageKind::PixelProducts,
            Layer::Softmax { linear_until } => StageKind::Softmax { linear_start: linear_until > 0.0 },
            Layer::Transpose => StageKind::Transpose,
            Layer::Concatenate => StageKind::Concatenate,
            Layer::Add { .. } => StageKind::Add,
            Layer::BatchNorm { epsilon, keep, activation, .. } => StageKind::BatchNorm { epsilon, keep, activation },
            Layer::LayerNorm { epsilon, bias, .. } => StageKind::LayerNorm { epsilon, bias: bias.is_some() },
            Layer::PositionEmbedding { .. } => StageKind::PositionEmbedding,
            Layer::Attention { heads, causal } => StageKind::Attention { heads, causal },
        };
        let activation = match kind {
            // These kernels apply the activation themselves.
            StageKind::Recurrent(_) | StageKind::BatchNorm { .. } => Activation::Identity,
            _ => node.layer.activation(),
        };
        let is_gelu = activation == Activation::Gelu;
        let activation = if is_gelu { Activation::Identity } else { activation };
        let mut made = self.stage(kind, inputs, output, activation.number());
        if is_gelu {
            // The slope of GELU does not follow from its output, so the input is kept.
            made = self.stage(StageKind::Gelu, vec![made], output, activation.number());
        }
        self.made.push(made);
        Ok(())
    }

    fn stage(&mut self, kind: StageKind, inputs: Vec<usize>, shape: Shape, activation: u32) -> usize {
        let output = self.stages.values.len();
        let epilogue =
            Epilogue { activation, channels: shape.channels, features: shape.features(), ..Epilogue::default() };
        self.stages.values.push(Value { shape, epilogue, storage: Storage::PaddedChannels });
        let (tensor, adds_to_gradient) = (self.tensor, self.adds_to_gradient);
        self.stages.stages.push(Stage { kind, inputs, output, tensor, adds_to_gradient });
        output
    }

    fn dropout(&mut self, index: usize, value: usize, rate: f32, active: bool) -> Result<(), ModelError> {
        let unsupported = |reason: &str| {
            Err(ModelError::Unsupported { model: self.model.name, layer: index, reason: reason.to_owned() })
        };
        if value == 0 {
            return unsupported("dropout of the data itself");
        }
        if self.stages.values[value].epilogue.dropout_stream != 0 {
            return unsupported("dropout behind dropout");
        }
        let readers = |node: &&super::Node| node.inputs.iter().any(|&source| self.value(source) == value);
        let earlier = self.model.nodes[..index].iter().filter(readers).count();
        let read_undropped =
            self.model.nodes[index..].iter().filter(|node| node.inputs.contains(&self.model.nodes[index].inputs[0]));
        if earlier > 0 || read_undropped.count() > 1 {
            return unsupported("dropout of a value that is also read without it");
        }
        if active {
            let epilogue = &mut self.stages.values[value].epilogue;
            epilogue.dropout_stream = stream::DROPOUT + self.dropouts;
            epilogue.dropout_rate = rate;
        }
        self.dropouts += 1;
        self.made.push(value);
        Ok(())
    }
}

fn zeros_before(padding: Padding, size: KernelSize, stride: u32, input: Shape, output: Shape) -> [u32; 2] {
    let [height, width] = size.sides();
    let same = |made: u32, side: u32, given: u32| ((made - 1) * stride + side).saturating_sub(given) / 2;
    match padding {
        Padding::Valid => [0; 2],
        Padding::Zeros(zeros) => [zeros; 2],
        Padding::Same => [same(output.height, height, input.height), same(output.width, width, input.width)],
    }
}
