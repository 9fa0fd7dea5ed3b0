//! Compares training throughput in a browser with `native-runner` on the same adapter:
//!
//! ```sh
//! cargo run --release -p browser-tests --example browser_tax -- firefox keras-mnist-mlp,keras-babi-rnn
//! ```
//!
//! The browser (`firefox` or `chromium`) and `native-runner` take turns. Each trains every network three times for
//! twelve seconds, without subgroups, which some browsers lack. Requires the build of `cargo xtask test browser-tests`.
//! `chromium` runs on SwiftShader and `native-runner` on llvmpipe, so only Firefox is measured on the same adapter.

use std::cell::RefCell;
use std::env;
use std::process::Command;
use std::time::Duration;

use browser_tests::{Page, Setup, drive, drive_firefox, find_program};
use serde_json::Value;

const TURNS: u32 = 3;
const SECONDS: u32 = 12;
/// Longer than preparing and training.
const UNWATCHED_SECONDS: u64 = 30;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [browser, workloads] = &arguments[..] else { panic!("name a browser, `firefox` or `chromium`, and workloads") };
    for workload in workloads.split(',') {
        let mut ratios = Vec::new();
        for turn in 1..=TURNS {
            let native = train_natively(workload);
            let page = train_in_browser(browser, workload);
            let (native_rate, page_rate) = (samples_per_second(&native), samples_per_second(&page));
            ratios.push(page_rate / native_rate);
            println!(
                "{workload}, turn {turn}: native {native_rate:.0} samples/s, {browser} {page_rate:.0}, ratio {:.2}",
                page_rate / native_rate
            );
            for (name, record) in [("native-runner", &native), (browser.as_str(), &page)] {
                println!("    {name}: {}; {}", record["device"]["adapter"]["driver"], variants(record));
            }
        }
        ratios.sort_by(f64::total_cmp);
        println!("{workload}: the median ratio is {:.2}", ratios[ratios.len() / 2]);
    }
}

fn train_natively(workload: &str) -> Value {
    let program = find_program("GRADMARK_NATIVE_RUNNER", "native-runner").expect("the path of this program");
    let seconds = SECONDS.to_string();
    let output = Command::new(&program)
        .args(["--adapter", "cpu", "--without", "subgroups", "--seed", "1", "--json", "-"])
        .args(["--workload", workload, "--seconds", &seconds])
        .output()
        .unwrap_or_else(|error| panic!("{} cannot be started: {error}", program.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a record")
}

fn train_in_browser(browser: &str, workload: &str) -> Value {
    let record = RefCell::new(Value::Null);
    let path = format!("/?workload={workload}&seconds={SECONDS}&without=subgroups");
    match browser {
        "firefox" => drive_firefox(Setup::USUAL, async |page| *record.borrow_mut() = train(page, &path).await),
        "chromium" => drive(Setup::USUAL, async |page| *record.borrow_mut() = train(page, &path).await),
        other => panic!("{other} is neither `firefox` nor `chromium`"),
    }
    record.into_inner()
}

async fn train(page: &impl Page, path: &str) -> Value {
    page.start(path).await;
    // Watching takes time of the processor that llvmpipe computes on.
    page.leave_alone(Duration::from_secs(UNWATCHED_SECONDS)).await;
    page.watch_to_the_end().await;
    page.record().await
}

fn samples_per_second(record: &Value) -> f64 {
    record["workloads"][0]["summary"]["samples_per_second"].as_f64().expect("a number")
}

fn variants(record: &Value) -> String {
    let variants = record["workloads"][0]["settings"]["variants"].as_array().expect("variants");
    variants.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}
