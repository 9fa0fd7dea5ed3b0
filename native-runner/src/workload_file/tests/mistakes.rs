//! What is said of a file with something wrong in it, and where.

use proptest::prelude::*;

use super::super::place::Language;
use super::parse;

const START: &str = "name = \"mine\"\ndata_set = \"mnist\"\nbatch_size = 64\n";
const OPTIMIZER: &str = "optimizer = { rule = { sgd = { momentum = 0.9 } }, learning_rate = 0.1 }\n";
const END: &str = "{ dense = { units = 10 } },\n";

/// A file with these layers, one in each line from line 6 on, before the last.
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
fn a_layer_that_does_not_fit_is_shown_with_its_shapes() {
    let small = "{ conv2d = { filters = 8, kernel_size = 5, stride = 5 } }";
    let cases: [(&[&str], &[&str]); 16] = [
        (
            &[small, "{ conv2d = { filters = 8, kernel_size = 9 } }"],
            &["my.toml, line 7, column 41: a window of 9 × 9 does not fit", "input of 5 × 5", "\n  7 | { conv2d", "^"],
        ),
        (&[small, "{ max_pool = { size = 6 } }"], &["line 7, column 23", "6 × 6"]),
        (
            &["\"flatten\"", "{ conv2d = { filters = 8, kernel_size = 3 } }"],
            &["line 7, column 12", "`conv2d` cannot read the vector that `flatten` makes", "only dense and dropout"],
        ),
        (&["{ dense = { units = 4 } }", "\"relu\"", "\"tanh\""], &["line 8, column 1", "right behind the layer"]),
        (&["{ dense = { units = 4, activation = \"tanh\" } }", "\"relu\""], &["line 7, column 1", "has an activation"]),
        (
            &["{ max_pool = { size = 2 } }"],
            &["line 6, column 14", "cannot read the samples of mnist", "conv2d, dense, lstm, gru or simple_rnn"],
        ),
        (&["{ embedding = { units = 4 } }"], &["line 6", "cannot read the samples of mnist"]),
        (
            &["{ gru = { units = 4, activation = \"gelu\" } }"],
            &["line 6, column 35", "the activation of a recurrent layer is `tanh` or `relu`"],
        ),
        (&["{ simple_rnn = { units = 0 } }"], &["line 6, column 26", "must be from 1"]),
        (&["{ dropout = { rate = 0.5 } }"], &["line 6", "`dropout` cannot read the samples"]),
        (&[small, "{ add = { with = \"x\" } }"], &["line 7, column 18", "no layer before has the label `x`", "none"]),
        (
            &[small, "{ label = \"a\" }", "{ max_pool = { size = 2 } }", "{ add = { with = \"a\" } }"],
            &["line 9, column 18", "5 × 5 × 8 cannot be added to 2 × 2 × 8"],
        ),
        (&[small, "{ label = \"a\" }", "{ label = \"a\" }"], &["line 8, column 11", "another layer has the label `a`"]),
        (
            &[small, "{ label = \"a\" }", "{ max_pool = { size = 2 } }", "{ from = \"a\" }"],
            &["line 8, column 14", "nothing reads what this layer makes"],
        ),
        (
            &[small, "{ dropout = { rate = 0.5 } }", "{ dropout = { rate = 0.5 } }"],
            &["line 8, column 13", "not possible here: dropout behind dropout"],
        ),
        (&[small, "{ attention = { heads = 2 } }"], &["line 7, column 15", "8 channels are not three times 2 heads"]),
    ];
    for (layers, parts) in cases {
        assert_mistake(&with_layers(layers), parts);
    }
}

#[test]
fn the_last_layer_makes_a_number_for_each_class() {
    let ending = |last: &str| format!("{START}{OPTIMIZER}layers = [\n{{ dense = {{ units = 4 }} }},\n{last}]\n");
    let cases: [(&str, &[&str]); 5] = [
        (
            "{ dense = { units = 12 } }",
            &["line 7, column 21", "12 numbers, and mnist has 10 classes: `units` must be 10"],
        ),
        ("{ dense = { units = 10, activation = \"relu\" } }", &["line 7", "it has no activation"]),
        ("{ dense = { units = 10 } }, { softmax = {} }", &["line 7, column 41", "makes their softmax itself"]),
        ("{ dropout = { rate = 0.1 } }", &["line 7", "the last layer must be `dense` with 10 units"]),
        ("{ dense = { units = 10 } }, { from = \"data\" }", &["`from` is the last word"]),
    ];
    for (last, parts) in cases {
        assert_mistake(&ending(last), parts);
    }
    assert_mistake(
        &format!("{START}{OPTIMIZER}layers = []\n"),
        &["line 5, column 10", "1 to 1024 layers, and here are 0"],
    );
    assert_mistake(&format!("{START}{OPTIMIZER}layers = [\"flatten\"]\n"), &["no layer computes anything"]);
}

#[test]
fn a_number_out_of_its_bounds_is_shown_with_them() {
    let cases = [
        ("{ dense = { units = 0 } }", "units", "must be from 1 to 65536, and is 0"),
        ("{ conv2d = { filters = 8, kernel_size = 3, stride = 0 } }", "stride", "must be from 1 to 256, and is 0"),
        ("{ conv2d = { filters = 8, kernel_size = 3, padding = { zeros = 3 } } }", "zeros", "from 0 to 2, and is 3"),
        (
            "{ dense = { units = 4, kernel_initializer = { normal = { deviation = 0 } } } }",
            "deviation",
            "above 0, and is 0",
        ),
        (
            "{ dense = { units = 4, kernel_initializer = \"dirac\" } }",
            "kernel_initializer",
            "only the kernel of a `conv2d`",
        ),
        ("{ dense = { units = 4, bias_initializer = \"orthogonal\" } }", "bias_initializer", "a bias is none"),
        ("{ dense = { units = 4, bias_multipliers = { frozen_from = 2 } } }", "frozen_from", "from 0 to 1, and is 2"),
        (
            "{ conv2d = { filters = 8, kernel_size = 2, kernel_initializer = { whitened_patches = { epsilon = 1e-3 } } } }",
            "kernel_initializer",
            "colour images",
        ),
    ];
    for (layer, field, part) in cases {
        let column = layer.find(field).unwrap() + field.len() + " = ".len() + 1;
        assert_mistake(&with_layers(&[layer]), &[&format!("line 6, column {column}: "), part]);
    }
    let pool = "{ max_pool = { size = 2, stride = 3, rounding = \"ceil\" } }";
    let begin = "{ conv2d = { filters = 8, kernel_size = 3 } }";
    assert_mistake(&with_layers(&[begin, pool]), &["line 7, column 49", "outside of the image"]);
    let huge = "{ dense = { units = 65536 } }";
    assert_mistake(&with_layers(&[huge, huge]), &["line 7", "4294967296 weights"]);
}

#[test]
fn a_recipe_that_is_not_possible_is_shown_where_it_is() {
    let valid = with_layers(&[]);
    let cases = [
        ("name = \"mine\"", "name = \"keras-mnist-mlp\"", "line 1, column 8", "a built-in workload is called"),
        ("name = \"mine\"", "name = \"My net\"", "line 1, column 8", "small letters, digits and hyphens"),
        ("\"mnist\"", "\"imagenet\"", "line 2, column 12", "no data set `imagenet`; there are: mnist, cifar10"),
        ("batch_size = 64", "batch_size = 60001", "line 3, column 14", "from 1 to 60000, and is 60001"),
        ("batch_size = 64", "batch_size = 64\nlast_batch = \"wrap\"", "line 4, column 14", "`shuffle = false`"),
        ("batch_size = 64", "batch_size = 64\nepochs = 0", "line 4, column 10", "from 1 to 100000"),
        (
            "batch_size = 64",
            "batch_size = 64\ntarget_accuracy = 97",
            "line 4, column 19",
            "a share from 0 to 1, and is 97",
        ),
        (
            "batch_size = 64",
            "batch_size = 64\nearly_stopping = { updates = 9, factor = 2, threshold = 0.9 }",
            "line 4, column 18",
            "nothing is held out",
        ),
        ("batch_size = 64", "batch_size = 64\npreprocessing = { brightness = 1 }", "line 4, column 32", "each_image"),
        (
            "batch_size = 64",
            "batch_size = 64\npreprocessing = { normalization = \"local_contrast\" }",
            "line 4, column 35",
            "images in colour",
        ),
        (
            "batch_size = 64",
            "batch_size = 64\naverage = { lookahead = { every = 0, decay = 0.9 } }",
            "column 35",
            "at least 1",
        ),
        ("momentum = 0.9", "momentum = 1.0", "line 4, column 43", "from 0 to below 1, and is 1"),
        ("learning_rate = 0.1", "learning_rate = -0.1", "line 4, column 68", "above 0, and is -0.1"),
        (
            "learning_rate = 0.1",
            "learning_rate = 0.1, schedule = { linear = { points = [[0.5, 1], [0.2, 2]] } }",
            "line 4, column 106",
            "in the order of their shares",
        ),
        ("\"mnist\"", "\"babi-qa1\"", "line 6", "this must be embedding"),
    ];
    for (right, wrong, place, part) in cases {
        assert!(valid.contains(right), "{right}");
        assert_mistake(&valid.replacen(right, wrong, 1), &[place, part]);
    }
}

#[test]
fn what_is_no_such_file_at_all_is_shown_as_well() {
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
        ("\"units\": 10", "\"units\": 11", "my.json, line 5, column 25: the last layer makes 11 numbers"),
        ("\"momentum\": 0.9", "\"momentum\": 9", "my.json, line 3, column 48: must be from 0 to below 1"),
        ("\"units\": 10", "\"unit\": 10", "my.json, line 5, column 21: unknown field `unit`"),
        ("\"units\": 10 }", "\"units\": 10", "my.json, line 6, column 1: this is no JSON: expected value"),
        ("}\n", "}\n}\n", "this is no JSON: trailing characters"),
    ];
    for (right, wrong, part) in cases {
        let broken = if right == "}\n" { format!("{text}}}\n") } else { text.replacen(right, wrong, 1) };
        let error = parse("my.json", &broken, Language::Json).unwrap_err();
        assert!(error.contains(part), "`{part}` is missing in:\n{error}");
        assert!(error.contains("^"), "{error}");
    }
}

/// Numbers that end a type, or a computation.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        for language in [Language::Toml, Language::Json] {
            prop_assert!(parse("f", &text, language).is_err());
        }
    }

    #[test]
    fn no_number_in_a_file_makes_it_panic(place in any::<prop::sample::Index>(), number in odd_number()) {
        let mut numbers = Vec::new();
        let mut rest = 0;
        while let Some(start) = BROAD[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
            let end = BROAD[start..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(BROAD.len(), |at| start + at);
            numbers.push(start..end);
            rest = end;
        }
        let mut text = BROAD.to_owned();
        text.replace_range(numbers[place.index(numbers.len())].clone(), &number);
        // Either it is a network, of which everything can be told, or the place is.
        match parse("f.toml", &text, Language::Toml) {
            Ok(workload) => {
                workload.model.tensors().unwrap();
                workload.model.operations().unwrap();
            }
            Err(error) => prop_assert!(error.starts_with("f.toml, line "), "{}", error),
        }
    }

    #[test]
    fn no_part_of_a_file_makes_it_panic(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), more in "\\PC{0,8}") {
        let (from, to) = (from.index(BROAD.len()), to.index(BROAD.len()));
        let range = BROAD.floor_char_boundary(from.min(to))..BROAD.floor_char_boundary(from.max(to));
        let mut text = BROAD.to_owned();
        text.replace_range(range, &more);
        if let Err(error) = parse("f.toml", &text, Language::Toml) {
            prop_assert!(error.starts_with("f.toml, line "), "{}", error);
        }
    }
}

#[test]
fn the_broad_file_is_a_network() {
    let workload = parse("broad.toml", BROAD, Language::Toml).unwrap_or_else(|error| panic!("{error}"));
    assert!(workload.model.parameters().unwrap() > 0);
}
