//! One layer of a file as the engine's own, with every number in its bounds.

use engine::{Activation, DataSetDefinition, Layer as Node, Padding, PoolKind, Rounding, Shape};

use super::bounds::{Checked, finite, part, positive, share, whole};
use super::layers::{BatchNorm, Conv2d, Embedding, Layer, LocalResponseNorm, Pool, Recurrent};
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
        Layer::BatchNorm(norm) => batch_norm(place, norm)?,
        Layer::LayerNorm(norm) => {
            positive(&place.field("epsilon"), norm.epsilon)?;
            Node::LayerNorm { epsilon: norm.epsilon }
        }
        Layer::LocalResponseNorm(norm) => local_response_norm(place, norm)?,
        Layer::Lstm(lstm) => {
            channels("units", lstm.units)?;
            Node::Lstm { units: lstm.units, recurrent: lstm.recurrent_initializer }
        }
        Layer::Gru(gru) => {
            let &Recurrent { units, activation, recurrent_initializer: recurrent } = checked_recurrent(place, gru)?;
            Node::Gru { units, activation, recurrent }
        }
        Layer::SimpleRnn(simple) => {
            let &Recurrent { units, activation, recurrent_initializer: recurrent } = checked_recurrent(place, simple)?;
            Node::SimpleRnn { units, activation, recurrent }
        }
        Layer::Embedding(words) => embedding(place, words, inputs[0].features(), set.train.classes)?,
        Layer::PositionEmbedding(embedding) => Node::PositionEmbedding { initializer: embedding.initializer },
        Layer::Attention(attention) => {
            whole(&place.field("heads"), attention.heads, 1..=4096)?;
            Node::Attention { heads: attention.heads }
        }
        Layer::Add(_) | Layer::Concatenate(_) | Layer::PixelProducts(_) => joined(place, layer, inputs[0], inputs[1])?,
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

/// A layer that reads two others, whose shapes must fit each other.
fn joined(place: &Place, layer: &Layer, first: Shape, second: Shape) -> Result<Node, Mistake> {
    let (one, other) = (text(first), text(second));
    let (fits, message, node) = match layer {
        Layer::Add(add) => (
            second == first || second == Shape::vector(first.channels),
            format!("{other} cannot be added to {one}"),
            Node::Add { activation: add.activation },
        ),
        Layer::Concatenate(_) => (
            second.pixels() == first.pixels(),
            format!("{other} cannot stand behind {one}: they differ in pixels"),
            Node::Concatenate,
        ),
        _ => (
            second.channels == first.channels,
            format!("{one} and {other} have no products: they differ in channels"),
            Node::PixelProducts,
        ),
    };
    if fits { Ok(node) } else { Err(place.field("with").mistake(message)) }
}

fn batch_norm(place: &Place, norm: &BatchNorm) -> Result<Node, Mistake> {
    let &BatchNorm { epsilon, momentum, trained_scale, activation, bias_multipliers } = norm;
    positive(&place.field("epsilon"), epsilon)?;
    part(&place.field("momentum"), momentum)?;
    Ok(Node::BatchNorm { epsilon, keep: momentum, trained_scale, bias: bias_multipliers, activation })
}

fn local_response_norm(place: &Place, norm: &LocalResponseNorm) -> Result<Node, Mistake> {
    let &LocalResponseNorm { radius, bias, alpha, beta } = norm;
    whole(&place.field("radius"), radius, 0..=LARGEST_SIDE)?;
    positive(&place.field("bias"), bias)?;
    positive(&place.field("alpha"), alpha)?;
    finite(&place.field("beta"), beta)?;
    Ok(Node::LocalResponseNorm { radius, bias, alpha, beta })
}

/// Of some of the `words` of a sample. The words of a data set are its classes: any of them may be the answer.
fn embedding(place: &Place, embedding: &Embedding, words: u32, vocabulary: u32) -> Result<Node, Mistake> {
    let &Embedding { units, first, zero_padding, initializer, .. } = embedding;
    whole(&place.field("units"), units, 1..=MOST_CHANNELS)?;
    whole(&place.field("first"), first, 0..=words - 1)?;
    let count = embedding.count.unwrap_or(words - first);
    whole(&place.field("count"), count, 1..=words - first)?;
    Ok(Node::Embedding { vocabulary, units, first, count, zero_padding, initializer })
}

fn conv2d(place: &Place, convolution: &Conv2d) -> Result<Node, Mistake> {
    let &Conv2d { filters, kernel_size, stride, padding, activation, .. } = convolution;
    whole(&place.field("filters"), filters, 1..=MOST_CHANNELS)?;
    let sides = kernel_size.sides();
    sides.into_iter().try_for_each(|side| whole(&place.field("kernel_size"), side, 1..=LARGEST_SIDE))?;
    whole(&place.field("stride"), stride, 1..=LARGEST_SIDE)?;
    if let Padding::Zeros(zeros) = padding {
        let most = sides[0].min(sides[1]) - 1;
        whole(&place.field("padding").field("zeros"), zeros, 0..=most)?;
    }
    Ok(Node::Conv2d { filters, size: kernel_size, stride, padding, activation, weights: convolution.weights() })
}

/// A recurrent layer whose activation is one that its kernels have.
fn checked_recurrent<'f>(place: &Place, layer: &'f Recurrent) -> Result<&'f Recurrent, Mistake> {
    whole(&place.field("units"), layer.units, 1..=MOST_CHANNELS)?;
    match layer.activation {
        Activation::Tanh | Activation::Relu => Ok(layer),
        Activation::Identity | Activation::Gelu => {
            Err(place.field("activation").mistake("the activation of a recurrent layer is `tanh` or `relu`"))
        }
    }
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
            let (filters, size, channels) = (convolution.filters, convolution.kernel_size, input.channels);
            let kernel = Tensor::Kernel { filters, size, channels, reads_data };
            initial("kernel_initializer", convolution.kernel_initializer, kernel)?;
            initial("bias_initializer", convolution.bias_initializer, Tensor::Bias)?;
            multipliers("kernel_multipliers", convolution.kernel_multipliers)?;
            multipliers("bias_multipliers", convolution.bias_multipliers)
        }
        Layer::Lstm(lstm) => initial("recurrent_initializer", lstm.recurrent_initializer, Tensor::Matrix),
        Layer::Gru(layer) | Layer::SimpleRnn(layer) => {
            initial("recurrent_initializer", layer.recurrent_initializer, Tensor::Matrix)
        }
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
        Node::Conv2d { filters, size, .. } => u64::from(size.area()) * channels * u64::from(filters),
        Node::Dense { units, .. } => values * u64::from(units),
        Node::Lstm { units, .. } => 4 * u64::from(units) * (channels + u64::from(units)),
        Node::Gru { units, .. } => 3 * u64::from(units) * (channels + u64::from(units)),
        Node::SimpleRnn { units, .. } => u64::from(units) * (channels + u64::from(units)),
        Node::Embedding { vocabulary, units, .. } => u64::from(vocabulary) * u64::from(units),
        Node::WordScores { vocabulary, .. } => u64::from(vocabulary) * channels,
        Node::PositionEmbedding { .. } => values,
        _ => 0,
    }
}
