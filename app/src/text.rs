//! Formats names and numbers. English names match the crates `engine` and `results`, as tests verify.

use results::api::Tier;
use results::software::program_of_architecture;
use results::{
    Adapter, ClientKind, Date, Goal, HIDDEN_SOFTWARE, IN_COMPATIBILITY_MODE, Metric, Summary, UNNAMED_ADAPTER, Unit,
    VENDORS, bits_per_character, metric, told_of_hidden_device,
};

use crate::t;
use crate::words::{self, PageLanguage, language};

pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

pub fn data_set_title(name: &str) -> String {
    let known = [("mnist", "MNIST"), ("cifar10", "CIFAR-10"), ("moby-dick", "Moby-Dick")];
    let known = known.into_iter().find(|(known, _)| *known == name);
    known.map_or(name, |(_, title)| title).to_owned()
}

/// Name of a device as claimed by its owner, or else reported. Software adapters, which are no GPUs, have no claim.
pub fn device_name(adapter: &Adapter, claimed: Option<&str>) -> String {
    let name = match claimed.map(str::trim).filter(|name| !name.is_empty() && !adapter.software) {
        Some(name) => name.to_owned(),
        // A browser's name consists of only these two words unless it has a description of the GPU.
        None if ["", UNNAMED_ADAPTER, &format!("{} {}", adapter.vendor, adapter.architecture)]
            .contains(&adapter.name.as_str()) =>
        {
            gpu_name(&adapter.vendor, &adapter.architecture, adapter.software)
        }
        None => adapter.name.clone(),
    };
    with_mode(name, adapter.compatibility)
}

/// Appends the mode of a device to its name, if it is WebGPU's compatibility mode.
fn with_mode(name: String, compatibility: bool) -> String {
    if compatibility { format!("{name}, {}", t!(device_compatibility)) } else { name }
}

/// Name of a device from the leaderboard, which has placeholders for hidden names.
pub fn named_device(name: &str) -> String {
    if let Some(name) = name.strip_suffix(IN_COMPATIBILITY_MODE) {
        return with_mode(named_device(name), true);
    }
    match told_of_hidden_device(name) {
        None if name == HIDDEN_SOFTWARE => t!(device_software).to_owned(),
        Some("") => t!(device_masked).to_owned(),
        Some(told) => t!(device_masked_but_for, told),
        None => name.to_owned(),
    }
}

/// Name of a GPU, or of a software adapter, from the words of WebGPU: `NVIDIA, ampere`. Firefox has none of them.
fn gpu_name(vendor: &str, architecture: &str, software: bool) -> String {
    const OTHERS: [&str; 3] = ["Google", "Mesa", "Microsoft"];
    if let Some(program) = program_of_architecture(architecture) {
        return program.to_owned();
    }
    let vendor = match vendor {
        "" if software => return t!(device_software).to_owned(),
        "" => return t!(device_masked).to_owned(),
        "img-tec" => "Imagination",
        word => VENDORS.into_iter().chain(OTHERS).find(|name| name.eq_ignore_ascii_case(word)).unwrap_or(word),
    };
    if architecture.is_empty() { format!("{vendor} GPU") } else { format!("{vendor}, {architecture}") }
}

pub fn tier_meaning(tier: Tier) -> &'static str {
    words::named("tier", &format!("{}_meaning", tier.name())).unwrap_or_default()
}

pub fn tier(tier: Tier) -> &'static str {
    words::named("tier", tier.name()).unwrap_or(tier.name())
}

/// Kind of client, to follow a comma or a column heading.
pub fn client(kind: ClientKind) -> &'static str {
    match kind {
        ClientKind::Browser => t!(common_browser),
        ClientKind::Native => t!(common_program),
    }
}

/// Formats a throughput without its unit, as in the crate `results`.
pub fn rate(samples_per_second: f64) -> String {
    let text = metric("samples_per_second").map(|metric| metric.text(samples_per_second)).unwrap_or_default();
    language().number(text.trim_end_matches(" samples/s"))
}

/// Formats a share from 0 to 1 as `97.85 %`.
pub fn percent(share: f64) -> String {
    number(share * 100.0, 2) + " %"
}

/// Formats a share from 0 to 1 in whole percent, such as `98 %`.
pub fn whole_percent(share: f64) -> String {
    number(share * 100.0, 0) + " %"
}

pub fn number(value: f64, decimals: usize) -> String {
    language().number(&format!("{value:.decimals$}"))
}

/// Formats a training or testing time, as in the crate `results`.
pub fn seconds(seconds: f64) -> String {
    let text = metric("testing_seconds").map(|metric| metric.text(seconds)).unwrap_or_default();
    language().number(&text)
}

/// Formats a goal: `97 %` or `loss 1.9`.
pub fn goal(goal: Goal) -> String {
    match goal {
        Goal::Accuracy(accuracy) => whole_percent(accuracy),
        Goal::Loss(loss) => t!(common_loss, loss = language().number(&loss.to_string())),
    }
}

/// Formats a test loss, of a text with its bits per character.
pub fn test_loss(loss: f64, is_text: bool) -> String {
    let [loss, bits] = [loss, bits_per_character(loss)].map(|value| number(value, 3));
    if is_text { t!(common_loss_and_bits, loss, bits) } else { loss }
}

/// Returns true if the goal of a built-in network is a loss, which pages then show instead of its accuracy.
pub fn aims_at_loss(workload: &str) -> bool {
    engine::workload(workload).is_some_and(|workload| matches!(workload.target, Goal::Loss(_)))
}

/// Formats a coarse estimate of a time: `20 s`, `3 min`.
pub fn about(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{:.0} s", ((seconds / 5.0).ceil() * 5.0).max(5.0)),
        // Whole minutes would make a small change look large.
        ..180.0 => format!("{:.0} s", (seconds / 10.0).ceil() * 10.0),
        _ => format!("{:.0} min", (seconds / 60.0).round()),
    }
}

/// Formats a ratio to the fastest, such as `1.25 ×`.
pub fn ratio(to_fastest: f64) -> String {
    number(to_fastest, 2) + " ×"
}

/// Formats a size in millions of bytes, such as `3.4 MB`.
pub fn megabytes(bytes: u64) -> String {
    number(bytes as f64 / 1e6, 1) + " MB"
}

/// Formats a count in groups of three digits, such as `60,000` or `60.000`.
pub fn count(number: impl TryInto<u64>) -> String {
    language().grouped(number.try_into().unwrap_or(u64::MAX))
}

/// Formats the number of results in a list. Counting has a limit.
pub fn results_listed(total: u64, more_than_total: bool) -> String {
    let results = t!(common_results, number = total);
    if more_than_total { t!(common_results_more, results) } else { results }
}

/// Formats a score without its unit, with three significant digits, such as `15.3` or `4,210`.
pub fn score(score: f64) -> String {
    grouped(&results::score_digits(score))
}

/// Formats a number in English text, with groups of three digits if it is whole.
pub fn grouped(english: &str) -> String {
    english.parse::<u64>().map_or_else(|_| language().number(english), count)
}

/// Formats a day in UTC, such as `21 Nov 2026` or `21.11.2026`.
pub fn day(unix_seconds: f64) -> String {
    language().day(Date::of(unix_seconds))
}

pub fn workload_title(workload: &str) -> String {
    words::named("network", workload).unwrap_or(workload).to_owned()
}

pub fn suite_title(name: &str) -> String {
    words::named("network", &format!("suite_{name}")).map_or_else(|| capitalised(name), str::to_owned)
}

/// Title of a suite inside a sentence, in lower case in English.
pub fn suite_inside(name: &str) -> String {
    match language() {
        PageLanguage::English => name.to_owned(),
        PageLanguage::German => suite_title(name),
    }
}

pub fn suite_description(suite: &engine::SuiteDefinition) -> &'static str {
    words::named("network", &format!("suite_{}_description", suite.name)).unwrap_or(suite.description)
}

pub fn metric_title(metric: &Metric) -> &'static str {
    words::named("metric", metric.id).unwrap_or(metric.title)
}

/// Explains a metric in one sentence to someone who has not read the methodology.
pub fn metric_description(metric: &Metric) -> &'static str {
    words::named("metric", &format!("{}_description", metric.id)).unwrap_or(metric.description)
}

/// Formats a value of a metric with four significant digits and its unit.
pub fn metric_text(metric: &Metric, value: f64) -> String {
    let english = metric.text(value);
    let text = match metric.unit {
        Unit::SamplesPerSecond | Unit::SamplesPerJoule => english.replace("samples", t!(common_samples)),
        Unit::FlopsPerSecond | Unit::Seconds | Unit::Share | Unit::Loss | Unit::Joules => english,
    };
    language().number(&text)
}

/// Formats a metric of `summary`, or a dash. A run that trained and has no throughput says why, once.
pub fn metric_or_dash(metric: &Metric, summary: &Summary) -> String {
    match (metric.value)(summary) {
        Some(value) => metric_text(metric, value),
        None if metric.id == "samples_per_second" && summary.samples > 0 => t!(common_too_short).to_owned(),
        None => "–".to_owned(),
    }
}

/// Unit at the end of throughputs.
pub fn rate_unit() -> String {
    format!(" {}/s", t!(common_samples))
}

#[cfg(test)]
mod tests {
    use results::{METRICS, hidden_device};

    use super::*;
    use crate::words::{PageLanguage, speak};

    #[test]
    fn formats_numbers_and_days_by_language() {
        assert_eq!([0.0, 951_782_400.0, 1_795_219_199.0].map(day), ["1 Jan 1970", "29 Feb 2000", "20 Nov 2026"]);
        assert_eq!([0.2, 17.0, 88.0, 100.0, 600.0].map(about), ["5 s", "20 s", "90 s", "100 s", "10 min"]);
        assert_eq!(results_listed(1, false), "1 result");
        assert_eq!(results_listed(10_000, true), "More than 10,000 results");
        assert_eq!(grouped("1500"), "1,500");
        speak(PageLanguage::German);
        assert_eq!(["1500", "12.5 k"].map(grouped), ["1.500", "12,5 k"]);
        assert_eq!([percent(0.9785), ratio(1.25), megabytes(3_440_000)], ["97,85 %", "1,25 ×", "3,4 MB"]);
        assert_eq!([rate(12_345.0), seconds(2.5), count(60_000)], ["12,35 k", "2,500 s", "60.000"]);
        assert_eq!([day(1_793_836_800.0), day(1_795_219_200.0)], ["05.11.2026", "21.11.2026"]);
        let text = |id: &str, value: f64| metric_text(results::metric(id).unwrap(), value);
        assert_eq!(text("accuracy", 0.9785), "97,85 %");
        assert_eq!([Goal::Accuracy(0.97), Goal::Loss(1.9)].map(goal), ["97 %", "Verlust 1,9"]);
        assert_eq!(test_loss(1.8834, true), "1,883 (2,717 Bits pro Zeichen)");
        assert_eq!(text("samples_per_second", 12_345.0), "12,35 k Beispiele/s");
    }

    #[test]
    fn a_short_run_says_once_that_it_is_too_short() {
        let short = Summary { samples: 640, ..Summary::default() };
        let of = |id: &str, summary: &Summary| metric_or_dash(results::metric(id).unwrap(), summary);
        assert_eq!(of("samples_per_second", &short), "too short to measure");
        assert_eq!([of("step_seconds_p50", &short), of("samples_per_second", &Summary::default())], ["–"; 2]);
    }

    #[test]
    fn describes_masked_gpu_as_far_as_known() {
        assert_eq!(gpu_name("nvidia", "ampere", false), "NVIDIA, ampere");
        assert_eq!(gpu_name("apple", "", false), "Apple GPU");
        assert_eq!(gpu_name("google", "swiftshader", true), "SwiftShader");
        let described = Adapter { name: "NVIDIA GeForce RTX 3080".to_owned(), ..Adapter::default() };
        assert_eq!(device_name(&described, None), "NVIDIA GeForce RTX 3080");
        assert_eq!(gpu_name("", "", false), "A GPU that its browser hides");
        assert_eq!(gpu_name("", "", true), "A software adapter");
        let unnamed = Adapter { name: UNNAMED_ADAPTER.to_owned(), software: true, ..Adapter::default() };
        assert_eq!(device_name(&unnamed, Some("RTX 4070")), "A software adapter");
        let old = Adapter { vendor: "arm".to_owned(), compatibility: true, ..Adapter::default() };
        assert_eq!(device_name(&old, None), "Arm GPU, compatibility mode");
        let hidden = |told: &str| named_device(&hidden_device(told));
        assert_eq!([hidden(""), hidden("Apple")], ["A GPU that its browser hides", "Apple (the browser hides which)"]);
        speak(PageLanguage::German);
        assert_eq!(hidden(""), "Eine GPU, die der Browser verbirgt");
        assert_eq!(hidden("Apple"), "Apple (der Browser verbirgt, welche)");
        assert_eq!(named_device(HIDDEN_SOFTWARE), "Ein Software-Adapter");
        assert_eq!(
            named_device("Arm (the browser hides which), compatibility mode"),
            "Arm (der Browser verbirgt, welche), Kompatibilitätsmodus"
        );
        assert_eq!(named_device("NVIDIA GeForce RTX 4090"), "NVIDIA GeForce RTX 4090");
    }

    #[test]
    fn titles_match_crates_in_english_and_exist_in_german() {
        for make in engine::WORKLOADS {
            let workload = make();
            assert_ne!(workload_title(workload.name), workload.name, "give it a title: app/locales/*/network.ftl");
            assert_eq!(workload_title(workload.name), workload.title);
        }
        for set in engine::DATA_SETS.iter().filter(|set| set.compact_files().is_some()) {
            assert_ne!(data_set_title(&set.name), set.name);
        }
        for of in engine::SUITES {
            assert_eq!(suite_title(of.name), capitalised(of.name));
            assert_eq!(suite_description(of), of.description);
            speak(PageLanguage::German);
            assert_ne!(suite_description(of), of.description, "translate it: app/locales/de/network.ftl");
            speak(PageLanguage::English);
        }
        for metric in METRICS {
            assert_eq!((metric_title(metric), metric_description(metric)), (metric.title, metric.description));
            assert_eq!(metric_text(metric, 12_345.678), metric.text(12_345.678));
            speak(PageLanguage::German);
            assert_ne!(metric_description(metric), metric.description, "translate it: app/locales/de/metric.ftl");
            speak(PageLanguage::English);
        }
    }
}
