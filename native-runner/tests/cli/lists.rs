use serde_json::Value;

use crate::support::{Runner, adapters};

#[test]
fn help_has_examples_and_every_exit_status() {
    let help = Runner::new("--help").run().expect_status(0).stdout;
    for part in
        ["Examples:", "native-runner --adapter", "--upload", "Exit status:", "5 upload refused", "130 cancelled"]
    {
        assert!(help.contains(part), "`{part}` is missing in:\n{help}");
    }
}

#[test]
fn the_version_names_the_commit() {
    let version = Runner::new("--version").run().expect_status(0).stdout;
    let expected = format!("native-runner {} (", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&expected), "{version}");
}

#[test]
fn workloads_are_listed_for_people_and_for_programs() {
    let text = Runner::new("workloads").run().expect_status(0).stdout;
    assert!(text.contains("keras-mnist-mlp") && text.contains("caffe-mnist"), "{text}");
    let json = Runner::new("workloads --json").run().expect_status(0).stdout;
    let listed: Vec<Value> = serde_json::from_str(&json).unwrap();
    let mlp = listed.iter().find(|workload| workload["name"] == "keras-mnist-mlp").unwrap();
    assert_eq!(mlp["parameters"], 669_706);
    assert_eq!(mlp["training_flops_per_sample"], 3_209_216);
    assert_eq!(mlp["batch_size"], 128);
}

#[test]
fn back_ends_are_listed_for_people_and_for_programs() {
    let text = Runner::new("backends").run().expect_status(0).stdout;
    assert!(text.contains("wgsl") && text.contains("reference"), "{text}");
    let json = Runner::new("backends --json").run().expect_status(0).stdout;
    let listed: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert!(listed.iter().any(|backend| backend["name"] == "reference" && backend["uses_adapter"] == false));
    for backend in &listed {
        let usable = backend["built"] == true && backend["runs"] == true;
        assert!(usable || backend["remark"].as_str().is_some_and(|remark| !remark.is_empty()), "{backend}");
        assert!(text.contains(backend["name"].as_str().unwrap()), "{backend} is missing in:\n{text}");
    }
}

#[test]
fn adapters_are_listed_by_index_and_software_is_never_the_default() {
    let listed = adapters();
    for (index, entry) in listed.iter().enumerate() {
        assert_eq!(entry.index, index);
        assert!(!(entry.default && entry.adapter.software), "{}", entry.adapter.name);
    }
    let text = Runner::new("adapters").run().expect_status(0).stdout;
    for entry in &listed {
        assert!(text.contains(&entry.adapter.name), "{} is missing in:\n{text}", entry.adapter.name);
    }
    assert!(!text.is_empty());
}

#[test]
fn data_sets_are_listed_with_where_they_come_from() {
    let text = Runner::new("data-sets").run().expect_status(0).stdout;
    assert!(text.contains("mnist") && text.contains("generated; --babi"), "{text}");
    let json = Runner::new("data-sets --json --babi stories").run().expect_status(0).stdout;
    let listed: Vec<Value> = serde_json::from_str(&json).unwrap();
    let set = |name| listed.iter().find(|set| set["name"] == name).unwrap();
    assert_eq!(set("mnist")["whence"], "files");
    assert_eq!(set("babi-qa2")["train"]["samples"], 1000);
    assert_eq!(set("babi-qa2")["folder"], "stories");
    let json = Runner::new("data-sets --json").run().expect_status(0).stdout;
    let listed: Vec<Value> = serde_json::from_str(&json).unwrap();
    for (name, whence) in [("babi-qa1", "generated"), ("generated-images-224", "always_generated")] {
        assert!(listed.iter().any(|set| set["name"] == name && set["whence"] == whence), "{name}: {json}");
    }
}
