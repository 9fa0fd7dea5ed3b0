//! From the layers of a file to the engine's model, each checked where it stands.

use std::collections::BTreeMap;

use engine::{
    Activation, DataSetDefinition, Initializer, KernelSize, Layer as Node, Model, ModelError, Multipliers, Origin,
    Padding, PoolKind, Rounding, Shape, Source,
};

use crate::workload_file::definition::{BatchNorm, Conv2d, Embedding, Layer, LocalResponseNorm, Pool, Recurrent};
use crate::workload_file::recipe::{Checked, finite, not_negative, part, positive, share, whole};
use crate::workload_file::{Mistake, Place};

/// Values that a layer makes of one sample: more would fill any device.
const MOST_VALUES: u64 = 1 << 22;
/// Weights of one layer.
const MOST_WEIGHTS: u64 = 1 << 27;
const MOST_LAYERS: usize = 1024;
/// What `from` calls the sample.
const DATA: &str = "data";

/// The model of these layers, whose samples have the shape `input`.
pub(crate) fn model(
    name: &'static str,
    set: &DataSetDefinition,
    input: Shape,
    layers: &[Layer],
) -> Result<Model, Mistake> {
    let list = Place::default().field("layers");
    if layers.is_empty() || layers.len() > MOST_LAYERS {
        return Err(list.mistake(format!("there must be 1 to {MOST_LAYERS} layers, and here are {}", layers.len())));
    }
    let model = Model { name, input, nodes: Vec::new() };
    let current = Reading { source: Source::Data, is_flat: false };
    let mut network = Network { set, model, places: Vec::new(), current, labels: BTreeMap::new(), takes: None };
    for (number, layer) in layers.iter().enumerate() {
        network.add(&list.item(number), layer)?;
    }
    network.finish(&list)
}

/// What a layer reads.
#[derive(Clone, Copy, Debug)]
struct Reading {
    source: Source,
    /// Whether `flatten` made a vector of something that was none.
    is_flat: bool,
}

struct Network<'f> {
    set: &'f DataSetDefinition,
    model: Model,
    /// Where each node of the model stands in the file.
    places: Vec<Place>,
    /// What the next layer reads.
    current: Reading,
    labels: BTreeMap<&'f str, Reading>,
    /// The node whose activation the next word may be.
    takes: Option<usize>,
}

impl<'f> Network<'f> {
    fn add(&mut self, place: &Place, layer: &'f Layer) -> Result<(), Mistake> {
        let takes = self.takes.take();
        let activate = |network: &mut Self, activation| network.activate(place, takes, layer.name(), activation);
        match layer {
            Layer::Flatten => {
                self.current.is_flat |= self.shape(self.current.source).pixels() != 1;
                Ok(())
            }
            Layer::Relu => activate(self, Activation::Relu),
            Layer::Tanh => activate(self, Activation::Tanh),
            Layer::Gelu => activate(self, Activation::Gelu),
            Layer::Label(label) => self.keep(&place.field("label"), label),
            Layer::From(label) => {
                let data = Reading { source: Source::Data, is_flat: false };
                self.current = if label == DATA { data } else { self.labelled(&place.field("from"), label)? };
                Ok(())
            }
            _ => self.node(&place.field(layer.name()), layer),
        }
    }

    /// What a label stands for.
    fn labelled(&self, place: &Place, label: &str) -> Result<Reading, Mistake> {
        self.labels.get(label).copied().ok_or_else(|| {
            let known: Vec<&str> = self.labels.keys().copied().collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            place.mistake(format!("no layer before has the label `{label}`; there are: {known}"))
        })
    }

    fn keep(&mut self, place: &Place, label: &'f str) -> Result<(), Mistake> {
        if self.current.source == Source::Data {
            return Err(place.mistake("no layer is before it that it could be the label of"));
        }
        if label == DATA || label.is_empty() {
            return Err(place.mistake(format!("a label is a word other than `{DATA}`, which is the sample")));
        }
        if self.labels.insert(label, self.current).is_some() {
            return Err(place.mistake(format!("another layer has the label `{label}`")));
        }
        Ok(())
    }

    /// An activation belongs to the layer before it, as back ends compute it.
    fn activate(
        &mut self,
        place: &Place,
        takes: Option<usize>,
        name: &str,
        activation: Activation,
    ) -> Result<(), Mistake> {
        let layer = takes.map(|node| &mut self.model.nodes[node].layer);
        match layer.and_then(activation_of) {
            Some(own) if *own == Activation::Identity => {
                *own = activation;
                Ok(())
            }
            Some(_) => Err(place.mistake(format!("the layer before `{name}` has an activation already"))),
            None => Err(place.mistake(format!(
                "`{name}` must stand right behind the layer whose activation it is: dense, conv2d, max_pool, average_pool, \
                 batch_norm or add"
            ))),
        }
    }

    /// A layer that becomes a node of the model. `place` is that of its options.
    fn node(&mut self, place: &Place, layer: &'f Layer) -> Result<(), Mistake> {
        let read = match layer {
            // A story's words are read as they are, wherever the layer stands.
            Layer::Embedding(_) => Reading { source: Source::Data, is_flat: false },
            _ => self.current,
        };
        self.check_input(place, layer, read)?;
        let mut inputs = vec![read.source];
        if let Layer::Add(add) = layer {
            inputs.push(self.joined(place, &add.with)?);
        } else if let Layer::Concatenate(join) | Layer::PixelProducts(join) = layer {
            inputs.push(self.joined(place, &join.with)?);
        }
        let shapes: Vec<Shape> = inputs.iter().map(|&source| self.shape(source)).collect();
        let node = translated(place, layer, &shapes, self.set)?;
        check_weights(place, layer, shapes[0], read.source == Source::Data)?;
        let shares = match layer {
            Layer::Embedding(embedding) => self.shared(place, embedding.shares.as_deref())?,
            Layer::WordScores(scores) => self.shared(place, scores.shares.as_deref())?,
            _ => None,
        };
        let weights = weights_of(&node, shapes[0]);
        if weights > MOST_WEIGHTS {
            return Err(place.mistake(format!("it has {weights} weights, and at most {MOST_WEIGHTS} are allowed")));
        }
        self.model.nodes.push(engine::Node { layer: node, inputs, shares });
        self.places.push(place.clone());
        // The tensors of a node that shares are held to those that it shares.
        self.model.shapes().and(self.model.tensors()).map_err(|error| self.mistake(&error))?;
        let node = self.model.nodes.len() - 1;
        let made = self.shape(Source::Node(node));
        let values = u64::from(made.height) * u64::from(made.width) * u64::from(made.channels);
        if values > MOST_VALUES {
            let text = format!("it makes {} of each sample, and at most {MOST_VALUES} values are allowed", text(made));
            return Err(place.mistake(text));
        }
        self.current =
            Reading { source: Source::Node(node), is_flat: read.is_flat && matches!(layer, Layer::Dropout(_)) };
        self.takes = Some(node);
        Ok(())
    }

    /// What every layer may read at all.
    fn check_input(&self, place: &Place, layer: &Layer, read: Reading) -> Result<(), Mistake> {
        let name = layer.name();
        if read.is_flat && !matches!(layer, Layer::Dense(_) | Layer::Dropout(_)) {
            return Err(place.mistake(format!(
                "`{name}` cannot read the vector that `flatten` makes: only dense and dropout may follow it"
            )));
        }
        let reads_words = matches!(layer, Layer::Embedding(_));
        let is_of_words = matches!(self.set.origin, Origin::Stories(_));
        let can_begin =
            matches!(layer, Layer::Conv2d(_) | Layer::Dense(_) | Layer::Lstm(_) | Layer::Gru(_) | Layer::SimpleRnn(_))
                && !is_of_words;
        let wanted =
            if is_of_words { "embedding, because samples are words" } else { "conv2d, dense, lstm, gru or simple_rnn" };
        if read.source == Source::Data && !can_begin && !(reads_words && is_of_words) {
            return Err(place.mistake(format!(
                "`{name}` cannot read the samples of {} as they are: this must be {wanted}",
                self.set.name
            )));
        }
        Ok(())
    }

    fn joined(&self, place: &Place, label: &str) -> Result<Source, Mistake> {
        let place = place.field("with");
        let reading = self.labelled(&place, label)?;
        if reading.is_flat {
            return Err(place.mistake("only dense and dropout can read the vector that `flatten` makes"));
        }
        Ok(reading.source)
    }

    /// The embedding whose vectors a layer reads as well.
    fn shared(&self, place: &Place, label: Option<&str>) -> Result<Option<usize>, Mistake> {
        let Some(label) = label else { return Ok(None) };
        let place = place.field("shares");
        let Reading { source, .. } = self.labelled(&place, label)?;
        let Source::Node(node) = source else { unreachable!("the data has no label") };
        match self.model.nodes[node] {
            engine::Node { layer: Node::Embedding { .. }, shares: None, .. } => Ok(Some(node)),
            _ => Err(place.mistake(format!("`{label}` is no embedding with vectors of its own"))),
        }
    }

    fn shape(&self, source: Source) -> Shape {
        match source {
            Source::Data => self.model.input,
            Source::Node(node) => self.model.shapes().map_or(self.model.input, |shapes| shapes[node]),
        }
    }

    /// What the engine says of a node, where the file has it.
    fn mistake(&self, error: &ModelError) -> Mistake {
        match error {
            ModelError::WindowTooLarge { layer, window: [rows, columns], height, width, .. } => {
                let size =
                    if matches!(self.model.nodes[*layer].layer, Node::Conv2d { .. }) { "kernel_size" } else { "size" };
                self.places[*layer].field(size).mistake(format!(
                    "a window of {rows} × {columns} does not fit into the layer's input of {height} × {width}; it needs a \
                     smaller one, or padding"
                ))
            }
            ModelError::Impossible { layer, reason, .. } | ModelError::Unsupported { layer, reason, .. } => {
                self.places[*layer].mistake(format!("this is not possible here: {reason}"))
            }
        }
    }

    /// The whole, held to what only the whole shows.
    fn finish(self, list: &Place) -> Result<Model, Mistake> {
        let Some(last) = self.model.nodes.len().checked_sub(1) else {
            return Err(list.mistake("no layer computes anything"));
        };
        if self.current.source != Source::Node(last) {
            return Err(list.mistake("`from` is the last word, and nothing reads what it names"));
        }
        self.check_logits(last)?;
        for (number, place) in self.places.iter().enumerate().take(last) {
            if !self.readers(Source::Node(number)).any(|_| true) {
                return Err(place.mistake("nothing reads what this layer makes"));
            }
        }
        let (recurrent, others): (Vec<usize>, Vec<usize>) =
            self.readers(Source::Data).partition(|&node| self.model.nodes[node].layer.is_recurrent());
        if let (false, Some(&other)) = (recurrent.is_empty(), others.first()) {
            return Err(self.places[other].mistake("where a recurrent layer reads the samples, only such layers can"));
        }
        self.model.check().map_err(|error| self.mistake(&error))?;
        Ok(self.model)
    }

    fn readers(&self, source: Source) -> impl Iterator<Item = usize> {
        let nodes = self.model.nodes.iter().enumerate();
        nodes.filter(move |(_, node)| node.inputs.contains(&source)).map(|(number, _)| number)
    }

    /// The last layer makes a number for each class.
    fn check_logits(&self, last: usize) -> Result<(), Mistake> {
        let (place, set, classes) = (&self.places[last], &self.set.name, self.set.train.classes);
        let made = self.shape(Source::Node(last)).features();
        match &self.model.nodes[last].layer {
            Node::Dense { activation: Activation::Identity, .. } if made != classes => {
                Err(place.field("units").mistake(format!(
                    "the last layer makes {made} numbers, and {set} has {classes} classes: `units` must be {classes}"
                )))
            }
            Node::Dense { activation: Activation::Identity, .. } | Node::WordScores { .. } if made == classes => Ok(()),
            Node::Dense { .. } => {
                Err(place.mistake("the last layer makes the logits, on which the loss works: it has no activation"))
            }
            Node::Softmax { .. } => Err(place.mistake(
                "the loss takes logits and makes their softmax itself: leave this one out, and end with `dense`",
            )),
            _ => Err(place.mistake(format!(
                "the last layer must be `dense` with {classes} units, one for each class of {set}, or `word_scores`"
            ))),
        }
    }
}

fn activation_of(layer: &mut Node) -> Option<&mut Activation> {
    match layer {
        Node::Conv2d { activation, .. }
        | Node::Dense { activation, .. }
        | Node::Pool { activation, .. }
        | Node::Add { activation }
        | Node::BatchNorm { activation, .. } => Some(activation),
        _ => None,
    }
}

/// For people.
pub(crate) fn text(shape: Shape) -> String {
    let Shape { height, width, channels } = shape;
    if shape.pixels() == 1 { format!("a vector of {channels}") } else { format!("{height} × {width} × {channels}") }
}

/// Of units, filters and the like.
const MOST_CHANNELS: u32 = 1 << 16;
/// Of windows and their strides.
const LARGEST_SIDE: u32 = 256;

/// The engine's layer; `inputs` are the shapes that it reads.
pub(crate) fn translated(
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
fn check_weights(place: &Place, layer: &Layer, input: Shape, reads_data: bool) -> Checked {
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
fn weights_of(layer: &Node, input: Shape) -> u64 {
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

/// What an initialiser is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tensor {
    /// Of a convolution of `filters`, each of this size, that reads `channels`.
    Kernel {
        filters: u32,
        size: KernelSize,
        channels: u32,
        reads_data: bool,
    },
    Matrix,
    Bias,
}

fn check_initializer(place: &Place, initializer: Initializer, tensor: Tensor) -> Checked {
    match initializer {
        Initializer::GlorotUniform => Ok(()),
        Initializer::FanInUniform { scale } => positive(&place.field("fan_in_uniform").field("scale"), scale),
        Initializer::Uniform { limit } => positive(&place.field("uniform").field("limit"), limit),
        Initializer::Normal { deviation } => positive(&place.field("normal").field("deviation"), deviation),
        Initializer::FanInNormal { scale } => positive(&place.field("fan_in_normal").field("scale"), scale),
        Initializer::TruncatedNormal { deviation } => {
            positive(&place.field("truncated_normal").field("deviation"), deviation)
        }
        Initializer::Constant { value } => finite(&place.field("constant").field("value"), value),
        Initializer::Orthogonal if tensor == Tensor::Bias => {
            Err(place.mistake("`orthogonal` is for matrices, and a bias is none"))
        }
        Initializer::Orthogonal => Ok(()),
        Initializer::Dirac if matches!(tensor, Tensor::Kernel { .. }) => Ok(()),
        Initializer::Dirac => Err(place.mistake("`dirac` copies channels, which only the kernel of a `conv2d` can")),
        Initializer::WhitenedPatches { epsilon } => whitened(place, epsilon, tensor),
    }
}

/// Eigenvectors of the patches of the images, and their negatives.
fn whitened(place: &Place, epsilon: f64, tensor: Tensor) -> Checked {
    /// The covariance of larger patches takes minutes.
    const LARGEST_SIDE: u32 = 5;
    positive(&place.field("whitened_patches").field("epsilon"), epsilon)?;
    let Tensor::Kernel { filters, size, channels: channels @ 3, reads_data: true } = tensor else {
        let text = "`whitened_patches` is for a `conv2d` that reads colour images as they are";
        return Err(place.mistake(text));
    };
    let [side, width] = size.sides();
    let wanted = 2 * side * side * channels;
    if side > LARGEST_SIDE || side != width || filters != wanted {
        return Err(place.mistake(format!(
            "`whitened_patches` makes 2 · kernel_size² · {channels} filters, with a kernel_size of at most {LARGEST_SIDE}; \
             here are {filters} of {side} × {width}"
        )));
    }
    Ok(())
}

fn check_multipliers(place: &Place, multipliers: Multipliers) -> Checked {
    let Multipliers { learning_rate, weight_decay, frozen_from } = multipliers;
    not_negative(&place.field("learning_rate"), learning_rate)?;
    not_negative(&place.field("weight_decay"), weight_decay)?;
    frozen_from.map_or(Ok(()), |from| share(&place.field("frozen_from"), from))
}
