//! One layer of a file as the engine's own, with every number in its bounds.

use engine::{DataSetDefinition, Layer as Node, Padding, PoolKind, Rounding, Shape};

use super::bounds::{Checked, finite, part, positive, share, whole};
use super::layers::{Conv2d, Layer, Pool};
use super::network::text;
use super::place::{Mistake, Place};
use super::weights::{Tensor, check_initializer, check_multipliers};

/// Of units, filters and the like.
const MOST_CHANNELS: u32 = 1 << 16;
/// Of windows and their strides.
const LARGEST_SIDE: u32 = 256;

/// The engine's layer; `inputs` are the shapes that it reads.
///
/// # Errors
/// A number out of its bounds, or inputs that do not fit each other.
pub(super) fn translated(
    place: &Place,
    layer: &Layer,
    inputs: &[Shape],
    set: &DataSetDefinition,
) -> Result<Node, Mistake> {
    let input = inputs[0];
    let channels = |field, value| whole(&place.field(field), value, 1..=MOST_CHANNELS);
    Ok(match layer {
        Layer::Dense(dense) => {
            channels("units", dense.units)?;
            Node::Dense { units: dense.units, activation: dense.activation, weights: dense.weights() }
        }
        Layer::Conv2d(convolution) => conv2d(place, convolution)?,
        Layer::MaxPool(window) => pool(place, PoolKind::Max, window)?,
        Layer::AveragePool(window) => pool(place, PoolKind::Average, window)?,
        Layer::Dropout(dropout) => {
            part(&place.field("rate"), dropout.rate)?;
            Node::Dropout { rate: dropout.rate }
        }
        Layer::BatchNorm(norm) => {
            positive(&place.field("epsilon"), norm.epsilon)?;
            part(&place.field("momentum"), norm.momentum)?;
            Node::BatchNorm {
                epsilon: norm.epsilon,
                keep: norm.momentum,
                trained_scale: norm.trained_scale,
                bias: norm.bias_multipliers,
                activation: norm.activation,
            }
        }
        Layer::LayerNorm(norm) => {
            positive(&place.field("epsilon"), norm.epsilon)?;
            Node::LayerNorm { epsilon: norm.epsilon }
        }
        Layer::LocalResponseNorm(norm) => {
            whole(&place.field("radius"), norm.radius, 0..=LARGEST_SIDE)?;
            positive(&place.field("bias"), norm.bias)?;
            positive(&place.field("alpha"), norm.alpha)?;
            finite(&place.field("beta"), norm.beta)?;
            Node::LocalResponseNorm { radius: norm.radius, bias: norm.bias, alpha: norm.alpha, beta: norm.beta }
        }
        Layer::Lstm(lstm) => {
            channels("units", lstm.units)?;
            Node::Lstm { units: lstm.units, recurrent: lstm.recurrent_initializer }
        }
        Layer::Embedding(embedding) => {
            channels("units", embedding.units)?;
            let words = input.features();
            whole(&place.field("first"), embedding.first, 0..=words - 1)?;
            let rest = words - embedding.first;
            embedding.count.map_or(Ok(()), |count| whole(&place.field("count"), count, 1..=rest))?;
            Node::Embedding {
                // The words of a data set are its classes: any of them may be the answer.
                vocabulary: set.train.classes,
                units: embedding.units,
                first: embedding.first,
                count: embedding.count.unwrap_or(rest),
                zero_padding: embedding.zero_padding,
                initializer: embedding.initializer,
            }
        }
        Layer::PositionEmbedding(embedding) => Node::PositionEmbedding { initializer: embedding.initializer },
        Layer::Attention(attention) => {
            whole(&place.field("heads"), attention.heads, 1..=4096)?;
            Node::Attention { heads: attention.heads }
        }
        Layer::Add(add) => {
            let (first, second) = (inputs[0], inputs[1]);
            let fits = second == first || second == Shape::vector(first.channels);
            hold(place, fits, || format!("{} cannot be added to {}", text(second), text(first)))?;
            Node::Add { activation: add.activation }
        }
        Layer::Concatenate(_) => {
            let (first, second) = (inputs[0], inputs[1]);
            let fits = second.pixels() == first.pixels();
            hold(place, fits, || format!("{} cannot stand behind {}: they differ in pixels", text(second), text(first)))?;
            Node::Concatenate
        }
        Layer::PixelProducts(_) => {
            let (first, second) = (inputs[0], inputs[1]);
            let fits = second.channels == first.channels;
            let message = || format!("{} and {} have no products: they differ in channels", text(first), text(second));
            hold(place, fits, message)?;
            Node::PixelProducts
        }
        Layer::SentenceSum(sum) => Node::SentenceSum { words: sum.words },
        Layer::WordScores(scores) => {
            Node::WordScores { vocabulary: set.train.classes, initializer: scores.initializer }
        }
        Layer::Softmax(softmax) => {
            share(&place.field("linear_until"), softmax.linear_until)?;
            Node::Softmax { linear_until: softmax.linear_until }
        }
        Layer::Transpose => Node::Transpose,
        Layer::Flatten | Layer::Relu | Layer::Tanh | Layer::Gelu | Layer::Label(_) | Layer::From(_) => {
            unreachable!("such words make no node")
        }
    })
}

fn hold(place: &Place, fits: bool, message: impl Fn() -> String) -> Checked {
    if fits { Ok(()) } else { Err(place.field("with").mistake(message())) }
}

fn conv2d(place: &Place, convolution: &Conv2d) -> Result<Node, Mistake> {
    let &Conv2d { filters, kernel_size, stride, padding, activation, .. } = convolution;
    whole(&place.field("filters"), filters, 1..=MOST_CHANNELS)?;
    whole(&place.field("kernel_size"), kernel_size, 1..=LARGEST_SIDE)?;
    whole(&place.field("stride"), stride, 1..=LARGEST_SIDE)?;
    if let Padding::Zeros(zeros) = padding {
        whole(&place.field("padding").field("zeros"), zeros, 0..=kernel_size - 1)?;
    }
    Ok(Node::Conv2d { filters, side: kernel_size, stride, padding, activation, weights: convolution.weights() })
}

/// Every window must hold an element: an average of none is no number.
fn pool(place: &Place, kind: PoolKind, pool: &Pool) -> Result<Node, Mistake> {
    let &Pool { size, padding, rounding, activation, .. } = pool;
    let stride = pool.stride.unwrap_or(size);
    whole(&place.field("size"), size, 1..=LARGEST_SIDE)?;
    whole(&place.field("stride"), stride, 1..=LARGEST_SIDE)?;
    whole(&place.field("padding"), padding, 0..=size - 1)?;
    if rounding == Rounding::Ceil && padding + stride > size {
        return Err(place.field("rounding").mistake(
            "rounded up, a window could lie outside of the image: `stride` and `padding` together may not be larger than \
             `size`",
        ));
    }
    Ok(Node::Pool { kind, side: size, stride, padding, rounding, activation })
}

/// How the weights of a layer start and are treated. `input` is what it reads.
///
/// # Errors
/// What its tensors cannot have.
pub(super) fn check_weights(place: &Place, layer: &Layer, input: Shape, reads_data: bool) -> Checked {
    let initial = |field, initializer, tensor| check_initializer(&place.field(field), initializer, tensor);
    let multipliers = |field, of| check_multipliers(&place.field(field), of);
    match layer {
        Layer::Dense(dense) => {
            initial("kernel_initializer", dense.kernel_initializer, Tensor::Matrix)?;
            initial("bias_initializer", dense.bias_initializer, Tensor::Bias)?;
            multipliers("kernel_multipliers", dense.kernel_multipliers)?;
            multipliers("bias_multipliers", dense.bias_multipliers)
        }
        Layer::Conv2d(convolution) => {
            let (filters, side, channels) = (convolution.filters, convolution.kernel_size, input.channels);
            let kernel = Tensor::Kernel { filters, side, channels, reads_data };
            initial("kernel_initializer", convolution.kernel_initializer, kernel)?;
            initial("bias_initializer", convolution.bias_initializer, Tensor::Bias)?;
            multipliers("kernel_multipliers", convolution.kernel_multipliers)?;
            multipliers("bias_multipliers", convolution.bias_multipliers)
        }
        Layer::Lstm(lstm) => initial("recurrent_initializer", lstm.recurrent_initializer, Tensor::Matrix),
        Layer::Embedding(embedding) => initial("initializer", embedding.initializer, Tensor::Matrix),
        Layer::PositionEmbedding(embedding) => initial("initializer", embedding.initializer, Tensor::Matrix),
        Layer::WordScores(scores) => initial("initializer", scores.initializer, Tensor::Matrix),
        Layer::BatchNorm(norm) => multipliers("bias_multipliers", norm.bias_multipliers),
        _ => Ok(()),
    }
}

/// Weights of a layer that reads `input`, before anything multiplies them in 32 bits.
pub(super) fn weights_of(layer: &Node, input: Shape) -> u64 {
    let (values, channels) = (u64::from(input.features()), u64::from(input.channels));
    match *layer {
        Node::Conv2d { filters, side, .. } => u64::from(side).pow(2) * channels * u64::from(filters),
        Node::Dense { units, .. } => values * u64::from(units),
        Node::Lstm { units, .. } => 4 * u64::from(units) * (channels + u64::from(units)),
        Node::Embedding { vocabulary, units, .. } => u64::from(vocabulary) * u64::from(units),
        Node::WordScores { vocabulary, .. } => u64::from(vocabulary) * channels,
        Node::PositionEmbedding { .. } => values,
        _ => 0,
    }
}
