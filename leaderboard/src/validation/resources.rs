//! What a workload took of its machine, and the samples of it.

use results::{ResourceSample, Resources};

use super::bounds::{Checked, FieldPath};
use super::run::LONGEST_SECONDS;
use super::workload::MOST_BYTES;

/// One process on the largest machine there is.
const MOST_CPU_PERCENT: f64 = 65_536.0 * 100.0;
/// A rack of them draws no more.
const MOST_WATTS: f64 = 1e6;
const MOST_JOULES: f64 = MOST_WATTS * LONGEST_SECONDS;
const MOST_HERTZ: f64 = 1e12;
const COLDEST_CELSIUS: f64 = -273.15;
const HOTTEST_CELSIUS: f64 = 1000.0;

/// `path` is that of the resources.
pub(super) fn check(path: &FieldPath<'_>, resources: &Resources) -> Checked {
    for (name, percent) in [
        ("cpu_user_percent", resources.cpu_user_percent),
        ("cpu_system_percent", resources.cpu_system_percent),
        ("machine_io_wait_percent", resources.machine_io_wait_percent),
    ] {
        path.field(name).optional_number(percent, 0.0..=MOST_CPU_PERCENT)?;
    }
    let (average, maximum) = (resources.resident_memory_average_bytes, resources.resident_memory_maximum_bytes);
    path.field("resident_memory_average_bytes").whole(average.unwrap_or(0), 0..=MOST_BYTES)?;
    path.field("resident_memory_maximum_bytes").whole(maximum.unwrap_or(0), 0..=MOST_BYTES)?;
    path.field("resident_memory_average_bytes").holds(
        average.zip(maximum).is_none_or(|(average, maximum)| average <= maximum),
        "The average is larger than the maximum.",
    )?;
    check_samples(&path.field("samples"), &resources.samples)
}

fn check_samples(path: &FieldPath<'_>, samples: &[ResourceSample]) -> Checked {
    path.list(samples.len(), Resources::MOST_SAMPLES)?;
    for (place, sample) in samples.iter().enumerate() {
        check_sample(&path.item(place), sample)?;
    }
    for (place, pair) in samples.windows(2).enumerate() {
        let path = path.item(place + 1);
        if pair[1].seconds < pair[0].seconds {
            return path.field("seconds").refuse("not_increasing", "This sample is earlier than the one before it.");
        }
        for (name, joules) in [
            (
                "gpu_energy_joules",
                (|sample: &ResourceSample| sample.gpu_energy_joules) as fn(&ResourceSample) -> Option<f64>,
            ),
            ("processor_energy_joules", |sample| sample.processor_energy_joules),
        ] {
            let grows = joules(&pair[0]).zip(joules(&pair[1])).is_none_or(|(before, after)| before <= after);
            path.field(name).holds(grows, "Energy that was used does not come back.")?;
        }
    }
    Ok(())
}

/// The pattern has no rest, so that a new field cannot be forgotten.
fn check_sample(path: &FieldPath<'_>, sample: &ResourceSample) -> Checked {
    let &ResourceSample {
        seconds,
        gpu_busy_percent,
        gpu_memory_bytes,
        gpu_power_watts,
        gpu_energy_joules,
        gpu_clock_hertz,
        gpu_temperature_celsius,
        processor_energy_joules,
    } = sample;
    path.field("seconds").number(seconds, 0.0..=LONGEST_SECONDS)?;
    path.field("gpu_busy_percent").optional_number(gpu_busy_percent, 0.0..=100.0)?;
    path.field("gpu_memory_bytes").whole(gpu_memory_bytes.unwrap_or(0), 0..=MOST_BYTES)?;
    path.field("gpu_power_watts").optional_number(gpu_power_watts, 0.0..=MOST_WATTS)?;
    path.field("gpu_energy_joules").optional_number(gpu_energy_joules, 0.0..=MOST_JOULES)?;
    path.field("gpu_clock_hertz").optional_number(gpu_clock_hertz, 0.0..=MOST_HERTZ)?;
    path.field("gpu_temperature_celsius")
        .optional_number(gpu_temperature_celsius, COLDEST_CELSIUS..=HOTTEST_CELSIUS)?;
    path.field("processor_energy_joules").optional_number(processor_energy_joules, 0.0..=MOST_JOULES)
}
