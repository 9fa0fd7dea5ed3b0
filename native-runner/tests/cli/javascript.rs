//! TensorFlow.js and jax-js as external programs, from the bundles that the page has: in Node where they compute on the
//! processor, and in a worker of Chromium where they need a browser. `cargo xtask test` makes the bundles where npm is.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::external::{expect_golden, trace_line};
use crate::support::{Runner, skipped};

/// What the rest of these tests is skipped for, once it was told.
struct Bundles {
    folder: PathBuf,
}

impl Bundles {
    /// Those that were made for these tests, if Node and, where it is needed, Chromium are there too.
    fn find(host: &str) -> Option<Self> {
        let Some(folder) = env::var_os("GRADMARK_FRAMEWORKS").map(PathBuf::from) else {
            skipped("javascript", "GRADMARK_FRAMEWORKS names no bundles; `cargo xtask test` makes them where npm is");
            return None;
        };
        let programs: &[&str] = if host == CHROMIUM { &["node", "chromium"] } else { &["node"] };
        for program in programs {
            let mut command = Command::new(program);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            if !command.status().is_ok_and(|status| status.success()) {
                skipped("javascript", &format!("there is no {program}"));
                return None;
            }
        }
        assert!(folder.join("tfjs-cpu/worker.js").is_file(), "{} holds no bundles", folder.display());
        Some(Self { folder })
    }

    /// What runs a bundle as a program.
    fn command(&self, host: &str, name: &str) -> String {
        let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/frameworks").join(host);
        format!("{name}=node '{}' '{}'", host.display(), self.folder.join(name).display())
    }

    fn reproduces(&self, host: &str, name: &str, traces: &[&str]) {
        for trace in traces {
            let line = format!("{} --program-timeout 600", trace_line(trace, name));
            let runner = Runner::new(&line).arg("--program").arg(self.command(host, name));
            expect_golden(trace, name, &runner.run().expect_status(0).stdout);
        }
    }
}

const NODE: &str = "node.mjs";
const CHROMIUM: &str = "chromium.mjs";

#[test]
#[ignore = "needs the bundles of other frameworks"]
fn frameworks_of_javascript_reproduce_the_golden_traces_on_the_processor() {
    let Some(bundles) = Bundles::find(NODE) else { return };
    bundles.reproduces(NODE, "tfjs-wasm", &["keras-mnist-mlp-small", "keras-mnist-mlp-dropout"]);
    bundles.reproduces(NODE, "jax-js-wasm", &["keras-mnist-mlp-dropout", "keras-mnist-cnn-small"]);
}

/// WebAssembly lacks the gradients of convolutions. A test of its own, because it takes longer than all others.
#[test]
#[ignore = "needs the bundles of other frameworks"]
fn the_plain_back_end_of_tensorflow_js_reproduces_a_golden_trace_with_convolutions() {
    let Some(bundles) = Bundles::find(NODE) else { return };
    bundles.reproduces(NODE, "tfjs-cpu", &["keras-mnist-cnn-small"]);
}

/// Convolutions take minutes there; docs/EXTERNAL.md says which traces were held to by hand.
#[test]
#[ignore = "needs the bundles of other frameworks"]
fn frameworks_of_javascript_reproduce_a_golden_trace_on_the_gpu_of_a_browser() {
    let Some(bundles) = Bundles::find(CHROMIUM) else { return };
    for name in ["tfjs-webgpu", "tfjs-webgl", "jax-js-webgpu"] {
        bundles.reproduces(CHROMIUM, name, &["keras-mnist-mlp-small"]);
    }
}

#[test]
#[ignore = "needs the bundles of other frameworks"]
fn a_network_that_a_framework_cannot_express_is_refused_with_the_reason_and_others_go_on() {
    let Some(bundles) = Bundles::find(NODE) else { return };
    let line = "--backend tfjs-wasm --workload caffe-mnist,keras-mnist-mlp --batch-size 16 --steps 4 --json -";
    let runner = Runner::new(line).arg("--program").arg(bundles.command(NODE, "tfjs-wasm"));
    let document: Value = serde_json::from_str(&runner.run().expect_status(1).stdout).unwrap();
    let text = document.to_string();
    assert!(text.contains("its wasm back end has no kernel Conv2DBackpropFilter"), "{text}");
    // The seed draws the order in which they train.
    let workload = |name: &str| {
        let workloads = document["workloads"].as_array().unwrap_or_else(|| panic!("{text}"));
        workloads.iter().find(|workload| workload["workload"] == name).unwrap_or_else(|| panic!("{text}"))
    };
    assert_eq!(workload("caffe-mnist")["outcome"]["cause"], "unsupported", "{text}");
    assert_eq!(workload("keras-mnist-mlp")["outcome"]["kind"], "completed", "{text}");
    assert_eq!(workload("keras-mnist-mlp")["correctness"]["passed"], true, "{text}");
}
