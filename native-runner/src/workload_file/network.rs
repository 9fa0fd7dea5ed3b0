//! Converts the layers of a file to the engine's model, and checks each one at its position.

use std::collections::BTreeMap;

use engine::{
    Activation, DataSetDefinition, Initializer, Layer as Node, Model, ModelError, Origin, Padding, PoolKind, Rounding,
    Shape, Source, TensorSpec,
};

use crate::workload_file::definition::{Conv2d, FileLayer, Pool, Recurrent};
use crate::workload_file::place::{Located, Mistake};

/// Limit on the values that a layer outputs per sample.
const MAX_VALUES: u64 = 1 << 22;
const MAX_WEIGHTS: usize = 1 << 27;
const MAX_LAYERS: usize = 1024;
/// Largest side of whitened patches; the covariance of larger ones takes minutes.
const MAX_PATCH_SIDE: u32 = 5;
/// Name of the sample in `from`.
const DATA: &str = "data";

pub(crate) fn model(
    name: &'static str,
    set: &DataSetDefinition,
    input: Shape,
    layers: &[FileLayer],
    list: Located<'_>,
) -> Result<Model, Mistake> {
    if layers.is_empty() || layers.len() > MAX_LAYERS {
        return list.refuse(format!("there must be 1 to {MAX_LAYERS} layers, not {}", layers.len()));
    }
    let model = Model { name, input, nodes: Vec::new() };
    let current = LayerInput { source: Source::Data, is_flat: false };
    let mut network = NetworkBuilder { set, model, places: Vec::new(), current, labels: BTreeMap::new(), takes: None };
    for (number, layer) in layers.iter().enumerate() {
        let place = list.item(number);
        network.add(place, place.layer_name(), layer)?;
    }
    network.finish(list)
}

#[derive(Clone, Copy, Debug)]
struct LayerInput {
    source: Source,
    /// True after `flatten`, if the input was no vector.
    is_flat: bool,
}

struct NetworkBuilder<'f> {
    set: &'f DataSetDefinition,
    model: Model,
    /// Options of each node.
    places: Vec<Located<'f>>,
    current: LayerInput,
    labels: BTreeMap<&'f str, LayerInput>,
    /// Node that can take an activation from the next word.
    takes: Option<usize>,
}

impl<'f> NetworkBuilder<'f> {
    fn add(&mut self, place: Located<'f>, name: &str, layer: &'f FileLayer) -> Result<(), Mistake> {
        let takes = self.takes.take();
        match layer {
            FileLayer::Relu => self.activate(place, name, takes, Activation::Relu),
            FileLayer::Tanh => self.activate(place, name, takes, Activation::Tanh),
            FileLayer::Gelu => self.activate(place, name, takes, Activation::Gelu),
            FileLayer::Flatten => {
                self.current.is_flat |= self.shape(self.current.source).pixels() != 1;
                Ok(())
            }
            FileLayer::Label(label) => self.keep(place.field(name), label),
            FileLayer::From(label) => {
                let data = LayerInput { source: Source::Data, is_flat: false };
                self.current = if label == DATA { data } else { self.labelled(place.field(name), label)? };
                Ok(())
            }
            _ => self.node(place.field(name), name, layer),
        }
    }

    fn labelled(&self, place: Located<'_>, label: &str) -> Result<LayerInput, Mistake> {
        self.labels.get(label).copied().ok_or_else(|| {
            let known: Vec<&str> = self.labels.keys().copied().collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            place.mistake(format!("no earlier layer has the label `{label}`; available: {known}"))
        })
    }

    fn keep(&mut self, place: Located<'_>, label: &'f str) -> Result<(), Mistake> {
        if self.current.source == Source::Data {
            return place.refuse("a label needs a layer before it");
        }
        if label == DATA || label.is_empty() {
            return place.refuse(format!("a label cannot be `{DATA}`, which is the sample"));
        }
        if self.labels.insert(label, self.current).is_some() {
            return place.refuse(format!("another layer has the label `{label}`"));
        }
        Ok(())
    }

    /// Sets the activation of the previous layer, which backends compute together with it.
    fn activate(&mut self, place: Located<'_>, name: &str, of: Option<usize>, new: Activation) -> Result<(), Mistake> {
        let Some(
            Node::Conv2d { activation, .. }
            | Node::Dense { activation, .. }
            | Node::Pool { activation, .. }
            | Node::Add { activation }
            | Node::BatchNorm { activation, .. },
        ) = of.map(|node| &mut self.model.nodes[node].layer)
        else {
            return place.refuse(format!(
                "`{name}` must directly follow the layer that it activates: dense, conv2d, max_pool, average_pool, \
                 batch_norm or add"
            ));
        };
        if *activation != Activation::Identity {
            return place.refuse(format!("the layer before `{name}` already has an activation"));
        }
        *activation = new;
        Ok(())
    }

    /// Adds a layer as a node of the model. `place` is the position of its options.
    fn node(&mut self, place: Located<'f>, name: &str, layer: &FileLayer) -> Result<(), Mistake> {
        let read = match layer {
            // Words and characters are read unchanged, at any position in the network.
            FileLayer::Embedding { .. } => LayerInput { source: Source::Data, is_flat: false },
            _ => self.current,
        };
        self.check_input(place, name, layer, read)?;
        let mut inputs = vec![read.source];
        if let FileLayer::Add { with, .. } | FileLayer::Concatenate { with } | FileLayer::PixelProducts { with } = layer
        {
            let place = place.field("with");
            let reading = self.labelled(place, with)?;
            if reading.is_flat {
                return place.refuse("only dense and dropout can read the output of `flatten`");
            }
            inputs.push(reading.source);
        }
        let shapes: Vec<Shape> = inputs.iter().map(|&source| self.shape(source)).collect();
        let node = translate(place, layer, shapes[0], self.set)?;
        if self.set.is_text() && !node.is_causal(shapes[0]) {
            let advice = match layer {
                FileLayer::Attention { .. } => "needs `causal = true`",
                FileLayer::Conv2d(_) => "needs `kernel_size = 1` and no stride",
                FileLayer::Embedding { .. } => "must read the whole window, without `first` and `count`",
                _ => "is not possible in a network that reads a text",
            };
            return place
                .refuse(format!("`{name}` {advice}: a character must not see later ones, which are predicted"));
        }
        check_initializers(place, layer, shapes[0], read.source == Source::Data)?;
        let shares = self.shared(place, layer)?;
        self.model.nodes.push(engine::Node { layer: node, inputs, shares });
        self.places.push(place);
        let node = self.model.nodes.len() - 1;
        let tensors = self.model.tensors().map_err(|error| self.mistake(&error))?;
        let matrices = tensors.iter().filter(|tensor| tensor.layer == node && tensor.shape.len() > 1);
        let weights: usize = matrices.map(TensorSpec::elements).sum();
        if weights > MAX_WEIGHTS {
            return place.refuse(format!("it has {weights} weights, but at most {MAX_WEIGHTS} are allowed"));
        }
        let made = self.shape(Source::Node(node));
        let values = u64::from(made.height) * u64::from(made.width) * u64::from(made.channels);
        if values > MAX_VALUES {
            let text = format!("its output is {made} per sample, but at most {MAX_VALUES} values are allowed");
            return place.refuse(text);
        }
        let is_flat = read.is_flat && matches!(layer, FileLayer::Dropout { .. });
        self.current = LayerInput { source: Source::Node(node), is_flat };
        self.takes = Some(node);
        Ok(())
    }

    fn check_input(&self, place: Located<'_>, name: &str, layer: &FileLayer, read: LayerInput) -> Result<(), Mistake> {
        if read.is_flat && !matches!(layer, FileLayer::Dense(_) | FileLayer::Dropout { .. }) {
            return place.refuse(format!("`{name}` cannot read the output of `flatten`; only dense and dropout can"));
        }
        let (firsts, wanted): (&[&str], _) = match self.set.origin {
            Origin::Stories(_) => (&["embedding"], "embedding, because samples are words"),
            Origin::Text { .. } => (&["embedding"], "embedding, because samples are characters"),
            _ => (&["conv2d", "dense", "lstm", "gru", "simple_rnn"], "conv2d, dense, lstm, gru or simple_rnn"),
        };
        if read.source != Source::Data || firsts.contains(&name) {
            return Ok(());
        }
        place.refuse(format!("`{name}` cannot read the samples of {}; use {wanted}", self.set.name))
    }

    /// Returns the node that a word layer shares vectors with.
    fn shared(&self, place: Located<'_>, layer: &FileLayer) -> Result<Option<usize>, Mistake> {
        let (FileLayer::Embedding { shares: Some(label), .. } | FileLayer::WordScores { shares: Some(label), .. }) =
            layer
        else {
            return Ok(None);
        };
        let place = place.field("shares");
        let Source::Node(node) = self.labelled(place, label)?.source else { unreachable!("the data has no label") };
        match self.model.nodes[node] {
            engine::Node { layer: Node::Embedding { .. }, shares: None, .. } => Ok(Some(node)),
            _ => place.refuse(format!("`{label}` is not an embedding with its own vectors")),
        }
    }

    fn shape(&self, source: Source) -> Shape {
        match source {
            Source::Data => self.model.input,
            Source::Node(node) => self.model.shapes().map_or(self.model.input, |shapes| shapes[node]),
        }
    }

    fn mistake(&self, error: &ModelError) -> Mistake {
        match error {
            ModelError::Impossible { layer, reason, .. } => {
                let place = self.places[*layer];
                // The option that the engine's reason is about.
                let place = match self.model.nodes[*layer].layer {
                    Node::Conv2d { .. } => place.field("kernel_size"),
                    Node::Pool { .. } => place.field("size"),
                    Node::Gru { .. } | Node::SimpleRnn { .. } => place.field("activation"),
                    Node::Add { .. } | Node::Concatenate | Node::PixelProducts => place.field("with"),
                    _ => place,
                };
                place.mistake(reason.as_str())
            }
            ModelError::Unsupported { layer, reason, .. } => {
                self.places[*layer].mistake(format!("this is not possible here: {reason}"))
            }
        }
    }

    fn finish(self, list: Located<'_>) -> Result<Model, Mistake> {
        let Some(last) = self.model.nodes.len().checked_sub(1) else {
            return list.refuse("no layer computes anything");
        };
        if self.current.source != Source::Node(last) {
            return list.refuse("`from` is the last entry, so no layer reads it");
        }
        self.check_logits(last)?;
        if let Some(unread) = (0..last).find(|&node| self.readers(Source::Node(node)).next().is_none()) {
            return self.places[unread].refuse("no layer reads the output of this layer");
        }
        let (recurrent, others): (Vec<usize>, Vec<usize>) =
            self.readers(Source::Data).partition(|&node| self.model.nodes[node].layer.is_recurrent());
        if let (false, Some(&other)) = (recurrent.is_empty(), others.first()) {
            return self.places[other].refuse("only recurrent layers can read the samples if one of them does");
        }
        self.model.check().map_err(|error| self.mistake(&error))?;
        Ok(self.model)
    }

    fn readers(&self, source: Source) -> impl Iterator<Item = usize> {
        let nodes = self.model.nodes.iter().enumerate();
        nodes.filter(move |(_, node)| node.inputs.contains(&source)).map(|(number, _)| number)
    }

    fn check_logits(&self, last: usize) -> Result<(), Mistake> {
        let (place, set, classes) = (self.places[last], &self.set.name, self.set.train.classes);
        let made = self.shape(Source::Node(last));
        let positions = if self.set.is_text() { self.model.input.features() } else { 1 };
        match &self.model.nodes[last].layer {
            Node::WordScores { .. } if made.pixels() == positions => Ok(()),
            Node::WordScores { .. } => place.refuse(format!(
                "the number of pixels that it scores must be {positions}, as many as a sample of {set} has labels, but is {}",
                made.pixels()
            )),
            _ if self.set.is_text() => place.refuse(format!(
                "the last layer must be `word_scores`, which scores the {classes} characters of {set} at each place in the \
                 window"
            )),
            Node::Dense { activation: Activation::Identity, units, .. } if *units != classes => {
                place.field("units").refuse(format!(
                    "the last layer has {units} outputs, but {set} has {classes} classes: `units` must be {classes}"
                ))
            }
            Node::Dense { activation: Activation::Identity, .. } => Ok(()),
            Node::Dense { .. } => {
                place.refuse("the last layer computes the logits for the loss, so it cannot have an activation")
            }
            Node::Softmax { .. } => {
                place.refuse("the loss computes the softmax itself: remove this layer, and end with `dense`")
            }
            _ => place.refuse(format!(
                "the last layer must be `dense` with {classes} units, one for each class of {set}, or `word_scores`"
            )),
        }
    }
}

/// Returns the engine's layer. Checks bounds that depend on other numbers.
fn translate(place: Located<'_>, layer: &FileLayer, input: Shape, set: &DataSetDefinition) -> Result<Node, Mistake> {
    // Every word of a data set may be an answer: the words are its classes.
    let vocabulary = set.train.classes;
    Ok(match *layer {
        FileLayer::Dense(ref dense) => {
            Node::Dense { units: dense.units, activation: dense.activation, weights: dense.weights() }
        }
        FileLayer::Conv2d(ref convolution) => {
            let &Conv2d { filters, kernel_size: size, stride, padding, activation, .. } = convolution;
            if let Padding::Zeros(zeros) = padding {
                let [rows, columns] = size.sides();
                place.field("padding").field("zeros").check_whole(zeros, 0, rows.min(columns) - 1)?;
            }
            Node::Conv2d { filters, size, stride, padding, activation, weights: convolution.weights() }
        }
        FileLayer::MaxPool(ref window) => pool(place, PoolKind::Max, window)?,
        FileLayer::AveragePool(ref window) => pool(place, PoolKind::Average, window)?,
        FileLayer::Dropout { rate } => Node::Dropout { rate },
        FileLayer::BatchNorm { epsilon, momentum: keep, trained_scale, activation, bias_multipliers: bias } => {
            Node::BatchNorm { epsilon, keep, trained_scale, bias, activation }
        }
        FileLayer::LayerNorm { epsilon, bias, scale_multipliers: scale, bias_multipliers } => {
            Node::LayerNorm { epsilon, scale, bias: bias.then_some(bias_multipliers) }
        }
        FileLayer::LocalResponseNorm { radius, bias, alpha, beta } => {
            Node::LocalResponseNorm { radius, bias, alpha, beta }
        }
        FileLayer::Lstm { units, recurrent_initializer: recurrent } => Node::Lstm { units, recurrent },
        FileLayer::Gru(Recurrent { units, activation, recurrent_initializer: recurrent }) => {
            Node::Gru { units, activation, recurrent }
        }
        FileLayer::SimpleRnn(Recurrent { units, activation, recurrent_initializer: recurrent }) => {
            Node::SimpleRnn { units, activation, recurrent }
        }
        FileLayer::Embedding { units, first, count, zero_padding, initializer, .. } => {
            let words = input.features();
            place.field("first").check_whole(first, 0, words - 1)?;
            let count = count.unwrap_or(words - first);
            place.field("count").check_whole(count, 1, words - first)?;
            Node::Embedding { vocabulary, units, first, count, zero_padding, initializer }
        }
        FileLayer::PositionEmbedding { initializer } => Node::PositionEmbedding { initializer },
        FileLayer::Attention { heads, causal } => Node::Attention { heads, causal },
        FileLayer::Add { activation, .. } => Node::Add { activation },
        FileLayer::Concatenate { .. } => Node::Concatenate,
        FileLayer::PixelProducts { .. } => Node::PixelProducts,
        FileLayer::SentenceSum { words } => Node::SentenceSum { words },
        FileLayer::WordScores { initializer, .. } => Node::WordScores { vocabulary, initializer },
        FileLayer::Softmax { linear_until } => Node::Softmax { linear_until },
        FileLayer::Transpose => Node::Transpose,
        FileLayer::Flatten
        | FileLayer::Relu
        | FileLayer::Tanh
        | FileLayer::Gelu
        | FileLayer::Label(_)
        | FileLayer::From(_) => unreachable!("such words make no node"),
    })
}

fn pool(place: Located<'_>, kind: PoolKind, pool: &Pool) -> Result<Node, Mistake> {
    let &Pool { size: side, padding, rounding, activation, .. } = pool;
    let stride = pool.stride.unwrap_or(side);
    place.field("padding").check_whole(padding, 0, side - 1)?;
    if rounding == Rounding::Ceil && padding + stride > side {
        return place.field("rounding").refuse(
            "rounded up, a window could be outside the image: `stride` plus `padding` must not be larger than \
             `size`",
        );
    }
    Ok(Node::Pool { kind, side, stride, padding, rounding, activation })
}

/// Checks that each tensor supports its initializer.
fn check_initializers(place: Located<'_>, layer: &FileLayer, input: Shape, reads_data: bool) -> Result<(), Mistake> {
    let no_bias = Initializer::GlorotUniform;
    let (kernel, field, bias) = match *layer {
        FileLayer::Dense(ref dense) => (dense.kernel_initializer, "kernel_initializer", dense.bias_initializer),
        FileLayer::Conv2d(ref conv2d) => (conv2d.kernel_initializer, "kernel_initializer", conv2d.bias_initializer),
        FileLayer::Lstm { recurrent_initializer: of, .. }
        | FileLayer::Gru(Recurrent { recurrent_initializer: of, .. })
        | FileLayer::SimpleRnn(Recurrent { recurrent_initializer: of, .. }) => (of, "recurrent_initializer", no_bias),
        FileLayer::Embedding { initializer, .. }
        | FileLayer::PositionEmbedding { initializer }
        | FileLayer::WordScores { initializer, .. } => (initializer, "initializer", no_bias),
        _ => return Ok(()),
    };
    for (initializer, field, is_kernel) in [(bias, "bias_initializer", false), (kernel, field, true)] {
        let place = place.field(field);
        match (initializer, layer) {
            (Initializer::Orthogonal, _) if !is_kernel => {
                return place.refuse("`orthogonal` is for matrices, not for a bias");
            }
            (Initializer::Dirac, FileLayer::Conv2d(_)) if is_kernel => {}
            (Initializer::Dirac, _) => {
                return place.refuse("`dirac` copies channels, so only the kernel of a `conv2d` can use it");
            }
            (Initializer::WhitenedPatches { .. }, &FileLayer::Conv2d(Conv2d { filters, kernel_size, .. }))
                if is_kernel && reads_data && input.channels == 3 =>
            {
                let [side, width] = kernel_size.sides();
                if side > MAX_PATCH_SIDE || side != width || filters != 2 * side * side * 3 {
                    return place.refuse(format!(
                        "`whitened_patches` needs 2 · kernel_size² · 3 filters and a kernel_size of at most \
                         {MAX_PATCH_SIDE}, not {filters} filters of {side} × {width}"
                    ));
                }
            }
            (Initializer::WhitenedPatches { .. }, _) => {
                return place.refuse("`whitened_patches` is for a `conv2d` that reads color images directly");
            }
            _ => {}
        }
    }
    Ok(())
}
