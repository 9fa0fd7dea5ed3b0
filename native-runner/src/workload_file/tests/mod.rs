mod mistakes;
mod round_trip;

use std::fs;
use std::path::{Path, PathBuf};

use engine::Workload;
use serde_json::Value;

use super::place::Language;
use super::{load, parse, schema};

/// A file of the documentation.
fn documented(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

/// Everything that decides how a workload trains, without what it is called.
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
fn the_files_of_the_documentation_that_repeat_built_in_networks_do() {
    for (file, name) in [("mnist-mlp.toml", "keras-mnist-mlp"), ("cifar10-cnn.json", "keras-cifar10-cnn")] {
        let own = load(&documented("workloads").join(file)).unwrap();
        assert_eq!(recipe(&own), recipe(&engine::workload(name).unwrap()), "{file}");
        assert!(!own.is_built_in() && own.title != own.name, "{file}");
    }
}

#[test]
fn every_file_of_the_documentation_describes_a_network() {
    let files = fs::read_dir(documented("workloads")).unwrap().map(|entry| entry.unwrap().path());
    let names: Vec<&str> = files.map(|file| load(&file).unwrap_or_else(|error| panic!("{error}")).name).collect();
    assert!(names.len() >= 3 && names.contains(&"mnist-residual"), "{names:?}");
}

#[test]
fn a_name_is_kept_once_however_often_its_file_is_read() {
    let read = || load(&documented("workloads/mnist-mlp.toml")).unwrap();
    let (one, other) = (read(), read());
    assert!(std::ptr::eq(one.name, other.name) && std::ptr::eq(one.description, other.description));
}

#[test]
fn the_schema_of_the_documentation_is_that_of_the_code() {
    let written: Value =
        serde_json::from_str(&fs::read_to_string(documented("workload.schema.json")).unwrap()).unwrap();
    let advice = "`native-runner workloads --schema > docs/workload.schema.json` writes it anew";
    assert!(written == schema().to_value(), "the schema has changed; {advice}");
}

/// Nothing in the file is optional to the schema that is not to the reader, and the other way round.
#[test]
fn the_schema_asks_for_what_the_reader_asks_for() {
    let schema = schema().to_value();
    let mut required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    required.sort_unstable();
    assert_eq!(required, ["batch_size", "data_set", "layers", "name", "optimizer"]);
    let whole: Value =
        serde_json::from_str(&fs::read_to_string(documented("workloads/cifar10-cnn.json")).unwrap()).unwrap();
    for name in required {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(name);
        let error = parse("f", &without.to_string(), Language::Json).unwrap_err();
        assert!(error.contains(&format!("missing field `{name}`")), "{error}");
    }
}

#[test]
fn name_alone_is_a_layer_without_options() {
    let start = "name = \"mine\"\ndata_set = \"mnist\"\nbatch_size = 8\n\
                 optimizer = { rule = { sgd = { momentum = 0 } }, learning_rate = 0.1 }\n";
    let (first, last) = ("{ conv2d = { filters = 4, kernel_size = 3 } }", "{ dense = { units = 10 } }");
    for name in ["batch_norm", "layer_norm"] {
        let parsed = |norm: String| {
            let text = format!("{start}layers = [{first}, {norm}, {last}]");
            parse("f", &text, Language::Toml).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(recipe(&parsed(format!("\"{name}\""))), recipe(&parsed(format!("{{ {name} = {{}} }}"))));
    }
    let rule = start.replace("{ sgd = { momentum = 0 } }", "\"adam\"");
    let error = parse("f", &format!("{rule}layers = [{last}]"), Language::Toml).unwrap_err();
    assert!(error.contains("line 4") && error.contains("its options are missing"), "{error}");
}
