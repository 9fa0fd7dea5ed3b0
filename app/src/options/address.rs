//! Settings as they are written in the page's address. Each error is a sentence that names the setting and what it may be.

use engine::backends::Feature;
use results::Precision;

use crate::backend::PageBackend;
use crate::t;

/// More than these would keep a tab busy for hours.
const MOST_SEEDS: u32 = 10;

pub(super) fn suite(value: &str) -> Result<&'static str, String> {
    let known: Vec<&str> = engine::SUITES.iter().map(|suite| suite.name).collect();
    engine::suite(value.trim())
        .map(|suite| suite.name)
        .ok_or_else(|| t!(settings_no_suite, value = value, known = known.join(", ")))
}

pub(super) fn workloads(value: &str) -> Result<Vec<String>, String> {
    let known: Vec<&str> = engine::WORKLOADS.iter().map(|make| make().name).collect();
    let names: Vec<String> = value.split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(t!(settings_no_workload, value = name, known = known.join(", "))),
        None => Ok(names),
    }
}

pub(super) fn precision(value: &str) -> Result<Precision, String> {
    match Precision::named(value) {
        Some(precision @ (Precision::F16 | Precision::F32)) => Ok(precision),
        Some(Precision::F16Matrix) => Err(t!(settings_no_matrix).to_owned()),
        _ => Err(t!(settings_no_precision, value = value)),
    }
}

pub(super) fn features(value: &str) -> Result<Vec<Feature>, String> {
    let known = || Feature::ALL.map(Feature::name).join(", ");
    let feature =
        |name: &str| Feature::named(name.trim()).ok_or_else(|| t!(settings_no_feature, known = known(), value = value));
    value.split(',').map(feature).collect()
}

pub(super) fn backend(value: &str) -> Result<PageBackend, String> {
    let known = PageBackend::ALL.map(PageBackend::name).join(", ");
    PageBackend::named(value.trim()).ok_or_else(|| t!(settings_no_backend, value = value, known = known))
}

pub(super) fn compared(value: &str) -> Result<Vec<PageBackend>, String> {
    let names = value.split(',').filter(|name| !name.trim().is_empty());
    let chosen = names.map(backend).collect::<Result<Vec<_>, _>>()?;
    let all = PageBackend::ALL.into_iter().filter(|backend| chosen.contains(backend)).collect::<Vec<_>>();
    if all.len() < 2 {
        let known = PageBackend::ALL.map(PageBackend::name).join(", ");
        return Err(t!(settings_two_backends, known = known, value = value));
    }
    Ok(all)
}

pub(super) fn seeds(value: &str) -> Result<u32, String> {
    let number = value.parse().ok().filter(|number| (1..=MOST_SEEDS).contains(number));
    number.ok_or_else(|| t!(settings_no_seeds, most = MOST_SEEDS, value = value))
}

pub(super) fn positive(name: &str, value: &str) -> Result<u32, String> {
    let number = value.parse().ok().filter(|&number: &u32| number > 0);
    number.ok_or_else(|| t!(settings_not_positive, name = name, value = value))
}

pub(super) fn seconds(value: &str) -> Result<f64, String> {
    let number = value.parse().ok().filter(|&number: &f64| number > 0.0 && number <= 3600.0);
    number.ok_or_else(|| t!(settings_no_seconds, value = value))
}

pub(super) fn seed(value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| t!(settings_no_seed, most = u32::MAX.to_string(), value = value))
}

pub(super) fn learning_rate(value: &str) -> Result<f64, String> {
    let number = value.parse().ok().filter(|&number: &f64| number > 0.0 && number.is_finite());
    number.ok_or_else(|| t!(settings_no_learning_rate, value = value))
}

pub(super) fn switch(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(t!(settings_no_switch, name = name, value = value)),
    }
}
