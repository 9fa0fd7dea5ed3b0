//! Checks what is installed on this machine, whether it trains, and what to do about problems.

mod circumstances;
mod correctness;
mod data;
mod graphics;
mod leaderboard;
mod system;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use console::Style;
use engine::backends::{KNOWN_BACKENDS, wgsl};
use serde::Serialize;
use serde_json::Value;
use sysinfo::System;

pub(crate) use crate::doctor::circumstances::DoctorArgs;
use view::text::counted;

use crate::doctor::circumstances::Severity::{Fine, Note, Problem, Warning};
use crate::doctor::circumstances::{Circumstances, Diagnosis, Listing, Trial, TrialOutcome};
use crate::doctor::graphics::list_in_child;
use crate::failure::Failure;
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::machine::{self, provenance};
use crate::progress::spinner;
use crate::screen::Screen;

type Examine = fn(&mut Circumstances<'_>) -> Vec<Diagnosis>;
/// Name, title, and examinations with what is shown while they run.
type Chapter = (&'static str, &'static str, &'static [(&'static str, Examine)]);

/// Time after which a driver is assumed to hang.
const LISTING_TIMEOUT: Duration = Duration::from_secs(60);

/// Chapters of the report. Those that compute are last, because they would disturb measurements.
const EXAMINATIONS: [Chapter; 6] = [
    ("program", "Program", &[("this program", system::examine_program)]),
    (
        "system",
        "System",
        &[
            ("the operating system", system::examine_system),
            ("the processor", system::examine_processor),
            ("memory", system::examine_memory),
            ("other programs", system::examine_load),
            ("power", |_| vec![system::judge_power(&machine::all())]),
            ("the processor's energy", system::examine_energy),
        ],
    ),
    (
        "graphics",
        "Adapters and drivers",
        &[
            ("adapters", graphics::examine_adapters),
            ("GPUs on the bus", graphics::examine_gpus),
            ("Vulkan's drivers", graphics::examine_vulkan),
            ("render nodes", graphics::examine_render_nodes),
            ("NVIDIA's driver", graphics::examine_nvidia),
            ("CUDA and ROCm", graphics::examine_platforms),
        ],
    ),
    ("data", "Data", &[("the cache", data::examine_cache), ("data sets", data::examine_data_sets)]),
    ("leaderboard", "Leaderboard", &[("the leaderboard", leaderboard::examine_leaderboard)]),
    ("correctness", "Correctness", &[("the results of backends", correctness::examine_backends)]),
];

const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Serialize)]
struct DoctorReport {
    schema_version: u32,
    engine_version: &'static str,
    commit: &'static str,
    examined_unix_seconds: f64,
    sections: Vec<DoctorSection>,
    verdict: DoctorVerdict,
}

#[derive(Debug, Serialize)]
struct DoctorSection {
    name: &'static str,
    #[serde(skip)]
    title: &'static str,
    findings: Vec<Diagnosis>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct DoctorVerdict {
    trains: bool,
    tried: bool,
    sentence: String,
    command: Option<String>,
    backend: Option<&'static str>,
    adapter_index: Option<usize>,
}

/// `default` is the adapter of a run that names none, and `lacking` the command that fetches missing data.
fn decide(trials: &[Trial], default: Option<usize>, lacking: Option<String>) -> DoctorVerdict {
    let place = |trial: &Trial| KNOWN_BACKENDS.iter().position(|known| known.name == trial.backend);
    let usable = trials.iter().filter(|trial| trial.outcome != TrialOutcome::Failed);
    let best = usable.min_by_key(|trial| (trial.software, place(trial), trial.adapter != default));
    let Some(best) = best else {
        let why = if trials.is_empty() { "no backend has a device" } else { "every backend failed on every device" };
        let sentence = format!(
            "Nothing can be trained with these options: {why}. `--backend reference` trains on any processor, slowly."
        );
        let (command, backend, adapter_index) = (None, None, None);
        return DoctorVerdict { trains: false, tried: true, sentence, command, backend, adapter_index };
    };
    let tried = best.outcome == TrialOutcome::Right;
    let trains = lacking.is_none();
    let device = format!("{} on {}", best.backend, best.device);
    let software = if best.software { ", a software adapter, whose results are never ranked" } else { "" };
    let sentence = match (trains, tried) {
        (false, _) => "A run would stop because its data is missing from the chosen folder. To fetch it:".to_owned(),
        (true, true) => format!("A run works here with {device}{software}:"),
        (true, false) => format!("A run should work here with {device}{software}, but this was not tested:"),
    };
    let command = Some(lacking.unwrap_or_else(|| command_for(best, default)));
    DoctorVerdict { trains, tried, sentence, command, backend: Some(best.backend), adapter_index: best.adapter }
}

fn command_for(trial: &Trial, default: Option<usize>) -> String {
    let mut words = vec!["native-runner".to_owned()];
    if trial.backend != KNOWN_BACKENDS[0].name {
        words.push(format!("--backend {}", trial.backend));
    }
    match trial.adapter {
        Some(index) if trial.software && default.is_none() && index == 0 => words.push("--adapter cpu".to_owned()),
        Some(index) if Some(index) != default => words.push(format!("--adapter {index}")),
        _ => {}
    }
    words.join(" ")
}

/// Width of two spaces, the longest severity, and two spaces.
const INDENT: usize = 11;

fn show(report: &DoctorReport, screen: Screen) -> Result<(), Failure> {
    screen.line(&screen.bold(format!("Gradmark doctor {} ({})", report.engine_version, report.commit)))?;
    let mut counts = [("problem", Problem, 0), ("warning", Warning, 0)];
    for DoctorSection { title, findings, .. } in &report.sections {
        screen.heading(title)?;
        for Diagnosis { severity, sentence, advice, .. } in findings {
            let (style, word) = match severity {
                Fine => (Style::new().green(), "fine"),
                Note => (Style::new().cyan(), "note"),
                Warning => (Style::new().yellow().bold(), "warning"),
                Problem => (Style::new().red().bold(), "problem"),
            };
            counts.iter_mut().filter(|(_, other, _)| other == severity).for_each(|(.., count)| *count += 1);
            screen.prose(&format!("  {}  ", screen.paint(style, format!("{word:7}"))), sentence, INDENT)?;
            if let Some(advice) = advice {
                screen.prose(&format!("{}→ ", " ".repeat(INDENT)), advice, INDENT + 2)?;
            }
        }
    }
    screen.heading("Verdict")?;
    screen.prose("  ", &report.verdict.sentence, 2)?;
    if let Some(command) = &report.verdict.command {
        screen.line(&format!("  {}", screen.bold(command)))?;
    }
    let counts = counts.iter().filter(|(.., count)| *count > 0);
    let counts = counts.map(|(word, _, count)| counted(*count, word)).collect::<Vec<_>>().join(", ");
    screen.prose("  ", if counts.is_empty() { "no problems, no warnings" } else { &counts }, 2)
}

pub(crate) fn doctor(arguments: &DoctorArgs) -> Result<(), Failure> {
    if arguments.list_adapters {
        return JsonTarget::StandardOutput.write(&to_json(&pollster::block_on(wgsl::details()))?);
    }
    correctness::wanted(&arguments.backends)?;
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let report = Privacy::of_this_user().clean_report(examine(&mut circumstances_of_this_machine(arguments)));
    let target = arguments.json.as_ref();
    deliver(show(&report, JsonTarget::screen_beside(target)), target, &to_json(&report)?)?;
    if report.verdict.trains { Ok(()) } else { Err(Failure::NothingTrains(report.verdict.sentence)) }
}

/// Lists the adapters, which several examinations need.
fn circumstances_of_this_machine(arguments: &DoctorArgs) -> Circumstances<'_> {
    let mut circumstances = Circumstances {
        arguments,
        root: PathBuf::from("/"),
        variable: |name| std::env::var(name).ok().filter(|value| !value.is_empty()),
        listing: Listing::default(),
        trials: Vec::new(),
        spinner: spinner(),
    };
    circumstances.say("adapters");
    circumstances.listing = match list_in_child(LISTING_TIMEOUT) {
        Ok(adapters) => Listing { adapters, trouble: None },
        Err(trouble) => Listing { adapters: Vec::new(), trouble: Some(trouble) },
    };
    circumstances
}

fn examine(circumstances: &mut Circumstances<'_>) -> DoctorReport {
    let mut sections: Vec<DoctorSection> = Vec::new();
    for (name, title, examinations) in EXAMINATIONS {
        let mut findings = Vec::new();
        for (what, examine) in examinations {
            circumstances.say(what);
            findings.extend(examine(circumstances));
        }
        if !findings.is_empty() {
            sections.push(DoctorSection { name, title, findings });
        }
    }
    circumstances.spinner.finish_and_clear();
    let lacking = data::command_for_what_a_run_lacks(circumstances.arguments);
    DoctorReport {
        schema_version: SCHEMA_VERSION,
        engine_version: env!("CARGO_PKG_VERSION"),
        commit: env!("GRADMARK_COMMIT"),
        examined_unix_seconds: provenance().started_unix_seconds,
        sections,
        verdict: decide(&circumstances.trials, circumstances.listing.used_by_default(), lacking),
    }
}

/// Shorter names are parts of too many words.
const MIN_NAME_LENGTH: usize = 3;

/// Words to replace, each with its replacement.
struct Privacy(Vec<(String, &'static str)>);

impl Privacy {
    fn of_this_user() -> Self {
        let home = dirs::home_dir();
        let canonical = home.as_ref().and_then(|home| home.canonicalize().ok());
        let folder_name = home.as_ref().and_then(|home| Some(home.file_name()?.to_string_lossy().into_owned()));
        let variables = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| env::var(name).ok());
        let homes = canonical.into_iter().chain(home).map(|home| home.display().to_string());
        Self::of(homes, variables.chain(folder_name), System::host_name().ok())
    }

    fn of(homes: impl Iterator<Item = String>, users: impl Iterator<Item = String>, host: Option<String>) -> Self {
        // The root folder is no home.
        let homes = homes.filter(|home| home.len() > 1).map(|home| (home, "~"));
        let users = users.filter(|user| user.len() >= MIN_NAME_LENGTH);
        // Users have names that are words; in a path they are users.
        let users = users.flat_map(|user| [(format!("/{user}"), "/<user>"), (format!("\\{user}"), "\\<user>")]);
        let host =
            host.filter(|host| host.len() >= MIN_NAME_LENGTH && host != "localhost").map(|host| (host, "<host>"));
        Self(homes.chain(users).chain(host).collect())
    }

    fn clean(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, instead)| replace_words(&text, name, instead))
    }

    fn clean_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.clean_value(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.clean(&name), self.clean_value(value))).collect()
            }
            other => other,
        }
    }

    fn clean_report(&self, mut report: DoctorReport) -> DoctorReport {
        for found in report.sections.iter_mut().flat_map(|section| &mut section.findings) {
            found.sentence = self.clean(&found.sentence);
            found.advice = found.advice.take().map(|advice| self.clean(&advice));
            found.details = self.clean_value(found.details.take());
        }
        report.verdict.sentence = self.clean(&report.verdict.sentence);
        report.verdict.command = report.verdict.command.map(|command| self.clean(&command));
        report
    }
}

/// Replaces whole words equal to `name`.
fn replace_words(text: &str, name: &str, instead: &str) -> String {
    let goes_on = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let mut cleaned = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let begins = !before.ends_with(|letter: char| goes_on(letter) || letter == '.');
        // A path in a path begins with its own slash.
        let begins = begins || instead.starts_with(['/', '\\']);
        let is_word = begins && !after.starts_with(goes_on);
        cleaned.push_str(before);
        cleaned.push_str(if is_word { instead } else { name });
        rest = after;
    }
    cleaned.push_str(rest);
    cleaned
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trial(backend: &'static str, adapter: Option<usize>, software: bool, outcome: TrialOutcome) -> Trial {
        Trial { backend, adapter, device: "X".to_owned(), software, outcome }
    }

    fn decided(trials: &[Trial], default: Option<usize>) -> (bool, Option<String>) {
        let verdict = decide(trials, default, None);
        (verdict.trains, verdict.command)
    }

    #[test]
    fn suggested_run_uses_the_fastest_correct_backend() {
        let works = |command: &str| (true, Some(command.to_owned()));
        let (right, failed) = (TrialOutcome::Right, TrialOutcome::Failed);
        let all = [
            trial("wgsl", Some(0), true, right),
            trial("wgsl", Some(1), false, right),
            trial("burn-flex", None, false, right),
        ];
        assert_eq!(decided(&all, Some(1)), works("native-runner"));
        assert_eq!(decided(&[all[0].clone()], None), works("native-runner --adapter cpu"));
        assert_eq!(decided(&[all[1].clone()], Some(2)), works("native-runner --adapter 1"));
        let broken = [trial("wgsl", Some(1), false, failed), all[2].clone()];
        assert_eq!(decided(&broken, Some(1)), works("native-runner --backend burn-flex"));
        assert_eq!(decided(&broken[..1], Some(1)), (false, None));
        assert_eq!(decided(&[], None), (false, None));
    }

    #[test]
    fn home_user_and_host_are_replaced_as_whole_words() {
        let owned = |texts: [&str; 2]| texts.map(str::to_owned).into_iter();
        let privacy = Privacy::of(owned(["/home/ina", "/"]), owned(["ina", "x"]), Some("tower".to_owned()));
        for (told, kept) in [
            ("`/home/ina/data/a.bin` is missing", "`~/data/a.bin` is missing"),
            ("in /home/ina.", "in ~."),
            ("/home/ina2/x and /home/ina-b", "/home/ina2/x and /home/ina-b"),
            ("/srv/home/ina/x", "/srv/home/<user>/x"),
            ("C:\\Users\\ina\\data", "C:\\Users\\<user>\\data"),
            ("http://tower:8080 at tower", "http://<host>:8080 at <host>"),
            ("towers in a china shop, /x/y", "towers in a china shop, /x/y"),
        ] {
            assert_eq!(privacy.clean(told), kept, "{told}");
        }
        let told = json!({ "files": [{ "/home/ina/a": "/home/ina/b" }], "count": 3 });
        assert_eq!(privacy.clean_value(told), json!({ "files": [{ "~/a": "~/b" }], "count": 3 }));
    }
}
