//! One pass through the layers of a model with Burn's tensor operations.

mod layers;
#[cfg(feature = "burn-remote")]
pub(super) mod shared_normalization;

use burn_tensor::{Device, Gradients, Tensor, activation, module};
use shaders::params::Step;

use super::functions::Functions;
use super::value::{Arrangement, AxisOrder, LayerValue, sides};
use crate::backends::list;
use crate::error::Result;
use crate::model::{Cell, Layer, Model, Node, Padding, Shape, Source, TensorSpec};

pub(super) struct Network {
    layers: Vec<Planned>,
    data: Planned,
    pub(super) arrangements: Vec<Arrangement>,
}

#[derive(Clone)]
struct Planned {
    node: Node,
    input: Shape,
    output: Shape,
    order: AxisOrder,
    tensor: usize,
    dropout: u32,
    /// Index of the last layer that reads its output.
    last_reader: usize,
    functions: Functions,
}

/// Settings of a forward pass, and what it records.
pub(super) struct Tape<'a> {
    pub(super) device: &'a Device,
    pub(super) step: &'a Step,
    pub(super) dropout: bool,
    pub(super) leaves: Leaves<'a>,
    /// Running averages updated by the pass, with their tensor indices.
    pub(super) statistics: Vec<(usize, Tensor<1>)>,
}

/// Computed values that later layers still read.
pub(super) struct Made {
    data: Option<LayerValue>,
    values: Vec<Option<LayerValue>>,
}

impl Made {
    fn of(&mut self, source: Source) -> &mut Option<LayerValue> {
        match source {
            Source::Data => &mut self.data,
            Source::Node(node) => &mut self.values[node],
        }
    }
}

impl Network {
    pub(super) fn new(model: &Model, functions: Functions) -> Result<Self> {
        let specs = model.tensors()?;
        let shapes = model.shapes()?;
        if let Some(error) = list::by_burn(model) {
            return Err(error.into());
        }
        let data = Planned {
            node: Node { layer: Layer::Dropout { rate: 0.0 }, inputs: Vec::new(), shares: None },
            input: model.input,
            output: model.input,
            order: order_of_data(model),
            tensor: 0,
            dropout: 0,
            last_reader: last_reader(model, Source::Data),
            functions,
        };
        let mut network = Self { layers: Vec::new(), data, arrangements: Vec::new() };
        let mut dropouts = 0;
        for (index, (node, &output)) in model.nodes.iter().zip(&shapes).enumerate() {
            let read = network.source(node.inputs[0]);
            let planned = Planned {
                order: order_of(&node.layer, read.order, output),
                input: read.output,
                output,
                tensor: {
                    let owner = model.owner(index);
                    specs.iter().position(|spec| spec.layer == owner).unwrap_or(specs.len())
                },
                dropout: dropouts,
                last_reader: last_reader(model, Source::Node(index)),
                functions,
                node: node.clone(),
            };
            dropouts += u32::from(matches!(node.layer, Layer::Dropout { .. }));
            network.layers.push(planned);
        }
        network.arrangements = specs.iter().map(|spec| network.arrangement(spec)).collect();
        Ok(network)
    }

    fn source(&self, source: Source) -> &Planned {
        match source {
            Source::Data => &self.data,
            Source::Node(node) => &self.layers[node],
        }
    }

    /// Returns the layout of a tensor. Convolution kernels store filters first, and dense weights follow their input.
    fn arrangement(&self, spec: &TensorSpec) -> Arrangement {
        let layer = &self.layers[spec.layer];
        let shape: Vec<usize> = spec.shape.iter().map(|&side| side as usize).collect();
        let read = self.source(layer.node.inputs[0]).order;
        match layer.node.layer {
            Layer::Conv2d { .. } if shape.len() == 4 && layer.order == AxisOrder::ChannelsFirst => {
                Arrangement::new(shape, &[3, 2, 0, 1])
            }
            Layer::Dense { units, .. } if shape.len() == 2 && read == AxisOrder::ChannelsFirst => {
                let [height, width, channels] = sides(layer.input);
                Arrangement::new(vec![height, width, channels, units as usize], &[2, 0, 1, 3])
            }
            _ => Arrangement::plain(spec.elements()),
        }
    }

    /// Returns the layout that [`Network::forward`] expects of a batch, from (rows, height, width, channels).
    pub(super) fn arrangement_of_data(&self, rows: usize) -> Arrangement {
        layers::arrangement(self.data.order, rows, self.data.output)
    }

    pub(super) fn forward(&self, pass: &mut Tape<'_>, batch: Tensor<1>) -> Tensor<2> {
        let mut made = self.begin(pass.step, batch);
        self.finish(&mut made, pass)
    }

    pub(super) fn begin(&self, step: &Step, batch: Tensor<1>) -> Made {
        let batch = batch.reshape([step.count as usize, self.data.output.features() as usize]);
        let data = Some(LayerValue::Flat(batch).ordered(self.data.order, self.data.output));
        Made { data, values: Vec::with_capacity(self.layers.len()) }
    }

    pub(super) fn advance(&self, made: &mut Made, pass: &mut Tape<'_>, until: usize) {
        for index in made.values.len()..until {
            let inputs = self.read(made, index);
            made.values.push(Some(self.layer(&self.layers[index], inputs, pass)));
        }
    }

    /// Takes the inputs of a layer, dropping values that no later layer reads.
    fn read(&self, made: &mut Made, index: usize) -> Vec<LayerValue> {
        let node = &self.layers[index].node;
        let read = |&source: &Source| {
            let value = made.of(source);
            let is_last = self.source(source).last_reader == index && node.inputs.len() == 1;
            let value = if is_last { value.take() } else { value.clone() };
            value.expect("a value is kept until its last reader")
        };
        node.inputs.iter().map(read).collect()
    }

    /// Computes the remaining layers and returns (rows, classes).
    pub(super) fn finish(&self, made: &mut Made, pass: &mut Tape<'_>) -> Tensor<2> {
        self.advance(made, pass, self.layers.len());
        let logits = made.values.pop().flatten().or_else(|| made.data.take()).expect("there is at least the data");
        let last = self.layers.last().unwrap_or(&self.data);
        match last.order {
            AxisOrder::ChannelsFirst => logits.channels_last(last.output).flatten(1, 2),
            AxisOrder::ChannelsLast | AxisOrder::Flat => logits.flat(),
        }
    }

    fn layer(&self, layer: &Planned, inputs: Vec<LayerValue>, pass: &mut Tape<'_>) -> LayerValue {
        let mut inputs = inputs.into_iter();
        let input = inputs.next().expect("every layer reads something");
        match layer.node.layer {
            Layer::Conv2d { .. } => layer.convolution(input, pass),
            Layer::Pool { .. } => layer.pool(input),
            Layer::Dense { units, activation, weights } => {
                let sides = [layer.input.features() as usize, units as usize];
                let kernel = pass.leaves.shaped(layer.tensor, sides);
                let bias = weights.bias.map(|_| pass.leaves.vector(layer.tensor + 1));
                LayerValue::Flat(module::linear(input.flat(), kernel, bias)).activated(activation, layer.functions)
            }
            Layer::Dropout { rate } => layer.dropped(input, rate, pass),
            Layer::LocalResponseNorm { radius, bias, alpha, beta } => {
                layer.local_response(input, radius, [bias, alpha, beta])
            }
            Layer::Lstm { units, .. } => layer.recurrent(input, Cell::Lstm, units, pass),
            Layer::Gru { units, activation, .. } => layer.recurrent(input, Cell::Gru(activation), units, pass),
            Layer::SimpleRnn { units, activation, .. } => {
                layer.recurrent(input, Cell::SimpleRnn(activation), units, pass)
            }
            Layer::Embedding { vocabulary, units, first, count, zero_padding, .. } => {
                layer.embedding(input, [vocabulary, units], first..first + count, zero_padding, pass)
            }
            Layer::SentenceSum { words } => layer.sentence_sum(input, words as usize, pass),
            Layer::WordScores { vocabulary, .. } => {
                let sides = [vocabulary, layer.input.channels].map(|side| side as usize);
                LayerValue::Flat(input.flat().matmul(pass.leaves.shaped(layer.tensor, sides).transpose()))
            }
            Layer::PixelProducts => {
                let second = self.second(layer, inputs.next());
                LayerValue::ChannelsLast(input.channels_last(layer.input).matmul(second.swap_dims(1, 2)))
            }
            Layer::Softmax { linear_until } => {
                let x = input.channels_last(layer.input);
                let is_linear = linear_until > 0.0 && pass.step.linear == 1;
                LayerValue::ChannelsLast(if is_linear { x } else { activation::softmax(x, 2) })
            }
            Layer::Transpose => LayerValue::ChannelsLast(input.channels_last(layer.input).swap_dims(1, 2)),
            Layer::Concatenate => {
                let second = self.second(layer, inputs.next());
                LayerValue::ChannelsLast(Tensor::cat(vec![input.channels_last(layer.input), second], 2))
            }
            Layer::Add { activation } => {
                let second = inputs.next().expect("a sum reads two values");
                let shape = self.source(layer.node.inputs[1]).output;
                add(input, second.ordered(layer.order, shape)).activated(activation, layer.functions)
            }
            Layer::BatchNorm { epsilon, keep, activation, .. } => {
                layer.batch_norm(input, epsilon, keep, pass).activated(activation, layer.functions)
            }
            Layer::LayerNorm { epsilon } => layer.layer_norm(input, epsilon, pass),
            Layer::PositionEmbedding { .. } => layer.position(input, pass),
            Layer::Attention { heads } => layer.attention(input, heads as usize),
        }
    }

    /// Returns the second input as (rows, pixels, channels).
    fn second(&self, layer: &Planned, value: Option<LayerValue>) -> Tensor<3> {
        let value = value.expect("this layer reads two values");
        value.channels_last(self.source(layer.node.inputs[1]).output)
    }
}

/// Adds values of the same layout. The second may have a single pixel.
fn add(first: LayerValue, second: LayerValue) -> LayerValue {
    match (first, second) {
        (LayerValue::ChannelsFirst(a), LayerValue::ChannelsFirst(b)) => LayerValue::ChannelsFirst(a + b),
        (LayerValue::ChannelsLast(a), LayerValue::ChannelsLast(b)) => LayerValue::ChannelsLast(a + b),
        (LayerValue::Flat(a), LayerValue::Flat(b)) => LayerValue::Flat(a + b),
        _ => unreachable!("the second value was brought into the order of the first"),
    }
}

/// Returns the layout of a layer's output, given the layout of its input.
fn order_of(layer: &Layer, read: AxisOrder, output: Shape) -> AxisOrder {
    match layer {
        Layer::Conv2d { size, stride: 1, padding: Padding::Valid | Padding::Same, .. }
            if size.area() == 1 && read == AxisOrder::ChannelsLast =>
        {
            AxisOrder::ChannelsLast
        }
        Layer::Conv2d { .. } | Layer::Pool { .. } | Layer::LocalResponseNorm { .. } => AxisOrder::ChannelsFirst,
        Layer::BatchNorm { .. } if output.pixels() > 1 || read == AxisOrder::ChannelsFirst => AxisOrder::ChannelsFirst,
        Layer::Dense { .. } | Layer::BatchNorm { .. } | Layer::WordScores { .. } => AxisOrder::Flat,
        Layer::Dropout { .. } | Layer::Add { .. } => read,
        _ => AxisOrder::ChannelsLast,
    }
}

/// Returns the layout expected by the layers that read the data.
fn order_of_data(model: &Model) -> AxisOrder {
    let read_by = |wanted: fn(&Layer) -> bool| {
        model.nodes.iter().any(|node| node.inputs.contains(&Source::Data) && wanted(&node.layer))
    };
    if read_by(|layer| matches!(layer, Layer::Dense { .. } | Layer::Embedding { .. })) {
        AxisOrder::Flat
    } else if read_by(Layer::is_recurrent) {
        AxisOrder::ChannelsLast
    } else {
        AxisOrder::ChannelsFirst
    }
}

fn last_reader(model: &Model, source: Source) -> usize {
    model.nodes.iter().rposition(|node| node.inputs.contains(&source)).unwrap_or(usize::MAX)
}

/// Model tensors for one pass. In training, the trained tensors are leaves of the graph.
pub(super) struct Leaves<'a> {
    tensors: &'a [Tensor<1>],
    /// Flags of the tensors trained by this pass; empty outside of training.
    trained: &'a [bool],
    pub(super) read: ReadLeaves,
}

/// Takes the flat gradient of a leaf, if it has one.
pub(super) type TakeGradient = Box<dyn FnOnce(&mut Gradients) -> Option<Tensor<1>>>;

impl<'a> Leaves<'a> {
    pub(super) fn new(tensors: &'a [Tensor<1>], trained: &'a [bool]) -> Self {
        Self { tensors, trained, read: Vec::new() }
    }

    pub(super) fn vector(&mut self, tensor: usize) -> Tensor<1> {
        self.leaf(tensor, self.plain(tensor))
    }

    pub(super) fn shaped<const D: usize>(&mut self, tensor: usize, sides: [usize; D]) -> Tensor<D> {
        self.leaf(tensor, self.plain(tensor).reshape(sides))
    }

    /// Returns a tensor that is not part of the graph.
    pub(super) fn plain(&self, tensor: usize) -> Tensor<1> {
        self.tensors[tensor].clone()
    }

    fn leaf<const D: usize>(&mut self, tensor: usize, value: Tensor<D>) -> Tensor<D> {
        if self.trained.get(tensor) != Some(&true) {
            return value;
        }
        let leaf = value.autodiff().require_grad();
        let kept = leaf.clone();
        let take = move |gradients: &mut Gradients| {
            let gradient = kept.grad_remove(gradients)?;
            let elements = gradient.shape().num_elements();
            Some(gradient.reshape([elements]))
        };
        self.read.push((tensor, Box::new(take)));
        leaf
    }
}

/// Model tensors that are leaves of a graph.
pub(super) type ReadLeaves = Vec<(usize, TakeGradient)>;

/// Adds the gradients of a graph's leaves to the tensors' gradients. Layers that share a tensor have one leaf each.
pub(super) fn add_gradients(leaves: ReadLeaves, gradients: &mut Gradients, found: &mut [Option<Tensor<1>>]) {
    for (tensor, take_gradient) in leaves {
        if let Some(gradient) = take_gradient(gradients) {
            add_gradient(found, tensor, gradient);
        }
    }
}

pub(super) fn add_gradient(found: &mut [Option<Tensor<1>>], tensor: usize, gradient: Tensor<1>) {
    found[tensor] = Some(match found[tensor].take() {
        Some(others) => others + gradient,
        None => gradient,
    });
}
