use std::fs;
use std::path::{Path, PathBuf};

use engine::{
    Augmentation, Batching, InputRecipe, Layer, Multipliers, Node, Normalization, SampleOrder, Source, TestView,
    WORKLOADS, Workload,
};
use proptest::prelude::*;
use results::Goal;
use serde_json::{Map, Value, json};

use crate::workload_file::place::{Language, byte_of, shown};
use crate::workload_file::{load, parse};

fn documented(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

/// Returns everything that affects training.
fn recipe(workload: &Workload) -> Value {
    let mut value = serde_json::to_value(workload).unwrap();
    let fields = value.as_object_mut().unwrap();
    for name in ["name", "title", "description"] {
        fields.remove(name);
    }
    fields["model"].as_object_mut().unwrap().remove("name");
    value
}

#[test]
fn every_file_of_the_documentation_describes_a_network() {
    for (file, name) in [("mnist-mlp.toml", "keras-mnist-mlp"), ("cifar10-cnn.json", "keras-cifar10-cnn")] {
        let own = load(&documented("workloads").join(file)).unwrap();
        assert_eq!(recipe(&own), recipe(&engine::workload(name).unwrap()), "{file}");
        assert!(!own.is_built_in() && own.title != own.name, "{file}");
    }
    let files = fs::read_dir(documented("workloads")).unwrap().map(|entry| entry.unwrap().path());
    let names: Vec<&str> = files.map(|file| load(&file).unwrap_or_else(|error| panic!("{error}")).name).collect();
    assert!(names.len() >= 4 && names.contains(&"mnist-residual"), "{names:?}");
    assert!(valid(BROAD).model.parameters().unwrap() > 0);
}

fn valid(text: &str) -> Workload {
    parse("f.toml", text, Language::Toml).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn name_alone_is_a_layer_without_options() {
    for name in ["batch_norm", "layer_norm"] {
        let with = |norm: &str| recipe(&valid(&with_layers(&["{ conv2d = { filters = 4, kernel_size = 3 } }", norm])));
        assert_eq!(with(&format!("\"{name}\"")), with(&format!("{{ {name} = {{}} }}")));
    }
    let adam = with_layers(&[]).replace("{ sgd = { momentum = 0.9 } }", "\"adam\"");
    assert_mistake(&adam, &["line 4", "its options are missing"]);
}

const START: &str = "name = \"mine\"\ndata_set = \"mnist\"\nbatch_size = 64\n";
const OPTIMIZER: &str = "optimizer = { rule = { sgd = { momentum = 0.9 } }, learning_rate = 0.1 }\n";
const END: &str = "{ dense = { units = 10 } },\n";

/// Returns a file with these layers, one per line from line 6 on, before the last.
fn with_layers(layers: &[&str]) -> String {
    let lines: String = layers.iter().map(|layer| format!("{layer},\n")).collect();
    format!("{START}{OPTIMIZER}layers = [\n{lines}{END}]\n")
}

#[track_caller]
fn assert_mistake(text: &str, parts: &[&str]) {
    let error = parse("my.toml", text, Language::Toml).expect_err(text);
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing in:\n{error}\n\nof the file\n{text}");
    }
}

#[test]
fn layer_that_does_not_fit_is_shown_with_shapes() {
    let small = "{ conv2d = { filters = 8, kernel_size = 5, stride = 5 } }";
    let large = "{ conv2d = { filters = 8, kernel_size = 9 } }";
    let tanh = "{ dense = { units = 4, activation = \"tanh\" } }";
    let add = "{ add = { with = \"a\" } }";
    let drop = "{ dropout = { rate = 0.5 } }";
    let pool = "{ max_pool = { size = 2 } }";
    let label = "{ label = \"a\" }";
    let dense = "{ dense = { units = 4 } }";
    let cases: [(&[&str], &str, &str); 16] = [
        (
            &[small, large],
            "my.toml, line 7, column 41: a window of 9 × 9 does not fit into the layer's input of 5 × 5",
            "\n  7 | { conv2d",
        ),
        (&[small, "{ max_pool = { size = 6 } }"], "line 7, column 23", "6 × 6"),
        (
            &["\"flatten\"", large],
            "line 7, column 12",
            "`conv2d` cannot read the output of `flatten`; only dense and dropout",
        ),
        (&[dense, "\"relu\"", "\"tanh\""], "line 8, column 1", "directly follow the layer"),
        (&[tanh, "\"relu\""], "line 7, column 1", "already has an activation"),
        (&[pool], "line 6, column 14", "cannot read the samples of mnist; use conv2d, dense, lstm, gru or simple_rnn"),
        (&["{ embedding = { units = 4 } }"], "line 6", "cannot read the samples of mnist"),
        (
            &["{ gru = { units = 4, activation = \"gelu\" } }"],
            "line 6, column 35",
            "the activation of a recurrent layer must be `tanh` or `relu`",
        ),
        (&["{ simple_rnn = { units = 0 } }"], "line 6, column 26", "must be from 1"),
        (&[drop], "line 6", "`dropout` cannot read the samples"),
        (&[small, add], "line 7, column 18", "no earlier layer has the label `a`; available: none"),
        (&[small, label, pool, add], "line 9, column 18", "5 × 5 × 8 cannot be added to 2 × 2 × 8"),
        (&[small, label, label], "line 8, column 11", "another layer has the label `a`"),
        (&[small, label, pool, "{ from = \"a\" }"], "line 8, column 14", "no layer reads the output of this layer"),
        (&[small, drop, drop], "line 8, column 13", "not possible here: dropout behind dropout"),
        (&[small, "{ attention = { heads = 2 } }"], "line 7, column 15", "8 channels are not three times 2 heads"),
    ];
    for (layers, place, part) in cases {
        assert_mistake(&with_layers(layers), &[place, part, "^"]);
    }
}

#[test]
fn the_last_layer_makes_a_number_for_each_class() {
    let ending = |last: &str| format!("{START}{OPTIMIZER}layers = [\n{{ dense = {{ units = 4 }} }},\n{last}]\n");
    let cases: [(&str, &[&str]); 5] = [
        (
            "{ dense = { units = 12 } }",
            &["line 7, column 21", "12 outputs, but mnist has 10 classes: `units` must be 10"],
        ),
        ("{ dense = { units = 10, activation = \"relu\" } }", &["line 7", "cannot have an activation"]),
        ("{ dense = { units = 10 } }, { softmax = {} }", &["line 7, column 41", "computes the softmax itself"]),
        ("{ dropout = { rate = 0.1 } }", &["line 7", "the last layer must be `dense` with 10 units"]),
        ("{ dense = { units = 10 } }, { from = \"data\" }", &["`from` is the last entry"]),
    ];
    for (last, parts) in cases {
        assert_mistake(&ending(last), parts);
    }
    assert_mistake(&format!("{START}{OPTIMIZER}layers = []\n"), &["line 5, column 10", "1 to 1024 layers, not 0"]);
    assert_mistake(&format!("{START}{OPTIMIZER}layers = [\"flatten\"]\n"), &["no layer computes anything"]);
    let story = TEXT.replace("moby-dick", "babi-qa1").replace("windows = { characters = 16, per_epoch = 80 }\n", "");
    assert_mistake(&story, &["line 10, column 1", "must be 1, as many as a sample of babi-qa1 has labels, but is"]);
}

#[test]
fn a_number_out_of_its_bounds_is_shown_with_them() {
    let whitened = "filters = 8, kernel_size = 2, kernel_initializer = { whitened_patches = { epsilon = 1e-3 } }";
    let cases = [
        ("dense", "units = 0", "units", "must be from 1 to 65536, but is 0"),
        ("conv2d", "filters = 8, kernel_size = 3, stride = 0", "stride", "must be from 1 to 256, but is 0"),
        ("conv2d", "filters = 8, kernel_size = 3, padding = { zeros = 3 }", "zeros", "from 0 to 2, but is 3"),
        ("dense", "units = 4, kernel_initializer = { normal = { deviation = 0 } }", "deviation", "above 0, but is 0"),
        (
            "dense",
            "units = 4, kernel_initializer = { uniform = { limit = nan } }",
            "limit",
            "a number above 0, but is NaN",
        ),
        ("dense", "units = 4, kernel_initializer = \"dirac\"", "kernel_initializer", "only the kernel of a `conv2d`"),
        ("dense", "units = 4, bias_initializer = \"orthogonal\"", "bias_initializer", "not for a bias"),
        ("dense", "units = 4, bias_multipliers = { frozen_from = 2 }", "frozen_from", "from 0 to 1, but is 2"),
        ("conv2d", whitened, "kernel_initializer", "color images"),
    ];
    for (name, options, field, part) in cases {
        let layer = format!("{{ {name} = {{ {options} }} }}");
        let column = layer.find(field).unwrap() + field.len() + " = ".len() + 1;
        assert_mistake(&with_layers(&[&layer]), &[&format!("line 6, column {column}: "), part]);
    }
    let pool = "{ max_pool = { size = 2, stride = 3, rounding = \"ceil\" } }";
    let begin = "{ conv2d = { filters = 8, kernel_size = 3 } }";
    assert_mistake(&with_layers(&[begin, pool]), &["line 7, column 49", "outside the image"]);
    let huge = "{ dense = { units = 65536 } }";
    assert_mistake(&with_layers(&[huge, huge]), &["line 7", "4294967296 weights"]);
}

#[test]
fn impossible_recipe_is_shown_with_its_place() {
    let valid = with_layers(&[]);
    let cases = [
        ("name = \"mine\"", "name = \"keras-mnist-mlp\"", "line 1, column 8", "a built-in workload is named"),
        ("name = \"mine\"", "name = \"My net\"", "line 1, column 8", "lowercase letters, digits and hyphens"),
        ("\"mnist\"", "\"imagenet\"", "line 2, column 12", "no data set named `imagenet`; available: mnist, cifar10"),
        ("batch_size = 64", "batch_size = 60001", "line 3, column 14", "from 1 to 60000, but is 60001"),
        ("momentum = 0.9", "momentum = 1.0", "line 4, column 43", "from 0 to below 1, but is 1"),
        ("learning_rate = 0.1", "learning_rate = -0.1", "line 4, column 68", "above 0, but is -0.1"),
        (
            "learning_rate = 0.1",
            "learning_rate = 0.1, schedule = { linear = { points = [[0.5, 1], [0.2, 2]] } }",
            "line 4, column 106",
            "in the order of their shares",
        ),
        ("\"mnist\"", "\"babi-qa1\"", "line 6", "use embedding"),
    ];
    for (right, wrong, place, part) in cases {
        assert!(valid.contains(right), "{right}");
        assert_mistake(&valid.replacen(right, wrong, 1), &[place, part]);
    }
    for (line, column, part) in [
        ("last_batch = \"wrap\"", 14, "`shuffle = false`"),
        ("epochs = 0", 10, "from 1 to 100000"),
        ("target_accuracy = 97", 19, "a share from 0 to 1, but is 97"),
        ("early_stopping = { updates = 9, factor = 2, threshold = 0.9 }", 18, "early stopping needs samples"),
        ("preprocessing = { brightness = 1 }", 32, "each_image"),
        ("preprocessing = { normalization = \"local_contrast\" }", 35, "color images"),
        ("average = { lookahead = { every = 0, decay = 0.9 } }", 35, "at least 1"),
    ] {
        let text = valid.replacen("batch_size = 64", &format!("batch_size = 64\n{line}"), 1);
        assert_mistake(&text, &[&format!("line 4, column {column}: "), part]);
    }
}

const TEXT: &str = "\
name = \"mine\"
data_set = \"moby-dick\"
windows = { characters = 16, per_epoch = 80 }
batch_size = 8
optimizer = { rule = { sgd = { momentum = 0.9 } }, learning_rate = 0.1 }
layers = [
{ embedding = { units = 12 } },
{ label = \"stream\" },
{ layer_norm = {} },
{ attention = { heads = 1, causal = true } },
\"word_scores\",
]
";

#[test]
fn text_is_read_in_drawn_windows() {
    let workload = valid(TEXT);
    assert_eq!(workload.order, SampleOrder::Drawn { per_epoch: 80 });
    assert_eq!((workload.input.divisor, workload.target), (1.0, Goal::Loss(0.0)));
    assert_eq!((workload.model.positions(), workload.model.classes()), (Ok(16), Ok(80)));
    let layers: Vec<&Layer> = workload.model.nodes.iter().map(|node| &node.layer).collect();
    let usual = Multipliers::default();
    assert_eq!(layers[1], &Layer::LayerNorm { epsilon: 1e-5, scale: usual, bias: Some(usual) });
    assert_eq!(layers[2], &Layer::Attention { heads: 1, causal: true });

    let target = |line: &str| valid(&TEXT.replace("batch_size", &format!("{line}\nbatch_size"))).target;
    assert_eq!(target("target_loss = 1.5"), Goal::Loss(1.5));
    assert_eq!(target("target_accuracy = 0.5"), Goal::Accuracy(0.5));
}

#[test]
fn mistakes_about_texts_are_shown_with_their_places() {
    let windows = "windows = { characters = 16, per_epoch = 80 }";
    let no_windows = TEXT.replace(windows, "");
    assert_mistake(&no_windows, &["line 2, column 12", "add `windows = { characters = 64, per_epoch = 2400 }`"]);
    let images = START.replace("batch_size", &format!("{windows}\nbatch_size"));
    let images = with_layers(&[]).replace(START, &images);
    assert_mistake(&images, &["line 3, column 11", "mnist is not a text, so it has no windows: remove this field"]);
    for (line, column, part) in [
        ("shuffle = false", 11, "windows are drawn in a random order: remove this field"),
        ("training_samples = { first = 0, samples = 9 }", 20, "drawn from the whole training text: remove this field"),
        ("last_batch = \"wrap\"", 14, "use `short` or `drop` with `windows`"),
        ("early_stopping = { updates = 9, factor = 2, threshold = 0.9 }", 18, "`windows` leaves none"),
        ("preprocessing = { divisor = 2 }", 17, "the samples of moby-dick are characters"),
        ("target_loss = 0", 15, "a number above 0, but is 0"),
        ("target_accuracy = 0.5\ntarget_loss = 2", 15, "remove `target_accuracy` or `target_loss`"),
    ] {
        let text = TEXT.replace("batch_size", &format!("{line}\nbatch_size"));
        let number = 3 + line.lines().count();
        assert_mistake(&text, &[&format!("line {number}, column {column}: "), part]);
    }
    let untied = "{ conv2d = { filters = 80, kernel_size = 1 } }";
    for (right, wrong, place, part) in [
        ("characters = 16", "characters = 5000", "line 3, column 26", "from 1 to 4096, but is 5000"),
        ("per_epoch = 80", "per_epoch = 0", "line 3, column 42", "from 1 to 16777216, but is 0"),
        ("batch_size = 8", "batch_size = 81", "line 4, column 14", "from 1 to 80, but is 81"),
        ("{ embedding = { units = 12 } }", untied, "line 7", "use embedding, because samples are characters"),
        ("\"word_scores\"", untied, "line 11", "the last layer must be `word_scores`"),
        (
            "causal = true",
            "causal = false",
            "line 10, column 15",
            "`attention` needs `causal = true`: a character must",
        ),
        ("units = 12", "units = 12, first = 1", "line 7", "must read the whole window, without `first` and `count`"),
        (
            "{ layer_norm = {} }",
            "{ dense = { units = 4 } }",
            "line 9",
            "`dense` is not possible in a network that reads",
        ),
        (
            "{ layer_norm = {} }",
            "{ conv2d = { filters = 12, kernel_size = 3, padding = \"same\" } }",
            "line 9, column 12",
            "`conv2d` needs `kernel_size = 1` and no stride",
        ),
    ] {
        assert!(TEXT.contains(right), "{right}");
        assert_mistake(&TEXT.replacen(right, wrong, 1), &[place, part]);
    }
    let schedule = "learning_rate = 0.1, schedule = { cosine = { warm_up = 0.1, last = 2 } }";
    let text = TEXT.replace("learning_rate = 0.1", schedule);
    assert_mistake(&text, &["line 5, column 119", "a share from 0 to 1, but is 2"]);
}

#[test]
fn syntax_error_is_shown_with_its_place() {
    let cases = [
        ("{ dens = { units = 4 } }", "line 6, column 3", "unknown variant `dens`, expected one of `dense`, `conv2d`"),
        ("{ dense = { unit = 4 } }", "line 6, column 13", "unknown field `unit`, expected one of `units`"),
        ("{ dense = {} }", "line 6", "missing field `units`"),
        ("\"dense\"", "line 6, column 1", "missing field `units`"),
        ("\"dens\"", "line 6, column 1", "unknown variant `dens`"),
        ("{ dense = { units = \"many\" } }", "line 6, column 21", "expected u32"),
        (
            "{ dense = { units = 4, activation = \"softmax\" } }",
            "line 6, column 37",
            "expected one of `identity`, `relu`",
        ),
        ("{ dense = { units = 4 }", "line", ""),
    ];
    for (layer, place, part) in cases {
        assert_mistake(&with_layers(&[layer]), &["my.toml, ", place, part]);
    }
}

#[test]
fn a_file_of_json_has_places_as_well() {
    let text = "{\n \"name\": \"mine\", \"data_set\": \"mnist\", \"batch_size\": 64,\n \"optimizer\": { \"rule\": { \"sgd\": \
                { \"momentum\": 0.9 } }, \"learning_rate\": 0.1 },\n \"layers\": [\n  { \"dense\": { \"units\": 10 } }\n ]\n}\n";
    parse("my.json", text, Language::Json).unwrap();
    let cases = [
        ("\"units\": 10", "\"units\": 11", "my.json, line 5, column 25: the last layer has 11 outputs"),
        ("\"momentum\": 0.9", "\"momentum\": 9", "my.json, line 3, column 48: must be from 0 to below 1"),
        ("\"units\": 10", "\"unit\": 10", "my.json, line 5, column 21: unknown field `unit`"),
        ("\"units\": 10 }", "\"units\": 10", "my.json, line 6, column 2: this is not JSON: expected `,` or `}`"),
        ("}\n", "}\n}\n", "this is not JSON: trailing characters"),
    ];
    for (right, wrong, part) in cases {
        let broken = if right == "}\n" { format!("{text}}}\n") } else { text.replacen(right, wrong, 1) };
        let error = parse("my.json", &broken, Language::Json).unwrap_err();
        assert!(error.contains(part), "`{part}` is missing in:\n{error}");
        assert!(error.contains("^"), "{error}");
    }
}

fn odd_number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<u32>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:e}")),
        prop_oneof![Just("0"), Just("1"), Just("65536"), Just("256"), Just("4294967295"), Just("nan"), Just("-inf")]
            .prop_map(str::to_owned),
    ]
}

const BROAD: &str = include_str!("broad.toml");
const LANGUAGE: &str = include_str!("../../../docs/workloads/moby-dick.toml");

fn file() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(BROAD), Just(LANGUAGE)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        for language in [Language::Toml, Language::Json] {
            prop_assert!(parse("f", &text, language).is_err());
        }
    }

    #[test]
    fn no_number_in_a_file_makes_it_panic(file in file(), place in any::<prop::sample::Index>(), number in odd_number()) {
        let mut numbers = Vec::new();
        let mut rest = 0;
        while let Some(start) = file[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
            let end = file[start..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(file.len(), |at| start + at);
            numbers.push(start..end);
            rest = end;
        }
        let mut text = file.to_owned();
        text.replace_range(numbers[place.index(numbers.len())].clone(), &number);
        // Either the network is valid, or the error has a position.
        match parse("f.toml", &text, Language::Toml) {
            Ok(workload) => {
                workload.model.tensors().unwrap();
                workload.model.operations().unwrap();
            }
            Err(error) => prop_assert!(error.starts_with("f.toml, line "), "{}", error),
        }
    }

    #[test]
    fn no_part_of_a_file_makes_it_panic(
        file in file(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        more in "\\PC{0,8}",
    ) {
        let (from, to) = (from.index(file.len()), to.index(file.len()));
        let range = file.floor_char_boundary(from.min(to))..file.floor_char_boundary(from.max(to));
        let mut text = file.to_owned();
        text.replace_range(range, &more);
        if let Err(error) = parse("f.toml", &text, Language::Toml) {
            prop_assert!(error.starts_with("f.toml, line "), "{}", error);
        }
    }
}

#[test]
fn every_workload_can_be_written_as_a_file() {
    for workload in WORKLOADS.iter().map(|make| make()) {
        let written = written(&workload);
        for (language, text) in [
            (Language::Json, serde_json::to_string_pretty(&written).unwrap()),
            (Language::Toml, toml::to_string(&written).unwrap()),
        ] {
            let own = parse(workload.name, &text, language).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(recipe(&own), recipe(&workload), "{}", workload.name);
        }
    }
}

fn written(workload: &Workload) -> Value {
    without_nulls(json!({
        "name": format!("own-{}", workload.name),
        "data_set": workload.data_set,
        "training_samples": workload.training,
        "batch_size": workload.batch_size,
        "last_batch": match workload.batching {
            Batching::ShortLast => "short",
            Batching::DropLast => "drop",
            Batching::Wrap => "wrap",
        },
        "shuffle": (workload.order != SampleOrder::File),
        "windows": windows(workload),
        "epochs": workload.published_epochs,
        "target_accuracy": if let Goal::Accuracy(accuracy) = workload.target { Some(accuracy) } else { None },
        "target_loss": if let Goal::Loss(loss) = workload.target { Some(loss) } else { None },
        "evaluations_per_epoch": workload.evaluations_per_epoch,
        "preprocessing": preprocessing(workload),
        "optimizer": workload.optimizer,
        "loss": workload.loss,
        "average": workload.average,
        "early_stopping": workload.early_stopping,
        "layers": layers(workload),
    }))
}

fn windows(workload: &Workload) -> Value {
    match workload.order {
        SampleOrder::Drawn { per_epoch } => {
            json!({ "characters": workload.model.input.features(), "per_epoch": per_epoch })
        }
        SampleOrder::File | SampleOrder::Shuffled => Value::Null,
    }
}

fn preprocessing(workload: &Workload) -> Value {
    if workload.data_set.starts_with("babi") || windows(workload) != Value::Null {
        return Value::Null;
    }
    let InputRecipe { divisor, normalization, edge, augmentation, test_views } = workload.input;
    let Augmentation { flip, shift, brightness, contrast } = augmentation;
    let (side, set) = (workload.model.input.height, engine::data_set(workload.data_set).unwrap());
    json!({
        "divisor": divisor, "edge": edge, "flip": flip, "shift": shift, "brightness": brightness, "contrast": contrast,
        "normalization": if normalization == Normalization::None { json!("none") } else { json!(normalization) },
        "image_size": if side == set.train.height { None } else { Some(side) },
        "test_views": if test_views == TestView::PLAIN { "plain" } else { "mirrored_and_moved" },
    })
}

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
        options.extend(node.inputs.get(1).map(|&other| ("with".to_owned(), json!(label(other)))));
        options.extend(node.shares.map(|owner| ("shares".to_owned(), json!(label(Source::Node(owner))))));
        layers.push(if options.is_empty() { json!(name) } else { json!({ name: options }) });
        if number + 1 < workload.model.nodes.len() {
            layers.push(json!({ "label": label(Source::Node(number)) }));
        }
    }
    layers
}

/// Returns the name of a layer in a file, and its options under their names there.
fn named(node: &Node) -> (String, Map<String, Value>) {
    let (mut name, mut options) = match without_nulls(json!(node.layer)) {
        Value::String(name) => (name, Map::new()),
        Value::Object(layer) => {
            let (name, options) = layer.into_iter().next().unwrap();
            (name, options.as_object().unwrap().clone())
        }
        other => panic!("{other} is no layer"),
    };
    if let Some(kind) = options.remove("kind") {
        name = format!("{}_pool", kind.as_str().unwrap());
    }
    options.remove("vocabulary");
    let side = if name == "conv2d" { "kernel_size" } else { "size" };
    let mut renamed = vec![("side", side), ("recurrent", "recurrent_initializer"), ("keep", "momentum")];
    if name == "layer_norm" {
        let multipliers = options.remove("bias");
        options.insert("bias".to_owned(), multipliers.is_some().into());
        options.extend(multipliers.map(|value| ("bias_multipliers".to_owned(), value)));
        renamed.push(("scale", "scale_multipliers"));
    }
    renamed.extend((name == "batch_norm").then_some(("bias", "bias_multipliers")));
    for (engine, file) in renamed {
        let value = options.remove(engine);
        options.extend(value.map(|value| (file.to_owned(), value)));
    }
    if let Some(Value::Object(mut weights)) = options.remove("weights") {
        options.insert("bias".to_owned(), weights.contains_key("bias").into());
        let initializers = ["kernel", "bias"].into_iter().filter_map(|tensor| weights.remove_entry(tensor));
        options
            .extend(initializers.map(|(tensor, value)| (format!("{tensor}_initializer"), value)).collect::<Vec<_>>());
        options.extend(weights);
    }
    (name, options)
}

/// Removes nulls, which TOML lacks.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            fields.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[test]
fn line_is_shown_with_a_mark_below_the_place() {
    let text = "name = \"x\"\n\n[[layers]]\ndropout = { rate = 2 }\n";
    let mark = format!("{}^", " ".repeat("dropout = { rate = ".len()));
    let expected = format!("my.toml, line 4, column 20: too much\n  4 | dropout = {{ rate = 2 }}\n    | {mark}");
    let start = text.find("2 }").unwrap();
    assert_eq!(shown("my.toml", text, start..start + 1, "too much"), expected);
    let text = "a = \"ä\"; b\nsecond\n";
    assert!(shown("f", text, 9..10, "m").starts_with("f, line 1, column 9: m"));
    assert_eq!(byte_of(text, 2, 3), text.find("cond").unwrap());
    assert_eq!(byte_of(text, 9, 9), text.len());
}
