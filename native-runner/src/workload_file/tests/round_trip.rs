//! Every built-in workload can be written as a file, and comes back as it was: so the file lacks nothing that they have.

use engine::{
    Augmentation, Batching, Initializer, InputRecipe, Layer, Node, Normalization, Padding, PoolKind, SampleOrder,
    Source, TestView, WORKLOADS, Weights, Workload,
};
use serde_json::{Map, Value, json};

use super::super::place::Language;
use super::{parse, recipe};

#[test]
fn every_built_in_workload_can_be_written_as_a_file() {
    for workload in WORKLOADS.iter().map(|make| make()) {
        let text = serde_json::to_string_pretty(&written(&workload)).unwrap();
        let own = parse("own.json", &text, Language::Json).unwrap_or_else(|error| panic!("{}: {error}", workload.name));
        assert_eq!(recipe(&own), recipe(&workload), "{}", workload.name);
        // The other language says the same.
        let toml = toml::to_string(&written(&workload)).unwrap();
        let own = parse("own.toml", &toml, Language::Toml).unwrap_or_else(|error| panic!("{}: {error}", workload.name));
        assert_eq!(recipe(&own), recipe(&workload), "{}", workload.name);
    }
}

fn written(workload: &Workload) -> Value {
    let mut file = json!({
        "name": format!("own-{}", workload.name),
        "data_set": workload.data_set,
        "batch_size": workload.batch_size,
        "last_batch": match workload.batching {
            Batching::ShortLast => "short",
            Batching::DropLast => "drop",
            Batching::Wrap => "wrap",
        },
        "shuffle": workload.order == SampleOrder::Shuffled,
        "epochs": workload.published_epochs,
        "target_accuracy": workload.target_accuracy,
        "evaluations_per_epoch": workload.evaluations_per_epoch,
        "optimizer": workload.optimizer,
        "loss": workload.loss,
        "layers": layers(workload),
    });
    let fields = file.as_object_mut().unwrap();
    let mut tell = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
        }
    };
    tell("training_samples", json!(workload.training));
    tell("average", json!(workload.average));
    tell("early_stopping", json!(workload.early_stopping));
    tell("preprocessing", preprocessing(workload));
    file
}

fn preprocessing(workload: &Workload) -> Value {
    let InputRecipe { divisor, normalization, edge, augmentation, test_views } = workload.input;
    let set = engine::data_set(workload.data_set).unwrap();
    if workload.data_set.starts_with("babi") {
        return Value::Null;
    }
    let Augmentation { flip, shift, brightness, contrast } = augmentation;
    let mut fields = json!({
        "divisor": divisor, "edge": edge, "flip": flip, "shift": shift, "brightness": brightness,
        "normalization": if normalization == Normalization::None { json!("none") } else { json!(normalization) },
        "test_views": if test_views == TestView::PLAIN { "plain" } else { "mirrored_and_moved" },
    });
    if let Some(contrast) = contrast {
        fields["contrast"] = json!(contrast);
    }
    if workload.model.input.height != set.train.height {
        fields["image_size"] = json!(workload.model.input.height);
    }
    fields
}

/// Each layer by its label, whatever it reads.
fn layers(workload: &Workload) -> Vec<Value> {
    let label = |source: Source| match source {
        Source::Data => "data".to_owned(),
        Source::Node(node) => format!("layer{node}"),
    };
    let mut layers = Vec::new();
    for (number, node) in workload.model.nodes.iter().enumerate() {
        if !matches!(node.layer, Layer::Embedding { .. }) {
            layers.push(json!({ "from": label(node.inputs[0]) }));
        }
        let (name, mut options) = named(node);
        if let Some(&other) = node.inputs.get(1) {
            options["with"] = json!(label(other));
        }
        if let Some(owner) = node.shares {
            options["shares"] = json!(label(Source::Node(owner)));
        }
        layers.push(if options.is_null() { json!(name) } else { json!({ name: options }) });
        if number + 1 < workload.model.nodes.len() {
            layers.push(json!({ "label": label(Source::Node(number)) }));
        }
    }
    layers
}

fn named(node: &Node) -> (&'static str, Value) {
    match node.layer.clone() {
        Layer::Conv2d { filters, size, stride, padding, activation, weights } => {
            let options =
                json!({ "filters": filters, "kernel_size": size, "stride": stride, "activation": activation });
            let padding = match padding {
                Padding::Zeros(zeros) => json!({ "zeros": zeros }),
                other => json!(other),
            };
            ("conv2d", with_weights(merged(options, json!({ "padding": padding })), weights))
        }
        Layer::Dense { units, activation, weights } => {
            ("dense", with_weights(json!({ "units": units, "activation": activation }), weights))
        }
        Layer::Pool { kind, side, stride, padding, rounding, activation } => {
            let name = if kind == PoolKind::Max { "max_pool" } else { "average_pool" };
            let options = json!({
                "size": side, "stride": stride, "padding": padding, "rounding": rounding, "activation": activation,
            });
            (name, options)
        }
        Layer::Dropout { rate } => ("dropout", json!({ "rate": rate })),
        Layer::LocalResponseNorm { radius, bias, alpha, beta } => {
            ("local_response_norm", json!({ "radius": radius, "bias": bias, "alpha": alpha, "beta": beta }))
        }
        Layer::Lstm { units, recurrent } => ("lstm", json!({ "units": units, "recurrent_initializer": recurrent })),
        Layer::Gru { units, activation, recurrent } => {
            ("gru", json!({ "units": units, "activation": activation, "recurrent_initializer": recurrent }))
        }
        Layer::SimpleRnn { units, activation, recurrent } => {
            ("simple_rnn", json!({ "units": units, "activation": activation, "recurrent_initializer": recurrent }))
        }
        Layer::Embedding { units, first, count, zero_padding, initializer, .. } => {
            let options = json!({
                "units": units, "first": first, "count": count, "zero_padding": zero_padding, "initializer": initializer,
            });
            ("embedding", options)
        }
        Layer::SentenceSum { words } => ("sentence_sum", json!({ "words": words })),
        Layer::WordScores { initializer, .. } => ("word_scores", json!({ "initializer": initializer })),
        Layer::PixelProducts => ("pixel_products", json!({})),
        Layer::Softmax { linear_until } => ("softmax", json!({ "linear_until": linear_until })),
        Layer::Transpose => ("transpose", Value::Null),
        Layer::Concatenate => ("concatenate", json!({})),
        Layer::Add { activation } => ("add", json!({ "activation": activation })),
        Layer::BatchNorm { epsilon, keep, trained_scale, bias, activation } => {
            let options = json!({
                "epsilon": epsilon, "momentum": keep, "trained_scale": trained_scale, "activation": activation,
            });
            ("batch_norm", merged(options, json!({ "bias_multipliers": without_nulls(json!(bias)) })))
        }
        Layer::LayerNorm { epsilon } => ("layer_norm", json!({ "epsilon": epsilon })),
        Layer::PositionEmbedding { initializer } => ("position_embedding", json!({ "initializer": initializer })),
        Layer::Attention { heads } => ("attention", json!({ "heads": heads })),
    }
}

fn with_weights(options: Value, weights: Weights) -> Value {
    let own = json!({
        "kernel_initializer": weights.kernel,
        "bias": weights.bias.is_some(),
        "bias_initializer": weights.bias.unwrap_or(Initializer::Constant { value: 0.0 }),
        "kernel_multipliers": without_nulls(json!(weights.kernel_multipliers)),
        "bias_multipliers": without_nulls(json!(weights.bias_multipliers)),
    });
    merged(options, own)
}

fn merged(one: Value, other: Value) -> Value {
    let fields = |value: Value| value.as_object().cloned().unwrap_or_default();
    Value::Object(fields(one).into_iter().chain(fields(other)).collect())
}

/// TOML has no null.
fn without_nulls(value: Value) -> Value {
    let fields: Map<String, Value> = value.as_object().unwrap().clone();
    Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
}
