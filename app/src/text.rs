//! Names, numbers and outcomes in words.

use engine::SuiteDefinition;
use results::{Adapter, ClientKind, Date, Outcome, RunRecord, Warning, WorkloadRecord, api::Tier, metric};

use crate::headline;

/// The title of a workload, or its name where this build does not know it.
pub fn workload_title(name: &str) -> String {
    engine::workload(name).map_or_else(|| name.to_owned(), |workload| workload.title.to_owned())
}

/// The text of a warning, with a workload's title instead of its name.
pub fn warning(warning: &Warning) -> String {
    let text = warning.to_string();
    match warning.workload().and_then(|name| Some((name, text.strip_prefix(name)?))) {
        Some((name, rest)) => format!("{}{rest}", workload_title(name)),
        None => text,
    }
}

/// A suite's name as a title.
pub fn suite_title(suite: &SuiteDefinition) -> String {
    capitalised(suite.name)
}

/// A text that begins with a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A suite as the subject of a sentence.
pub fn suite(suite: &SuiteDefinition) -> String {
    format!("The {} suite", suite.name)
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
    if parts.is_empty() { "The run trained nothing.".to_owned() } else { format!("Done. {}", parts.join(" ")) }
}

/// What a run came to, without a word on its end.
pub fn came_to(record: &RunRecord) -> String {
    record.workloads.iter().map(workload_headline).collect::<Vec<_>>().join(" ")
}

/// A result as a text to pass on, with the address where it is to be seen, or where others can try.
pub fn to_pass_on(record: &RunRecord, address: &str) -> String {
    let device = device_name(&record.device.adapter, record.device.claimed_name.as_deref());
    let client = &record.provenance.client;
    format!("{device} ({} on {}), Gradmark: {} {address}", client.name, client.operating_system, came_to(record))
}

fn workload_headline(record: &WorkloadRecord) -> String {
    let title = workload_title(&record.workload);
    match &record.outcome {
        Outcome::Completed => format!("{title}: {}.", headline::sentence(record)),
        other => format!("{title}: {}", outcome(other)),
    }
}

/// How a workload ended, as a sentence.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed.".to_owned(),
        Outcome::Diverged { step } => {
            format!("the loss became infinite, or a thousand times the first one, at step {step}; there is no figure.")
        }
        Outcome::Incorrect => {
            "this device computed something else than the reference, so nothing was timed. A newer browser or graphics \
             driver may help."
                .to_owned()
        }
        Outcome::Cancelled => "cancelled.".to_owned(),
        Outcome::Failed { reason, .. } => {
            format!("it could not be trained on this device: {}.", reason.trim_end_matches('.'))
        }
    }
}

/// Why nothing at all was trained; nothing where something was.
pub fn nothing_trained(record: &RunRecord) -> Option<String> {
    let reason = |of: &WorkloadRecord| match &of.outcome {
        Outcome::Failed { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    let reasons: Vec<String> = record.workloads.iter().map(reason).collect::<Option<_>>()?;
    reasons.into_iter().next()
}

/// How a device is called: as claimed by its owner, else as far as the platform says.
pub fn device_name(adapter: &Adapter, claimed: Option<&str>) -> String {
    match claimed.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        // A browser's name is no more than these two words, unless it describes the GPU.
        None if adapter.name.is_empty() || adapter.name == format!("{} {}", adapter.vendor, adapter.architecture) => {
            gpu_name(&adapter.vendor, &adapter.architecture, "")
        }
        None => adapter.name.clone(),
    }
}

/// What WebGPU says of a GPU, put into words: `NVIDIA, ampere`.
pub fn gpu_name(vendor: &str, architecture: &str, description: &str) -> String {
    if !description.is_empty() {
        return description.to_owned();
    }
    if architecture == "swiftshader" {
        return "SwiftShader".to_owned();
    }
    let vendor = match vendor {
        "" => return "A GPU whose name the browser keeps to itself".to_owned(),
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
    if architecture.is_empty() { format!("{vendor} GPU") } else { format!("{vendor}, {architecture}") }
}

/// What a tier means, for readers of a result.
pub fn tier_meaning(tier: Tier) -> &'static str {
    match tier {
        Tier::Proven => "The leaderboard timed its checkpoints and computed parts of the training again.",
        Tier::Checked => "All bounds and summaries hold, but not all of it could be proven, so it is not ranked.",
        Tier::Unverified => "The leaderboard gave this run no seed, so it cannot be checked.",
        Tier::Flagged => "Something is implausible; a person will look at it.",
        Tier::Hidden => "This result is not shown in the table.",
    }
}

/// Where a run happened, to follow a comma or a column's head.
pub fn client(kind: ClientKind) -> &'static str {
    match kind {
        ClientKind::Browser => "a browser",
        ClientKind::Native => "a program",
    }
}

/// A throughput without its unit, as the results write it.
pub fn rate(samples_per_second: f64) -> String {
    let text = metric("samples_per_second").map(|metric| metric.text(samples_per_second)).unwrap_or_default();
    text.trim_end_matches(" samples/s").to_owned()
}

/// A share from 0 to 1 as `97.85 %`.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// A time of training or testing, as the results write it.
pub fn seconds(seconds: f64) -> String {
    metric("testing_seconds").map(|metric| metric.text(seconds)).unwrap_or_default()
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
    format!("{to_fastest:.2} ×")
}

/// A size such as `3.4 MB`, of millions of bytes.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// A count in groups of three digits, such as `60,000`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of a thing, such as `1 run` and `1,204 runs`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// How many results a list has of which only the first are shown; counting ends somewhere.
pub fn results_listed(total: u64, more_than_total: bool) -> String {
    let more = if more_than_total { "More than " } else { "" };
    format!("{more}{}", counted(total, "result"))
}

/// A score of a whole suite, such as `1.84`.
pub fn score(score: f64) -> String {
    format!("{score:.2}")
}

/// A day such as `21 Nov 2026`, in UTC.
pub fn day(unix_seconds: f64) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Date { year, month, day } = Date::of(unix_seconds);
    let month = MONTHS.get(usize::from(month) - 1).copied().unwrap_or_default();
    format!("{day} {month} {year}")
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
    fn warnings_name_workloads_as_the_rest_of_the_page_does() {
        let about = |workload: &str| warning(&Warning::StoppedEarly { workload: workload.to_owned() });
        let title = workload_title("theano-mnist");
        assert!(about("theano-mnist").starts_with(&format!("{title}: training stopped")), "{}", about("theano-mnist"));
        assert!(about("unheard-of").starts_with("unheard-of: training stopped"));
        assert_eq!(warning(&Warning::NoWakeLock), Warning::NoWakeLock.to_string());
    }

    #[test]
    fn what_is_left_is_told_coarsely() {
        assert_eq!([0.2, 17.0, 88.0, 100.0, 600.0].map(about), ["5 s", "20 s", "90 s", "2 min", "10 min"]);
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!([0, 1, 1204].map(|number| counted(number, "run")), ["0 runs", "1 run", "1,204 runs"]);
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
        assert_eq!(gpu_name("nvidia", "ampere", "NVIDIA GeForce RTX 3080"), "NVIDIA GeForce RTX 3080");
        assert!(gpu_name("", "", "").contains("keeps to itself"));
    }

    #[test]
    fn an_unfinished_workload_says_why_in_place_of_figures() {
        assert!(outcome(&Outcome::Diverged { step: 12 }).contains("step 12"));
        assert!(outcome(&Outcome::Incorrect).contains("nothing was timed"));
        let failed = Outcome::failed(results::FailureCause::DoesNotFit, "the buffer `x` needs 2 bytes.");
        assert_eq!(outcome(&failed), "it could not be trained on this device: the buffer `x` needs 2 bytes.");
    }
}
