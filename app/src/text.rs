//! Names, numbers and outcomes in words.

use engine::SuiteDefinition;
use results::software::program_of_architecture;
use results::{
    Adapter, ClientKind, Date, FailureCause, HiddenDevice, Outcome, RunRecord, UNNAMED_ADAPTER, WorkloadRecord,
    api::Tier, metric,
};

use crate::words::{self, language};
use crate::{headline, t};

/// The title of a workload, or its name where this build does not know it.
pub fn workload_title(name: &str) -> String {
    words::network::title(name).to_owned()
}

/// A suite's name as a title.
pub fn suite_title(suite: &SuiteDefinition) -> String {
    words::network::suite(suite.name)
}

/// A text that begins with a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A suite as the subject of a sentence.
pub fn suite(suite: &SuiteDefinition) -> String {
    t!(network_suite_sentence, suite = words::network::suite_inside(suite.name))
}

/// How people call a data set; its name where this build does not know it.
pub fn data_set_title(name: &str) -> String {
    match name {
        "mnist" => "MNIST".to_owned(),
        "cifar10" => "CIFAR-10".to_owned(),
        other => other.to_owned(),
    }
}

/// How a run ended, in one sentence for the status region.
pub fn headline(record: &RunRecord) -> String {
    let parts: Vec<String> = record.workloads.iter().map(workload_headline).collect();
    if parts.is_empty() {
        t!(common_run_trained_nothing).to_owned()
    } else {
        t!(common_done, figures = parts.join(" "))
    }
}

/// What a run came to, without a word on its end.
pub fn came_to(record: &RunRecord) -> String {
    record.workloads.iter().map(workload_headline).collect::<Vec<_>>().join(" ")
}

/// A result as a text to pass on, with the address where it is to be seen, or where others can try.
pub fn to_pass_on(record: &RunRecord, address: &str) -> String {
    let device = device_name(&record.device.adapter, record.device.claimed_name.as_deref());
    let client = &record.provenance.client;
    t!(
        common_pass_on,
        device = device,
        client = client.name,
        system = client.operating_system,
        figures = came_to(record),
        address = address
    )
}

fn workload_headline(record: &WorkloadRecord) -> String {
    let title = workload_title(&record.workload);
    match &record.outcome {
        Outcome::Completed => t!(common_of_workload, workload = title, figures = headline::sentence(record)),
        other => t!(common_of_workload_ended, workload = title, outcome = outcome(other)),
    }
}

/// How a workload ended, as a sentence.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => t!(outcome_completed).to_owned(),
        Outcome::Diverged { step } => t!(outcome_diverged, step = *step),
        Outcome::Incorrect => t!(outcome_incorrect).to_owned(),
        Outcome::Cancelled => t!(outcome_cancelled).to_owned(),
        Outcome::Failed { cause, reason } => t!(outcome_failed, reason = words::failure::of_workload(*cause, reason)),
    }
}

/// Why nothing at all was trained; nothing where something was.
pub fn nothing_trained(record: &RunRecord) -> Option<(FailureCause, String)> {
    let reason = |of: &WorkloadRecord| match &of.outcome {
        Outcome::Failed { cause, reason } => Some((*cause, reason.clone())),
        _ => None,
    };
    let reasons: Vec<_> = record.workloads.iter().map(reason).collect::<Option<_>>()?;
    reasons.into_iter().next()
}

/// How a device is called: as claimed by its owner, else as far as the platform says.
pub fn device_name(adapter: &Adapter, claimed: Option<&str>) -> String {
    match claimed.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        // A browser's name is no more than these two words, unless it describes the GPU.
        None if ["", UNNAMED_ADAPTER, &format!("{} {}", adapter.vendor, adapter.architecture)]
            .contains(&adapter.name.as_str()) =>
        {
            gpu_name(&adapter.vendor, &adapter.architecture, "")
        }
        None => adapter.name.clone(),
    }
}

/// How a device is called whose name the leaderboard gives, which calls hidden ones something.
pub fn named_device(name: &str) -> String {
    match HiddenDevice::called(name) {
        Some(HiddenDevice { told }) if told.is_empty() => t!(device_masked).to_owned(),
        Some(HiddenDevice { told }) => t!(device_masked_but_for, told = told),
        None => name.to_owned(),
    }
}

/// What WebGPU says of a GPU, put into words: `NVIDIA, ampere`.
pub fn gpu_name(vendor: &str, architecture: &str, description: &str) -> String {
    if !description.is_empty() {
        return description.to_owned();
    }
    if let Some(program) = program_of_architecture(architecture) {
        return program.to_owned();
    }
    let vendor = match vendor {
        "" => return t!(device_masked).to_owned(),
        "amd" => "AMD",
        "apple" => "Apple",
        "arm" => "Arm",
        "google" => "Google",
        "img-tec" => "Imagination",
        "intel" => "Intel",
        "mesa" => "Mesa",
        "microsoft" => "Microsoft",
        "nvidia" => "NVIDIA",
        "qualcomm" => "Qualcomm",
        "samsung" => "Samsung",
        other => other,
    };
    if architecture.is_empty() { t!(device_of_vendor, vendor = vendor) } else { format!("{vendor}, {architecture}") }
}

/// What a tier means, for readers of a result.
pub fn tier_meaning(tier: Tier) -> &'static str {
    match tier {
        Tier::Proven => t!(tier_proven_meaning),
        Tier::Checked => t!(tier_checked_meaning),
        Tier::Unverified => t!(tier_unverified_meaning),
        Tier::Flagged => t!(tier_flagged_meaning),
        Tier::Hidden => t!(tier_hidden_meaning),
    }
}

/// A tier in one word.
pub fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Proven => t!(tier_proven),
        Tier::Checked => t!(tier_checked),
        Tier::Unverified => t!(tier_unverified),
        Tier::Flagged => t!(tier_flagged),
        Tier::Hidden => t!(tier_hidden),
    }
}

/// Where a run happened, to follow a comma or a column's head.
pub fn client(kind: ClientKind) -> &'static str {
    match kind {
        ClientKind::Browser => t!(common_in_browser),
        ClientKind::Native => t!(common_in_program),
    }
}

/// A throughput without its unit, as the results write it.
pub fn rate(samples_per_second: f64) -> String {
    let text = metric("samples_per_second").map(|metric| metric.text(samples_per_second)).unwrap_or_default();
    language().number(text.trim_end_matches(" samples/s"))
}

/// A share from 0 to 1 as `97.85 %`.
pub fn percent(share: f64) -> String {
    number(share * 100.0, 2) + " %"
}

/// A share from 0 to 1 in whole percent, such as `98 %`.
pub fn whole_percent(share: f64) -> String {
    number(share * 100.0, 0) + " %"
}

/// A number with so many digits after the decimal point, or the comma.
pub fn number(value: f64, decimals: usize) -> String {
    language().number(&format!("{value:.decimals$}"))
}

/// A time of training or testing, as the results write it.
pub fn seconds(seconds: f64) -> String {
    let text = metric("testing_seconds").map(|metric| metric.text(seconds)).unwrap_or_default();
    language().number(&text)
}

/// A time that is left, as coarse as it is known: `20 s`, `3 min`.
pub fn about(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{:.0} s", ((seconds / 5.0).ceil() * 5.0).max(5.0))
    } else {
        format!("{:.0} min", (seconds / 60.0).round())
    }
}

/// How often the fastest goes into it, such as `1.25 ×`.
pub fn ratio(to_fastest: f64) -> String {
    number(to_fastest, 2) + " ×"
}

/// A size such as `3.4 MB`, of millions of bytes.
pub fn megabytes(bytes: u64) -> String {
    number(bytes as f64 / 1e6, 1) + " MB"
}

/// A size that is not known exactly, such as `60 MB`.
pub fn rounded_size(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    let step = if megabytes < 100.0 { 10.0 } else { 100.0 };
    number((megabytes / step).ceil() * step, 0) + " MB"
}

/// A count in groups of three digits, such as `60,000` or `60.000`.
pub fn count(number: u64) -> String {
    language().grouped(number)
}

/// How many results a list has of which only the first are shown; counting ends somewhere.
pub fn results_listed(total: u64, more_than_total: bool) -> String {
    let results = t!(common_results, number = total);
    if more_than_total { t!(common_results_more, results = results) } else { results }
}

/// A score of a whole suite, such as `1.84`.
pub fn score(score: f64) -> String {
    number(score, 2)
}

/// A day such as `21 Nov 2026` or `21.11.2026`, in UTC.
pub fn day(unix_seconds: f64) -> String {
    language().day(Date::of(unix_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0.0), "1 Jan 1970");
        assert_eq!(day(951_782_400.0), "29 Feb 2000");
        assert_eq!(day(1_795_219_199.0), "20 Nov 2026");
        assert_eq!(day(1_795_219_200.0), "21 Nov 2026");
    }

    #[test]
    fn what_is_left_is_told_coarsely() {
        assert_eq!([0.2, 17.0, 88.0, 100.0, 600.0].map(about), ["5 s", "20 s", "90 s", "2 min", "10 min"]);
    }

    #[test]
    fn numbers_have_a_decimal_comma_in_german() {
        words::speak(words::Language::German);
        assert_eq!(
            (percent(0.9785), ratio(1.25), megabytes(3_440_000)),
            ("97,85 %".into(), "1,25 ×".into(), "3,4 MB".into())
        );
        assert_eq!(
            (rate(12_345.0), seconds(2.5), count(60_000)),
            ("12,35 k".into(), "2,500 s".into(), "60.000".into())
        );
        assert_eq!(day(1_795_219_200.0), "21.11.2026");
    }

    #[test]
    fn a_list_that_was_not_counted_to_its_end_says_so() {
        assert_eq!(results_listed(1, false), "1 result");
        assert_eq!(results_listed(10_000, true), "More than 10,000 results");
    }

    #[test]
    fn a_masked_gpu_is_described_as_far_as_it_is_known() {
        assert_eq!(gpu_name("nvidia", "ampere", ""), "NVIDIA, ampere");
        assert_eq!(gpu_name("apple", "", ""), "Apple GPU");
        assert_eq!(gpu_name("google", "swiftshader", ""), "SwiftShader");
        assert_eq!(gpu_name("nvidia", "ampere", "NVIDIA GeForce RTX 3080"), "NVIDIA GeForce RTX 3080");
        assert_eq!(gpu_name("", "", ""), "A GPU that its browser hides");
    }

    #[test]
    fn a_hidden_device_is_called_in_the_language_of_the_page() {
        let hidden = |told: &str| named_device(&HiddenDevice { told: told.to_owned() }.to_string());
        assert_eq!(hidden(""), "A GPU that its browser hides");
        assert_eq!(hidden("Apple"), "Apple (the browser hides which)");
        words::speak(words::Language::German);
        assert_eq!(hidden(""), "Eine GPU, die ihr Browser verbirgt");
        assert_eq!(hidden("Apple"), "Apple (der Browser verbirgt, welche)");
        assert_eq!(named_device("NVIDIA GeForce RTX 4090"), "NVIDIA GeForce RTX 4090");
    }

    #[test]
    fn an_unfinished_workload_says_why_in_place_of_figures() {
        assert!(outcome(&Outcome::Diverged { step: 12 }).contains("step 12"));
        assert!(outcome(&Outcome::Incorrect).contains("nothing was timed"));
        let failed = Outcome::failed(results::FailureCause::DoesNotFit, "the buffer `x` needs 2 bytes.");
        assert_eq!(outcome(&failed), "it could not be trained on this device: the buffer `x` needs 2 bytes.");
    }
}
