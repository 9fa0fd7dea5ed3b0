//! Open class: language models from files. A leaderboard receives their definition before they train, and computes
//! parts of the training and the test again. Definitions come from anyone, so every number has bounds.

use results::Goal;
use results::api::OPEN_SUITE;
use serde::Deserialize;
use serde_json::Value;

use super::{ProofObstacle, SuiteDefinition, Workload};
use crate::model::{Activation, Initializer, Layer, Model, ModelError, Multipliers, Node, Shape, Source, Weights};
use crate::training::{Batching, InputRecipe, Loss, Optimizer, Rule, SampleOrder, Schedule, WeightAverage};

/// Suite of the open class. Its networks are from files, and its runs never rank among the runs of other suites.
pub const OPEN: SuiteDefinition = SuiteDefinition {
    name: OPEN_SUITE,
    version: 1,
    description: "A language model from a file, for the epochs in the file or ten minutes of training, whichever is \
                  shorter.",
    workloads: &[],
    // `SuiteDefinition::epochs_of` reads them from the file.
    epochs: 0,
    training_seconds: 600.0,
};

/// Operations for testing one state on a leaderboard, enough for all of `gpt-nano`'s test set.
pub const MAX_TEST_FLOPS: u64 = 200_000_000_000;
/// Operations of a step, which a leaderboard trains again in a few seconds.
const MAX_STEP_FLOPS: u64 = 40_000_000_000;
/// Estimated memory for a step, or for a batch of a test.
const MAX_BYTES: u64 = 1 << 30;
/// Batch size of a training step that takes as much memory as a batch of a test.
const TEST_BATCH: u32 = 50;
const MAX_NODES: usize = 256;
/// Values that a layer outputs per window.
const MAX_VALUES: u64 = 1 << 22;
const MAX_CHANNELS: u32 = 1 << 16;
const MAX_WINDOW: u32 = 4096;
const MAX_POINTS: usize = 64;
const NAME_CHARACTERS: usize = 40;
const TITLE_CHARACTERS: usize = 100;
const DESCRIPTION_CHARACTERS: usize = 1000;

/// Data sets of the open class.
const DATA_SETS: [&str; 1] = ["moby-dick"];
/// Name of the workload in messages. The texts of a definition do not live as long as the process.
const THIS: &str = "this network";

/// Reason that the open class does not accept a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OpenRefusal {
    pub code: &'static str,
    /// Path in the definition, such as `model.nodes[3]`.
    pub field: String,
    /// Problem and advice, as a sentence.
    pub message: String,
}

type Checked = Result<(), OpenRefusal>;

impl OpenRefusal {
    pub(super) fn new(code: &'static str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, field: field.into(), message: message.into() }
    }
}

fn require(condition: bool, code: &'static str, field: &str, message: impl Into<String>) -> Checked {
    if condition { Ok(()) } else { Err(OpenRefusal::new(code, field, message)) }
}

/// Refuses a number outside of its range, which is given in words.
fn within(condition: bool, field: &str, allowed: &str) -> Checked {
    require(condition, "out_of_range", field, format!("In the open class, `{field}` must be {allowed}."))
}

/// Definition of a network, in the layout of [`Workload`]. Fields that the open class fixes can have any value here;
/// they are compared afterwards.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Definition {
    name: String,
    title: String,
    description: String,
    data_set: String,
    #[serde(rename = "training")]
    _training: Value,
    model: DefinedModel,
    #[serde(rename = "input")]
    _input: Value,
    #[serde(rename = "loss")]
    _loss: Value,
    optimizer: Optimizer,
    average: Option<WeightAverage>,
    #[serde(rename = "early_stopping")]
    _early_stopping: Value,
    batch_size: u32,
    order: SampleOrder,
    batching: Batching,
    published_epochs: u32,
    target_accuracy: Option<f64>,
    target_loss: Option<f64>,
    evaluations_per_epoch: u32,
    #[serde(rename = "loss_tolerance")]
    _loss_tolerance: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefinedModel {
    #[serde(rename = "name")]
    _name: String,
    input: Shape,
    nodes: Vec<Node>,
}

/// Reads a network as records contain it. The texts of the definition are checked, but not kept.
pub(super) fn read(network: &Value) -> Result<Workload, OpenRefusal> {
    let definition = Definition::deserialize(network)
        .map_err(|error| OpenRefusal::new("not_a_network", "", format!("The network cannot be read: {error}.")))?;
    check_texts(&definition)?;
    let data_set = DATA_SETS.into_iter().find(|name| *name == definition.data_set);
    let data_set = data_set.ok_or_else(|| {
        let message = format!("The open class has only these data sets: {}.", DATA_SETS.join(", "));
        OpenRefusal::new("other_data_set", "data_set", message)
    })?;
    check_recipe(&definition)?;
    let target = match (definition.target_accuracy, definition.target_loss) {
        (Some(accuracy), None) if (0.0..=1.0).contains(&accuracy) => Goal::Accuracy(accuracy),
        (None, Some(loss)) if loss >= 0.0 => Goal::Loss(loss),
        _ => {
            let message = "The network needs one target: an accuracy from 0 to 1, or a loss of at least 0.";
            return Err(OpenRefusal::new("out_of_range", "target_loss", message));
        }
    };
    let workload = Workload {
        input: InputRecipe::scaled(1.0),
        loss: Loss::default(),
        average: definition.average,
        batch_size: definition.batch_size,
        order: definition.order,
        batching: definition.batching,
        published_epochs: definition.published_epochs,
        target,
        evaluations_per_epoch: definition.evaluations_per_epoch,
        ..Workload::recipe(data_set, Model::new(THIS, definition.model.input), definition.optimizer)
    };
    let classes = workload.data_set_definition().train.classes;
    let workload = Workload { model: model(definition.model, classes)?, ..workload };
    compare(&workload, network)?;
    check_size(&workload)?;
    Ok(workload)
}

fn check_texts(definition: &Definition) -> Checked {
    let Definition { name, title, description, .. } = definition;
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && name.len() <= NAME_CHARACTERS;
    let message = format!("A name has at most {NAME_CHARACTERS} lowercase letters, digits and hyphens.");
    require(is_name, "bad_name", "name", message)?;
    let message = format!("A built-in workload is named {name}; choose another name.");
    require(super::workload(name).is_none(), "bad_name", "name", message)?;
    for (field, text, most) in
        [("title", title, TITLE_CHARACTERS), ("description", description, DESCRIPTION_CHARACTERS)]
    {
        let fits = text.chars().count() <= most && text.chars().all(results::is_plain);
        require(fits, "bad_text", field, format!("The text must be at most {most} visible characters."))?;
    }
    require(!title.trim().is_empty(), "bad_text", "title", "The network needs a title.")
}

fn check_recipe(definition: &Definition) -> Checked {
    let SampleOrder::Drawn { per_epoch } = definition.order else {
        return Err(OpenRefusal::new("fixed_setting", "order", "A network of the open class needs drawn windows."));
    };
    within((1..=1 << 24).contains(&per_epoch), "order", "1 to 16777216 windows per epoch")?;
    within(definition.batching != Batching::Wrap, "batching", "`ShortLast` or `DropLast`")?;
    let most = per_epoch.min(MAX_CHANNELS);
    within((1..=most).contains(&definition.batch_size), "batch_size", "1 to the windows per epoch, at most 65536")?;
    within((1..=100_000).contains(&definition.published_epochs), "published_epochs", "1 to 100000")?;
    within((1..=100).contains(&definition.evaluations_per_epoch), "evaluations_per_epoch", "1 to 100")?;
    match definition.average {
        Some(WeightAverage::Exponential { largest }) => within(is_share(largest), "average", "a share")?,
        Some(WeightAverage::Lookahead { every, decay }) => {
            within(every > 0 && is_share(decay), "average", "a share, after at least one step")?;
        }
        None => {}
    }
    check_optimizer(&definition.optimizer)
}

fn check_optimizer(optimizer: &Optimizer) -> Checked {
    let Optimizer { rule, learning_rate, schedule, weight_decay, largest_gradient } = optimizer;
    within(is_positive(*learning_rate), "optimizer.learning_rate", "a number above 0")?;
    within(is_not_negative(*weight_decay), "optimizer.weight_decay", "a number of at least 0")?;
    within(largest_gradient.is_none_or(is_positive), "optimizer.largest_gradient", "a number above 0")?;
    let decays = |share: f64| (0.0..1.0).contains(&share);
    let is_rule = match *rule {
        Rule::Sgd { momentum } | Rule::Nesterov { momentum } => decays(momentum),
        Rule::RmsProp { rho, epsilon } | Rule::Adadelta { rho, epsilon } => decays(rho) && is_positive(epsilon),
        Rule::Adam { beta1, beta2, epsilon, .. } => decays(beta1) && decays(beta2) && is_positive(epsilon),
    };
    within(is_rule, "optimizer.rule", "a rule with shares from 0 to below 1, and an epsilon above 0")?;
    let is_schedule = match schedule {
        Schedule::Constant => true,
        Schedule::Inverse { gamma, power } => is_not_negative(*gamma) && is_not_negative(*power),
        Schedule::Staircase { every, factor } => *every > 0 && is_positive(*factor),
        Schedule::Drop { factor, .. } => is_positive(*factor),
        Schedule::Linear { points } => {
            (1..=MAX_POINTS).contains(&points.len())
                && points.iter().all(|(share, factor)| is_share(*share) && is_not_negative(*factor))
                && points.is_sorted_by(|(one, _), (next, _)| one <= next)
        }
        Schedule::Cosine { warm_up, last } => decays(*warm_up) && is_share(*last),
    };
    let allowed = format!("a schedule with shares from 0 to 1, factors of at least 0, and at most {MAX_POINTS} points");
    within(is_schedule, "optimizer.schedule", &allowed)
}

/// The numbers of single precision that a number must also fit into.
fn fits(number: f64) -> bool {
    number.abs() <= f64::from(f32::MAX)
}

fn is_positive(number: f64) -> bool {
    fits(number) && number > 0.0
}

fn is_not_negative(number: f64) -> bool {
    fits(number) && number >= 0.0
}

fn is_share(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

/// Builds the model layer by layer. Each one is checked before anything is computed from its numbers.
fn model(defined: DefinedModel, classes: u32) -> Result<Model, OpenRefusal> {
    let input = defined.input;
    let is_window = input == Shape::new(1, input.width, 1) && (1..=MAX_WINDOW).contains(&input.width);
    within(is_window, "model.input", &format!("a window of 1 to {MAX_WINDOW} characters"))?;
    let nodes = defined.nodes.len();
    within((1..=MAX_NODES).contains(&nodes), "model.nodes", &format!("a list of 1 to {MAX_NODES} layers"))?;
    let mut model = Model::new(THIS, input);
    for (number, node) in defined.nodes.into_iter().enumerate() {
        let at = format!("model.nodes[{number}]");
        check_node(&at, &node, &model, classes)?;
        model.nodes.push(node);
        let shapes = model.shapes().map_err(|error| impossible(&at, &error))?;
        let made = shapes[number];
        let values = u64::from(made.pixels()) * u64::from(made.channels);
        within(values <= MAX_VALUES, &at, &format!("a layer with at most {MAX_VALUES} values per window"))?;
    }
    let last = model.nodes.len() - 1;
    let at = format!("model.nodes[{last}]");
    let ends = matches!(model.nodes[last].layer, Layer::WordScores { .. });
    let message = "The last layer must be `word_scores`, which scores each character as the next one.";
    require(ends && model.positions() == Ok(input.width), "not_a_network", &at, message)?;
    let is_read = |node| model.nodes.iter().any(|other| other.inputs.contains(&Source::Node(node)));
    if let Some(unread) = (0..last).find(|&node| !is_read(node)) {
        let at = format!("model.nodes[{unread}]");
        return Err(OpenRefusal::new("not_a_network", at, "No layer reads the output of this layer."));
    }
    model.check().map_err(|error| impossible("model", &error))?;
    Ok(model)
}

fn impossible(at: &str, error: &ModelError) -> OpenRefusal {
    OpenRefusal::new("not_a_network", at, format!("The network is not possible: {error}."))
}

/// Checks the inputs and numbers of a layer that comes after the layers of `model`.
fn check_node(at: &str, node: &Node, model: &Model, classes: u32) -> Checked {
    let Node { layer, inputs, shares } = node;
    let is_embedding = matches!(layer, Layer::Embedding { .. });
    let reads_data = inputs.contains(&Source::Data);
    let message = "Only an `embedding` reads the characters, and it reads nothing else.";
    require(is_embedding == reads_data && (!is_embedding || inputs.len() == 1), "not_a_network", at, message)?;
    let message = format!("The layer {} lets a character see later ones, which the network predicts.", name(layer));
    require(layer.is_causal(model.input), "sees_later_characters", at, message)?;
    if let Some(owner) = *shares {
        let is_owner = |node: &Node| matches!(node.layer, Layer::Embedding { .. }) && node.shares.is_none();
        let is_word_layer = is_embedding || matches!(layer, Layer::WordScores { .. });
        let message = "Only `embedding` and `word_scores` share the vectors of an earlier `embedding`.";
        let shares = is_word_layer && model.nodes.get(owner).is_some_and(is_owner);
        require(shares, "not_a_network", at, message)?;
    }
    let shifts = matches!(layer, Layer::Attention { .. }) && inputs.iter().any(|&input| has_shift(model, input));
    let message = "The keys of this attention have a bias, which changes nothing. Its gradients are rounding errors, \
                   and no other device repeats them: set `bias = false` in the `conv2d` or `layer_norm` before it.";
    require(!shifts, "not_provable", at, message)?;
    let is_channels = |channels: u32| (1..=MAX_CHANNELS).contains(&channels);
    let is_scale = |number: f32| is_positive(number.into());
    let (is_right, initializers, multipliers): (bool, Vec<Initializer>, Vec<Multipliers>) = match *layer {
        Layer::Embedding { vocabulary, units, initializer, .. } => {
            (vocabulary == classes && is_channels(units), vec![initializer], Vec::new())
        }
        Layer::WordScores { vocabulary, initializer } => (vocabulary == classes, vec![initializer], Vec::new()),
        Layer::PositionEmbedding { initializer } => (true, vec![initializer], Vec::new()),
        Layer::Conv2d { filters, weights, .. } => {
            let Weights { kernel, bias, kernel_multipliers, bias_multipliers } = weights;
            let initializers = [kernel].into_iter().chain(bias).collect();
            (is_channels(filters), initializers, vec![kernel_multipliers, bias_multipliers])
        }
        Layer::LayerNorm { epsilon, scale, bias } => {
            (is_scale(epsilon), Vec::new(), [scale].into_iter().chain(bias).collect())
        }
        Layer::LocalResponseNorm { radius, bias, alpha, beta } => {
            let are_numbers = is_scale(bias) && is_scale(alpha) && beta.is_finite();
            (radius <= MAX_CHANNELS && are_numbers, Vec::new(), Vec::new())
        }
        Layer::Dropout { rate } => ((0.0..1.0).contains(&rate), Vec::new(), Vec::new()),
        Layer::Softmax { linear_until } => (is_share(linear_until), Vec::new(), Vec::new()),
        Layer::Attention { heads, .. } => (is_channels(heads), Vec::new(), Vec::new()),
        // They have no numbers, or see later characters.
        _ => (true, Vec::new(), Vec::new()),
    };
    within(is_right, at, &format!("a layer {} with numbers that a network can have", name(layer)))?;
    let are_simple = initializers.into_iter().all(is_simple);
    within(are_simple, at, "a layer whose initial weights are independent of each other and of the data")?;
    let is_multiplier = |of: &Multipliers| {
        is_not_negative(of.learning_rate) && is_not_negative(of.weight_decay) && of.frozen_from.is_none_or(is_share)
    };
    within(multipliers.iter().all(is_multiplier), at, "a layer with multipliers of at least 0")
}

/// Returns true if a bias shifts all pixels of a value alike. As a key of attention, it cancels in the softmax.
fn has_shift(model: &Model, value: Source) -> bool {
    let (mut waiting, mut seen) = (vec![value], vec![false; model.nodes.len()]);
    while let Some(value) = waiting.pop() {
        let Source::Node(number) = value else { continue };
        let Some(node) = model.nodes.get(number).filter(|_| !std::mem::replace(&mut seen[number], true)) else {
            continue;
        };
        match node.layer {
            Layer::Conv2d { activation: Activation::Identity, weights: Weights { bias: Some(_), .. }, .. }
            | Layer::LayerNorm { bias: Some(_), .. } => return true,
            Layer::Add { activation: Activation::Identity } | Layer::Concatenate => waiting.extend(&node.inputs),
            Layer::Dropout { rate: 0.0 } => waiting.extend(&node.inputs),
            _ => {}
        }
    }
    false
}

/// Returns the name of a layer in files.
fn name(layer: &Layer) -> String {
    match serde_json::to_value(layer) {
        Ok(Value::Object(fields)) => fields.keys().map(|name| format!("`{name}`")).collect(),
        Ok(Value::String(name)) => format!("`{name}`"),
        _ => String::new(),
    }
}

/// Returns true if a leaderboard computes the initial weights in a time that does not grow faster than their number.
fn is_simple(initializer: Initializer) -> bool {
    match initializer {
        Initializer::GlorotUniform => true,
        Initializer::FanInUniform { scale: size }
        | Initializer::FanInNormal { scale: size }
        | Initializer::Uniform { limit: size }
        | Initializer::Normal { deviation: size }
        | Initializer::TruncatedNormal { deviation: size } => is_positive(size),
        Initializer::Constant { value } => fits(value),
        Initializer::Orthogonal | Initializer::Dirac | Initializer::WhitenedPatches { .. } => false,
    }
}

/// Refuses a definition with values other than the workload's, apart from its texts.
fn compare(workload: &Workload, network: &Value) -> Checked {
    let unreadable = || OpenRefusal::new("not_a_network", "", "The network contains numbers that cannot be read.");
    let mut expected = workload.described().ok_or_else(unreadable)?;
    for field in ["name", "title", "description"] {
        expected[field] = network[field].clone();
    }
    expected["model"]["name"] = network["name"].clone();
    match first_difference("", &expected, network) {
        None => Ok(()),
        Some((field, expected, found)) => {
            let message = format!("In the open class, `{field}` must be {expected}, not {found}.");
            Err(OpenRefusal::new("fixed_setting", field, message))
        }
    }
}

/// Returns the path of the first value that differs, and both values.
fn first_difference<'a>(path: &str, expected: &'a Value, found: &'a Value) -> Option<(String, &'a Value, &'a Value)> {
    match (expected, found) {
        (Value::Object(fields), Value::Object(others)) if fields.keys().eq(others.keys()) => {
            let below = |name: &String| if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            fields.iter().find_map(|(name, value)| first_difference(&below(name), value, &others[name]))
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            pairs.find_map(|(number, (item, other))| first_difference(&format!("{path}[{number}]"), item, other))
        }
        // Some programs write 1.0 as 1.
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => None,
        _ => (expected != found).then(|| (path.to_owned(), expected, found)),
    }
}

fn check_size(workload: &Workload) -> Checked {
    let too_large = |what: String| OpenRefusal::new("network_too_large", "model", what);
    if let Some(obstacle @ ProofObstacle::LargeStates) = workload.proof_obstacle() {
        let advice = "use fewer channels or blocks, or an optimizer with fewer memories";
        return Err(too_large(format!("A leaderboard cannot prove this network: {obstacle}; {advice}.")));
    }
    let possible = |error: ModelError| impossible("model", &error);
    let operations = workload.model.operations().map_err(possible)?;
    let test = operations.forward_flops.saturating_mul(workload.test_samples().into());
    let step = operations.training_flops().saturating_mul(workload.batch_size.into());
    for (flops, most, what, advice) in [
        (test, MAX_TEST_FLOPS, "A test", "use fewer channels or blocks"),
        (step, MAX_STEP_FLOPS, "A step", "use smaller batches"),
    ] {
        if flops > most {
            let [flops, most] = [flops, most].map(|flops| flops as f64 / 1e9);
            return Err(too_large(format!(
                "{what} of this network takes {flops:.0} GFLOP, but a leaderboard computes at most {most:.0}; {advice}."
            )));
        }
    }
    let bytes = workload.bytes_of_network(workload.batch_size.max(TEST_BATCH)).map_err(possible)?;
    if bytes > MAX_BYTES {
        let [bytes, most] = [bytes, MAX_BYTES].map(|bytes| bytes >> 20);
        return Err(too_large(format!(
            "A batch of this network takes {bytes} MiB, but a leaderboard uses at most {most} MiB; use shorter \
             windows, fewer channels or smaller batches."
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Examiner;
    use crate::model::{Padding, PoolKind, Rounding};
    use crate::testing::samples;
    use crate::workload::{Standard, convolution, pool, workload};

    /// Returns `gpt-nano`'s small variant as a file defines it.
    fn small() -> Workload {
        Workload { name: "small", title: "Small", description: "", ..workload("gpt-nano").unwrap().reduced() }
    }

    fn described(workload: &Workload) -> Value {
        let model = Model { name: workload.name, ..workload.model.clone() };
        Workload { model, ..workload.clone() }.described().unwrap()
    }

    #[track_caller]
    fn assert_refused(network: &Value, code: &str, field: &str) {
        let refusal = read(network).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_str()), (code, field), "{}", refusal.message);
    }

    #[test]
    fn described_network_trains_as_in_its_file() {
        let nano = Workload { name: "mine", title: "Mine", ..workload("gpt-nano").unwrap() };
        for own in [small(), nano] {
            let standard = Standard::of_network(&described(&own)).unwrap();
            let read = &standard.workload;
            assert_eq!((&read.model.nodes, &read.optimizer), (&own.model.nodes, &own.optimizer));
            assert_eq!((read.test_samples(), standard.steps), (own.test_samples(), 2000));
        }
    }

    #[test]
    fn layers_that_see_later_characters_are_refused() {
        let weights = Weights::new(Initializer::GlorotUniform);
        let tanh = Activation::Tanh;
        let layers = [
            Layer::Attention { heads: 2, causal: false },
            convolution(32, 3, Padding::Same, Activation::Identity, weights),
            // Its area is 1 modulo 2^32.
            convolution(32, u32::MAX, Padding::Same, Activation::Identity, weights),
            pool(PoolKind::Max, 2, 2, 0, Rounding::Floor),
            Layer::Dense { units: 80, activation: Activation::Identity, weights },
            Layer::Lstm { units: 32, recurrent: Initializer::GlorotUniform },
            Layer::Gru { units: 32, activation: tanh, recurrent: Initializer::GlorotUniform },
            Layer::SimpleRnn { units: 32, activation: tanh, recurrent: Initializer::GlorotUniform },
            Layer::SentenceSum { words: 2 },
            Layer::PixelProducts,
            Layer::Transpose,
            Layer::BatchNorm {
                epsilon: 1e-5,
                keep: 0.9,
                trained_scale: true,
                bias: Multipliers::default(),
                activation: Activation::Identity,
            },
        ];
        for layer in layers {
            let mut network = small();
            network.model.nodes[1] = Node { layer, inputs: vec![Source::Node(0)], shares: None };
            assert_refused(&described(&network), "sees_later_characters", "model.nodes[1]");
        }
        let mut network = small();
        let Layer::Embedding { first, count, .. } = &mut network.model.nodes[0].layer else { panic!("no embedding") };
        (*first, *count) = (1, *count - 1);
        assert_refused(&described(&network), "sees_later_characters", "model.nodes[0]");
    }

    #[test]
    fn keys_with_a_bias_are_refused() {
        let mut network = small();
        let Layer::Conv2d { weights, .. } = &mut network.model.nodes[3].layer else { panic!("no convolution") };
        weights.bias = Some(Initializer::Constant { value: 0.0 });
        assert_refused(&described(&network), "not_provable", "model.nodes[4]");
        let attention = network.model.nodes[4].layer.clone();
        let add = Node {
            layer: Layer::Add { activation: Activation::Identity },
            inputs: vec![Source::Node(3); 2],
            shares: None,
        };
        network.model.nodes.truncate(4);
        network.model.nodes.push(add);
        network.model.then(attention);
        assert_refused(&described(&network), "not_provable", "model.nodes[5]");
    }

    #[test]
    fn networks_that_take_a_server_too_long_are_refused() {
        let nano = Workload { name: "mine", title: "Mine", ..workload("gpt-nano").unwrap() };
        let large = Workload { name: "large", title: "Large", ..workload("gpt-small").unwrap() };
        assert_refused(&described(&large), "network_too_large", "model");
        let wide = Workload { batch_size: 400, ..nano.clone() };
        assert_refused(&described(&wide), "network_too_large", "model");
        let mut deep = nano;
        let scores = deep.model.nodes.pop().unwrap();
        for _ in 0..10 {
            let weights = Weights::new(Initializer::GlorotUniform);
            deep.model.then(convolution(128, 1, Padding::Valid, Activation::Identity, weights));
        }
        let last = deep.model.last();
        deep.model.nodes.push(Node { inputs: vec![last], ..scores });
        assert_refused(&described(&deep), "network_too_large", "model");
    }

    /// Returns a network with all layers of the open class.
    fn broad() -> Workload {
        let mut own = Workload { batch_size: 2, average: Some(WeightAverage::Exponential { largest: 0.9 }), ..small() };
        let scores = own.model.nodes.pop().unwrap();
        let last = own.model.then(Layer::Dropout { rate: 0.5 });
        own.model.then(Layer::LocalResponseNorm { radius: 2, bias: 1.0, alpha: 1e-4, beta: 0.75 });
        own.model.then(Layer::Softmax { linear_until: 0.5 });
        own.model.reads(vec![own.model.last(), last], Layer::Concatenate);
        let weights = Weights::new(Initializer::FanInNormal { scale: 2.0 });
        own.model.then(convolution(32, 1, Padding::Same, Activation::Tanh, weights));
        let inputs = vec![own.model.last()];
        own.model.nodes.push(Node { inputs, ..scores });
        own
    }

    /// Returns the paths of all values, as JSON pointers.
    fn paths(value: &Value, path: &str) -> Vec<String> {
        let below: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(number, value)| (number.to_string(), value)).collect()
            }
            _ => Vec::new(),
        };
        let inner = below.into_iter().flat_map(|(name, value)| paths(value, &format!("{path}/{name}")));
        inner.chain([path.to_owned()]).collect()
    }

    #[test]
    fn any_definition_trains_or_is_refused() {
        let data = samples("moby-dick", [20, 4], |place| u8::try_from(place % 80).unwrap());
        let network = described(&broad());
        assert_eq!(read(&network).err(), None);
        let node = |number: u32| serde_json::json!({ "node": number });
        let values: [Value; 12] = [
            0.into(),
            1.into(),
            3.into(),
            64.into(),
            u32::MAX.into(),
            (-1).into(),
            0.5.into(),
            1e30.into(),
            1e300.into(),
            Value::Null,
            node(0),
            node(u32::MAX),
        ];
        let mut trained = 0;
        for path in paths(&network, "") {
            for value in &values {
                let mut changed = network.clone();
                *changed.pointer_mut(&path).unwrap() = value.clone();
                let Ok(standard) = Standard::of_network(&changed) else { continue };
                let examiner = Examiner::new(&standard, Arc::clone(&data), 1);
                if examiner.flops_of_step().unwrap() < 100_000_000 {
                    assert_eq!(examiner.first_losses(2).unwrap().len(), 2, "{path} {value}");
                    trained += 1;
                }
            }
        }
        assert!(trained > 100, "{trained}");
    }

    #[test]
    fn definitions_that_cannot_train_are_refused() {
        let change = |path: &str, value: Value| {
            let mut network = described(&small());
            *network.pointer_mut(path).unwrap() = value;
            network
        };
        let cases = [
            ("/data_set", "mnist".into(), "other_data_set", "data_set"),
            ("/name", "gpt-nano".into(), "bad_name", "name"),
            ("/title", "\u{202e}".into(), "bad_text", "title"),
            ("/batch_size", 0.into(), "out_of_range", "batch_size"),
            ("/evaluations_per_epoch", 0.into(), "out_of_range", "evaluations_per_epoch"),
            ("/target_loss", (-1.0).into(), "out_of_range", "target_loss"),
            ("/loss/label_smoothing", 0.1.into(), "fixed_setting", "loss.label_smoothing"),
            ("/early_stopping", 1.into(), "fixed_setting", "early_stopping"),
            ("/input/divisor", 255.0.into(), "fixed_setting", "input.divisor"),
            ("/optimizer/learning_rate", 0.0.into(), "out_of_range", "optimizer.learning_rate"),
            ("/model/input/height", 2.into(), "out_of_range", "model.input"),
            ("/model/input/width", 8.into(), "sees_later_characters", "model.nodes[0]"),
            ("/model/nodes/0/layer/embedding/vocabulary", 81.into(), "out_of_range", "model.nodes[0]"),
            ("/model/nodes/0/inputs/0", serde_json::json!({ "node": 9 }), "not_a_network", "model.nodes[0]"),
            ("/model/nodes/2/inputs/0", serde_json::json!({ "node": 2 }), "not_a_network", "model.nodes[2]"),
            ("/model/nodes/3/layer/conv2d/filters", u32::MAX.into(), "out_of_range", "model.nodes[3]"),
            ("/model/nodes/3/layer/conv2d/weights/kernel", "orthogonal".into(), "out_of_range", "model.nodes[3]"),
        ];
        for (path, value, code, field) in cases {
            assert_refused(&change(path, value), code, field);
        }
        assert_refused(&Value::Null, "not_a_network", "");
        let mut more = described(&small());
        more["extra"] = 1.into();
        assert_refused(&more, "not_a_network", "");
        // Its channels would overflow.
        let mut doubled = small();
        for _ in 0..30 {
            let last = doubled.model.last();
            doubled.model.reads(vec![last; 2], Layer::Concatenate);
        }
        assert_eq!(read(&described(&doubled)).unwrap_err().code, "out_of_range");
    }
}
