use results::statistics::median;
use results::{ResourceSample, WorkloadRecord};

use crate::figures::mebibytes;

/// What a workload took of its machine, each part that is known; `None` where nothing is.
pub(super) fn in_words(record: &WorkloadRecord) -> Option<String> {
    let resources = &record.resources;
    let mut parts = Vec::new();
    parts.extend(resources.cpu_user_percent.map(|percent| format!("processor {percent:.0} % in user mode")));
    parts.extend(resources.cpu_system_percent.map(|percent| format!("{percent:.0} % in system mode")));
    parts.extend(resources.machine_io_wait_percent.map(|percent| format!("machine waiting for discs {percent:.0} %")));
    parts.extend(
        resources.resident_memory_average_bytes.zip(resources.resident_memory_maximum_bytes).map(
            |(average, maximum)| format!("memory {} on average, {} at most", mebibytes(average), mebibytes(maximum)),
        ),
    );
    let usual = |value: fn(&ResourceSample) -> Option<f64>| {
        median(&resources.samples.iter().filter_map(value).collect::<Vec<_>>())
    };
    parts.extend(usual(|of| of.gpu_busy_percent).map(|percent| format!("GPU busy {percent:.0} %")));
    let gpu_memory = resources.samples.iter().filter_map(|sample| sample.gpu_memory_bytes).max();
    parts.extend(gpu_memory.map(|bytes| format!("GPU memory {} at most", mebibytes(bytes))));
    parts.extend(usual(|of| of.gpu_power_watts).map(|watts| format!("{watts:.0} W")));
    parts.extend(usual(|of| of.gpu_clock_hertz).map(|hertz| format!("{:.0} MHz", hertz / 1e6)));
    parts.extend(usual(|of| of.gpu_temperature_celsius).map(|degrees| format!("{degrees:.0} °C")));
    (!parts.is_empty()).then(|| format!("{}: {}", record.workload, parts.join(" · ")))
}
