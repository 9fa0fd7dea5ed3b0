//! The values that fields of records and requests may have.

use results::{Correctness, Feature, Outcome, Resources};

use super::bounds::Allowed::{self, Filled, Finite, List, Name, Number, Sha256, Text, Whole};
use super::bounds::FieldRule;
use crate::proof::MAX_HASHES;

const LABEL: usize = 64;
const REPORTED_NAME: usize = 200;
const WORKLOADS: usize = 64;
const SHARE: Allowed = Number(0.0, 1.0);
/// Up to a week. No run of a suite takes longer.
const SECONDS: Allowed = Number(0.0, 7.0 * 86_400.0);
/// The latest time is in the year 5000. Beyond that, a clock is not merely wrong.
const UNIX_SECONDS: Allowed = Number(0.0, 1e11);
const NOT_NEGATIVE: Allowed = Number(0.0, f64::MAX);
/// Rounding may put a loss just below zero.
const LOSS: Allowed = Number(-1e-3, f64::MAX);
const SUITE_VERSION: Allowed = Whole(1, 10_000);
const BATCH: Allowed = Whole(1, 65_536);
/// Up to a pebibyte, more than any machine's memory.
const BYTES: Allowed = Whole(0, 1 << 50);
/// CPU usage of one process, up to the largest existing machine's.
const CPU_PERCENT: Allowed = Number(0.0, 65_536.0 * 100.0);
/// A week at more power than a rack of machines draws.
const JOULES: Allowed = Number(0.0, MAX_WATTS * 7.0 * 86_400.0);
const MAX_WATTS: f64 = 1e6;
/// More operations or bytes per second than any machine reaches.
const PER_SECOND: Allowed = Number(1.0, 1e18);
/// Maximum length of any list of points in time. A run of six hours has some 20,000 windows.
const POINTS: usize = 50_000;
pub(crate) const MAX_ROWS: u64 = 500;
pub(super) const MAX_STEPS: u64 = 1 << 40;

pub(super) const RECORD: &[FieldRule] = &[
    ("", &["run_id"], Text(LABEL)),
    ("", &["nonce"], Text(2 * LABEL)),
    ("suite", &["name"], Name),
    ("suite", &["version"], SUITE_VERSION),
    ("requested", &["workloads"], List(WORKLOADS)),
    ("requested", &["workloads[]", "backend"], Name),
    ("requested", &["adapter"], Filled(REPORTED_NAME)),
    ("requested", &["without"], List(Feature::ALL.len())),
    ("provenance", &["engine_version", "commit"], Filled(LABEL)),
    ("provenance", &["started_unix_seconds"], UNIX_SECONDS),
    ("provenance", &["wall_seconds"], SECONDS),
    ("provenance.client", &["name", "version", "operating_system"], Filled(LABEL)),
    ("provenance.client", &["logical_processors"], Whole(1, 65_536)),
    ("device", &["backend"], Name),
    ("device", &["claimed_name"], Text(100)),
    ("device.adapter", &["name", "vendor", "architecture", "api", "driver"], Text(REPORTED_NAME)),
    ("", &["warnings"], List(256)),
    ("warnings[]", &["workload", "backend"], Name),
    ("warnings[]", &["name"], Text(REPORTED_NAME)),
    ("warnings[]", &["reason"], Text(300)),
    ("warnings[]", &["flops_per_second"], Number(0.0, 1e18)),
    ("warnings[]", &["half_width_percent"], Number(0.0, 1e6)),
    ("warnings[]", &["accuracy", "chance", "share"], SHARE),
    ("warnings[]", &["seconds", "paused_seconds", "budget_seconds", "resolution_seconds"], SECONDS),
    ("", &["workloads"], List(WORKLOADS)),
    ("workloads[]", &["workload"], Name),
    ("workloads[].settings", &["batch_size"], BATCH),
    ("workloads[].settings", &["training_samples", "test_samples"], Whole(1, 100_000_000)),
    ("workloads[].settings", &["chance_accuracy"], SHARE),
    ("workloads[].settings", &["learning_rate"], Number(f64::MIN_POSITIVE, 1000.0)),
    ("workloads[].settings", &["parameters"], Whole(1, 1_000_000_000_000)),
    ("workloads[].settings", &["training_flops_per_sample"], Whole(1, 1_000_000_000_000_000)),
    ("workloads[].settings", &["device_memory_bytes"], BYTES),
    ("workloads[].settings", &["variants"], List(256)),
    ("workloads[].settings", &["variants[]"], Filled(200)),
    ("workloads[].outcome", &["step"], Whole(0, MAX_STEPS)),
    ("workloads[].outcome", &["reason"], Filled(Outcome::MAX_REASON_CHARACTERS)),
    ("workloads[].cold_start", &["data_seconds", "build_seconds", "compiling_seconds"], SECONDS),
    ("workloads[].cold_start", &["tuning_seconds", "first_step_seconds"], SECONDS),
    ("workloads[].correctness", &["batch_size"], BATCH),
    ("workloads[].correctness", &["redraws"], Whole(0, Correctness::MAX_REDRAWS as u64)),
    ("workloads[].correctness", &["largest_difference", "differences[].largest_difference"], NOT_NEGATIVE),
    ("workloads[].correctness", &["losses"], List(1000)),
    ("workloads[].correctness", &["losses[]", "reference_losses[]"], Finite),
    // One of each kind.
    ("workloads[].correctness", &["differences"], List(8)),
    ("workloads[].correctness.whole_batch", &["loss", "loss_of_parts"], Finite),
    ("workloads[].correctness.whole_batch", &["gradient_difference"], NOT_NEGATIVE),
    ("workloads[]", &["windows", "curve", "evaluations"], List(POINTS)),
    ("workloads[]", &["epochs"], List(10_000)),
    ("workloads[]", &["first_losses"], List(1000)),
    ("workloads[]", &["weight_samples"], List(4096)),
    ("workloads[]", &["timeline"], List(100_000)),
    ("workloads[]", &["windows[].seconds", "epochs[].seconds", "evaluations[].seconds", "timeline[].seconds"], SECONDS),
    ("workloads[]", &["curve[].training_seconds", "evaluations[].training_seconds"], NOT_NEGATIVE),
    ("workloads[]", &["curve[].loss", "evaluations[].loss", "epochs[].loss"], LOSS),
    ("workloads[]", &["curve[].accuracy", "evaluations[].accuracy", "epochs[].accuracy"], SHARE),
    ("workloads[].peaks[]", &["flops_per_second", "copied_bytes_per_second"], PER_SECOND),
    ("workloads[].target", &["accuracy"], SHARE),
    ("workloads[].target", &["loss"], NOT_NEGATIVE),
    ("workloads[].target", &["reached_seconds"], SECONDS),
    ("workloads[]", &["first_losses[]", "weight_samples[].value"], Finite),
    ("workloads[].segments[]", &["state_sha256"], Sha256),
    ("workloads[].resources", &["cpu_user_percent", "cpu_system_percent", "machine_io_wait_percent"], CPU_PERCENT),
    ("workloads[].resources", &["resident_memory_average_bytes", "resident_memory_maximum_bytes"], BYTES),
    ("workloads[].resources", &["samples"], List(Resources::MAX_SAMPLES)),
    ("workloads[].resources.samples[]", &["seconds"], SECONDS),
    ("workloads[].resources.samples[]", &["gpu_busy_percent"], Number(0.0, 100.0)),
    ("workloads[].resources.samples[]", &["gpu_memory_bytes"], BYTES),
    ("workloads[].resources.samples[]", &["gpu_power_watts"], Number(0.0, MAX_WATTS)),
    ("workloads[].resources.samples[]", &["gpu_energy_joules", "processor_energy_joules"], JOULES),
    ("workloads[].resources.samples[]", &["gpu_clock_hertz"], Number(0.0, 1e12)),
    ("workloads[].resources.samples[]", &["gpu_temperature_celsius"], Number(-273.15, 1000.0)),
];

/// Requests of a run before and while it trains.
pub(super) const REQUEST: &[FieldRule] = &[
    ("suite", &["name"], Name),
    ("suite", &["version"], SUITE_VERSION),
    ("", &["engine_version"], Filled(LABEL)),
    ("", &["nonce"], Text(2 * LABEL)),
    ("", &["workload"], Name),
    ("", &["segment"], Whole(0, POINTS as u64 - 1)),
    ("", &["step", "tested_step", "target_step"], Whole(1, MAX_STEPS)),
    ("", &["state_sha256", "losses_sha256"], Sha256),
    ("hashes", &["steps[]"], Whole(0, MAX_STEPS)),
    ("hashes", &["losses[]"], Finite),
    ("hashes", &["state_sha256"], List(MAX_HASHES as usize)),
    ("hashes", &["state_sha256[]"], Sha256),
];

pub(super) const QUERY: &[FieldRule] = &[
    ("", &["backend"], Name),
    ("", &["limit"], Whole(1, MAX_ROWS)),
    // Every row before a page is counted again.
    ("", &["offset"], Whole(0, 10_000)),
];

/// A comparison, except its records.
pub(super) const COMPARISON: &[FieldRule] = &[
    // Eight backends with three seeds each.
    ("", &["records", "refused"], List(24)),
    ("refused[].contender", &["backend"], Name),
    // Backends describe at length what they lack.
    ("refused[]", &["reason"], Filled(2000)),
];

#[cfg(test)]
mod tests {
    use results::RunRecord;
    use results::api::SharedComparison;
    use schemars::{JsonSchema, schema_for};
    use serde_json::Value;

    use super::*;

    /// Returns true if documents of a schema may have a value at a path, whose parts are names of fields, or `[]`.
    fn has_value(root: &Value, schema: &Value, path: &[&str]) -> bool {
        if let Some(definition) = schema["$ref"].as_str() {
            return has_value(root, root.pointer(definition.trim_start_matches('#')).unwrap(), path);
        }
        let Some((part, rest)) = path.split_first() else { return true };
        let inner = if *part == "[]" { &schema["items"] } else { &schema["properties"][part] };
        let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|of| schema[of].as_array()).flatten();
        (!inner.is_null() && has_value(root, inner, rest))
            || alternatives.into_iter().any(|of| has_value(root, of, path))
    }

    fn assert_fields_exist<T: JsonSchema>(table: &[FieldRule]) {
        let schema = schema_for!(T).to_value();
        for (path, fields, _) in table {
            for field in *fields {
                let whole = format!("{path}.{field}").replace("[]", ".[]");
                let parts: Vec<&str> = whole.split('.').filter(|part| !part.is_empty()).collect();
                assert!(has_value(&schema, &schema, &parts), "{whole} is no field");
            }
        }
    }

    #[test]
    fn every_rule_has_a_field() {
        assert_fields_exist::<RunRecord>(RECORD);
        assert_fields_exist::<SharedComparison>(COMPARISON);
    }
}
