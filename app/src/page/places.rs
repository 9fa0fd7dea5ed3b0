//! The table of devices: one place for each, from all proven runs.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{DeviceSource, RankedClass, Standings, StandingsPlace, StandingsQuery, StandingsTable};
use results::{ClientKind, Precision};

use super::choice::choice;
use crate::{platform, text};

const COLUMNS: &str = "7";
const PLACE_MEANING: &str = "Place; those that cannot be told apart share one";
const RATE_MEANING: &str = "Median over submitters, each once a day; half of them lie in the interval";
const RUNS_MEANING: &str = "Proven runs, and by how many people: each counts once a day";
const FINISHED_MEANING: &str =
    "Of the runs that these people announced. Where few finished, those that did are a lucky choice";

#[derive(Clone, Debug, PartialEq)]
enum Loaded {
    NotYet,
    Standings(Standings),
    Refused(String),
}

/// What the table is asked for.
#[derive(Clone, Copy)]
struct Asked {
    suite: RwSignal<String>,
    class: RwSignal<RankedClass>,
    client: RwSignal<Option<ClientKind>>,
    precision: RwSignal<Precision>,
}

impl Asked {
    fn new() -> Self {
        let suite = engine::SUITES[0].name.to_owned();
        Self {
            suite: RwSignal::new(suite),
            class: RwSignal::new(RankedClass::Gpu),
            client: RwSignal::new(None),
            precision: RwSignal::new(Precision::F32),
        }
    }

    fn query(self) -> StandingsQuery {
        StandingsQuery {
            suite: self.suite.get(),
            precision: Some(self.precision.get()),
            backend: None,
            client: self.client.get(),
            class: Some(self.class.get()),
            limit: None,
        }
    }
}

/// All tables of a suite, with one request for each change of what is asked for.
#[component]
pub(super) fn Places() -> impl IntoView {
    let asked = Asked::new();
    let loaded = RwSignal::new(Loaded::NotYet);
    let request = StoredValue::new(0_u32);
    Effect::new(move |_| {
        let query = asked.query();
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let answer = match platform::standings(&query).await {
                Ok(standings) => Loaded::Standings(standings),
                Err(refusal) => Loaded::Refused(format!("The places cannot be shown: {refusal}.")),
            };
            // Answers may overtake each other; only the last question counts.
            if request.get_value() == number {
                loaded.set(answer);
            }
        });
    });
    view! {
        <Filters asked />
        {move || match loaded.get() {
            Loaded::NotYet => view! { <p class="note">"Loading …"</p> }.into_any(),
            Loaded::Refused(sentence) => view! { <p class="refusal">{sentence}</p> }.into_any(),
            Loaded::Standings(standings) => view! { <Table standings asked /> }.into_any(),
        }}
    }
}

#[component]
fn Filters(asked: Asked) -> impl IntoView {
    let classes = vec![(RankedClass::Gpu, "GPUs"), (RankedClass::Processor, "Processors")];
    let clients = vec![(None, "All"), (Some(ClientKind::Native), "Programs"), (Some(ClientKind::Browser), "Browsers")];
    let precisions = vec![(Precision::F32, "f32"), (Precision::F16, "f16")];
    let suites = engine::SUITES.iter().map(|suite| {
        view! { <option value=suite.name>{text::suite_title(suite)}</option> }
    });
    view! {
        <div class="filters">
            {choice("Compute on", "class", classes, asked.class)}
            {choice("Run in", "client", clients, asked.client)}
            {choice("Precision", "precision", precisions, asked.precision)}
            <label class="select">
                <span>"Suite"</span>
                <select on:change=move |event| asked.suite.set(event_target_value(&event))>
                    {suites.collect_view()}
                </select>
            </label>
        </div>
    }
}

#[component]
fn Table(standings: Standings, asked: Asked) -> impl IntoView {
    let empty = standings.tables.iter().all(|table| table.places.is_empty());
    let bodies = standings.tables.into_iter().filter(|table| !table.places.is_empty()).map(body).collect_view();
    let nothing = move || {
        empty.then(|| {
            view! { <tbody><tr><td colspan=COLUMNS class="empty">{what_to_do(asked)}</td></tr></tbody> }
        })
    };
    view! {
        <p class="note">
            "A place comes from all proven runs of a device, in which each person counts once a day. Devices that cannot \
             be told apart share one."
        </p>
        <div class="scroll" role="region" aria-label="Leaderboard, scrollable" tabindex="0">
            <table class="leaderboard" aria-label="Leaderboard">
                <thead>
                    <tr>
                        <th scope="col" class="number" title=PLACE_MEANING>"#"</th>
                        <th scope="col">"Device"</th>
                        <th scope="col" class="number" title=RATE_MEANING>"Samples per second"</th>
                        <th scope="col" class="number" title=RUNS_MEANING>"Runs"</th>
                        <th scope="col" class="number" title=FINISHED_MEANING>"Finished"</th>
                        <th scope="col">"Back end"</th>
                        <th scope="col">"Run in"</th>
                    </tr>
                </thead>
                {bodies}
                {nothing}
            </table>
        </div>
    }
}

/// Why there is nothing, and how there would be something.
fn what_to_do(asked: Asked) -> &'static str {
    let narrowed = asked.client.get().is_some() || asked.precision.get() != Precision::F32;
    match (asked.class.get(), narrowed) {
        (_, true) => {
            "No device has a place in this choice yet. Choose “All” and f32 to see more, or upload a run like it."
        }
        (RankedClass::Processor, _) => {
            "No processor has a place yet. Choose the Burn back end for the processor, run the suite and upload it."
        }
        (RankedClass::Gpu, _) => {
            "No GPU has a place yet. Run this suite as it is and upload it: it gets one once it is proven. “All runs” \
             shows everything that was uploaded."
        }
    }
}

fn body(table: StandingsTable) -> impl IntoView {
    let title = text::workload_title(&table.workload);
    let lines = match table.total {
        1 => "1 device and back end".to_owned(),
        total => format!("{} devices and back ends, fastest first", text::count(total)),
    };
    view! {
        <tbody>
            <tr class="group">
                <th scope="rowgroup" colspan=COLUMNS>{title}<span class="explain">{lines}</span></th>
            </tr>
            {table.places.into_iter().map(row).collect_view()}
        </tbody>
    }
}

fn row(line: StandingsPlace) -> impl IntoView {
    let figure = line.figure;
    let interval = format!("{} – {}", text::rate(figure.lower_quartile), text::rate(figure.upper_quartile));
    let completion = line.completion.map_or_else(
        || "unknown".to_owned(),
        |completion| format!("{} of {}", text::count(completion.finished), text::count(completion.announced)),
    );
    let marked = match line.outlier_runs {
        0 => None,
        1 => Some("1 run stands apart".to_owned()),
        number => Some(format!("{number} runs stand apart")),
    };
    let notes: Vec<String> = line.inferred.iter().map(|guess| format!("perhaps {guess}")).chain(marked).collect();
    let source = match line.device_source {
        DeviceSource::Reported | DeviceSource::Masked => None,
        DeviceSource::Claimed => Some(("claimed", "Its owner says so; the browser hides the name")),
    };
    let guessed = ("inferred", "What it may be follows from its measured peak, and decides nothing");
    let inferred = line.inferred.is_some().then_some(guessed);
    let chips = source.into_iter().chain(inferred).map(|(word, why)| {
        view! { <span class="tier" title=why>{word}</span> }
    });
    let people = if figure.submitters == 1 {
        "1 submitter".to_owned()
    } else {
        format!("{} submitters", text::count(figure.submitters))
    };
    view! {
        <tr data-device=line.device_key>
            <td class="number">{line.place}</td>
            <th scope="row">
                <a href=format!("/runs/{}", line.best_run_id) title="Its fastest run">{line.device_name}</a>
                {chips.collect_view()}
                {(!notes.is_empty()).then(|| view! { <span class="explain">{notes.join("; ")}</span> })}
            </th>
            <td class="number">{text::rate(figure.median)}<span class="explain">{interval}</span></td>
            <td class="number">{text::count(figure.runs)}<span class="explain">{people}</span></td>
            <td class="number">{completion}</td>
            <td class="program">{line.backend}</td>
            <td class="program">{client(line.client_kind)}</td>
        </tr>
    }
}

fn client(kind: ClientKind) -> &'static str {
    match kind {
        ClientKind::Browser => "a browser",
        ClientKind::Native => "a program",
    }
}
