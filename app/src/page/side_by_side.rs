//! Two to four stored results or devices side by side, and a search for more to add.

use leptos::ev;
use leptos::prelude::*;
use leptos::tachys::html::event::on;
use leptos::task::spawn_local;
use results::api::{
    ComparedFigure, ComparedWorkload, Comparing, ComparingQuery, ListRuns, RankedClass, RunList, RunSort, SideVerdict,
    StandingsQuery,
};

use super::parts::{MAX_ROWS, answered, explain, load_kept, notice, table, text_field};
use super::places::STANDINGS;
use super::runs::RUNS;
use crate::candidates::{self, Candidate, MAX_CHOSEN};
use crate::platform::{self, RequestError};
use crate::route::{LEADERBOARD, SIDE_BY_SIDE, StoredKind, id_in, with_query};
use crate::words::leaderboard::{fact, fact_value};
use crate::{t, text};

type Remarked = (String, Option<String>);

pub(super) fn side_by_side_page() -> impl IntoView {
    platform::set_title(t!(beside_title));
    let query = ComparingQuery { runs: platform::parameter("runs"), devices: platform::parameter("devices") };
    let (address, link) = (LEADERBOARD, t!(common_all_results));
    if query.runs.is_none() && query.devices.is_none() {
        return notice(t!(beside_title), t!(beside_choose).to_owned(), address, link);
    }
    let kind = if query.devices.is_some() { StoredKind::Device } else { StoredKind::Run };
    answered(
        load_kept::<Comparing>("side-by-side", with_query("/api/v1/compare", &query)),
        move |refusal| notice(t!(result_not_shown), refusal.to_string(), address, link),
        move |found| beside(found, kind).into_any(),
    )
    .into_any()
}

fn beside(found: Comparing, kind: StoredKind) -> impl IntoView {
    let Comparing { sides, differences, workloads } = found;
    let columns = sides.len();
    let heads = sides.into_iter().map(|side| {
        let address = format!("/{}/{}", kind.name(), side.id);
        view! { <th scope="col"><a href=address>{text::named_device(&side.name)}</a></th> }
    });
    let nothing = workloads.is_empty().then_some(t!(beside_nothing));
    let differing = differences.into_iter().map(|difference| {
        let values = difference.values.into_iter().map(|of| {
            let said = of.map(|of| fact_value(&difference.what, of));
            view! { <td>{said.unwrap_or_else(|| "–".to_owned())}</td> }
        });
        view! { <tr><th scope="row">{fact(&difference.what)}</th>{values.collect_view()}</tr> }
    });
    let heads = view! { <th scope="col">{t!(common_metric)}</th>{heads.collect_view()} };
    let bodies = view! {
        {workloads.into_iter().map(|of| of_workload(of, columns)).collect_view()}
        <tbody>
            <tr class="group"><th scope="rowgroup" colspan=(columns + 1).to_string()>{t!(beside_differs)}</th></tr>
            {differing.collect_view()}
        </tbody>
    };
    view! {
        <section class="sheet" aria-labelledby="beside-title">
            <h1 id="beside-title">{t!(beside_title)}</h1>
            <p class="lead small">{t!(beside_explanation)}</p>
            {nothing.map(|sentence| view! { <p class="callout">{sentence}</p> })}
            {table("results", t!(beside_title), heads, bodies)}
        </section>
    }
}

fn of_workload(of: ComparedWorkload, columns: usize) -> impl IntoView {
    let suite = of.suite.as_ref();
    let suite = suite
        .map(|of| t!(network_suite_version, suite = text::suite_inside(&of.name), version = text::count(of.version)));
    let client = of.client_kind.map(|kind| text::client(kind).to_owned());
    let context = [suite, of.backend.clone(), client].into_iter().flatten().reduce(|all, of| format!("{all}; {of}"));
    let row = |title: &'static str, cell: fn(&ComparedFigure) -> Option<Remarked>| {
        let cells: Vec<_> = of.figures.iter().map(|figure| figure.as_ref().and_then(cell)).collect();
        cells.iter().any(Option::is_some).then(|| {
            let cells = cells.into_iter().map(|cell| {
                let (text, remark) = cell.unwrap_or_else(|| ("–".to_owned(), None));
                view! { <td>{text}{explain(remark)}</td> }
            });
            view! { <tr><th scope="row">{title}</th>{cells.collect_view()}</tr> }
        })
    };
    view! {
        <tbody data-workload=of.workload.clone()>
            <tr class="group">
                <th scope="rowgroup" colspan=(columns + 1).to_string()>
                    {text::workload_title(&of.workload)}
                    {explain(context)}
                </th>
            </tr>
            {row(t!(common_rate), rate)}
            {if text::aims_at_loss(&of.workload) {
                row(t!(metric_test_loss), |figure| Some((text::number(figure.test_loss?, 3), None)))
            } else {
                row(t!(metric_accuracy), |figure| Some((text::percent(figure.accuracy?), None)))
            }}
            {row(t!(metric_seconds_to_target), |figure| Some((text::seconds(figure.seconds_to_target?), None)))}
            {row(t!(common_batch_size), |of| Some((of.batch_size?.to_string(), Some(of.precision.name().to_owned()))))}
        </tbody>
    }
}

/// Throughput with its interval, its ratio to the first side's, and the verdict.
fn rate(figure: &ComparedFigure) -> Option<Remarked> {
    let Some(rate) = figure.samples_per_second.map(text::rate) else {
        return Some((t!(common_too_short).to_owned(), None));
    };
    let interval = figure.samples_per_second_low.zip(figure.samples_per_second_high);
    let interval = interval.map(|(low, high)| format!("{} – {}", text::rate(low), text::rate(high)));
    let verdict = figure.verdict.map(|verdict| match verdict {
        SideVerdict::Faster => t!(beside_faster).to_owned(),
        SideVerdict::Slower => t!(beside_slower).to_owned(),
        SideVerdict::Tied => t!(beside_tied).to_owned(),
        SideVerdict::Undecided => t!(beside_undecided).to_owned(),
    });
    let remarks = [interval, figure.to_first.map(text::ratio), verdict].into_iter().flatten();
    Some((rate, remarks.reduce(|all, remark| format!("{all}; {remark}"))))
}

/// Minimum length of a run id or device key.
const MIN_ID_LENGTH: usize = 12;

/// Search for results or devices to add. Candidates are loaded when the field gets focus.
#[derive(Clone, Copy, Default)]
struct Search {
    /// `None` until they are requested.
    all: RwSignal<Option<Vec<Candidate>>>,
    chosen: RwSignal<Vec<Candidate>>,
    typed: RwSignal<String>,
    /// Reason the search or the comparison failed.
    refused: RwSignal<String>,
}

impl Search {
    fn begin(self, kind: StoredKind, network: Option<String>) {
        if self.all.with_untracked(Option::is_some) {
            return;
        }
        self.all.set(Some(Vec::new()));
        spawn_local(async move {
            // The view may be gone by now.
            let _ = match ask(kind, network).await {
                Ok(found) => self.all.try_set(Some(found)).map(drop),
                Err(refusal) => {
                    let _ = self.all.try_set(None);
                    self.refused.try_set(t!(candidates_refused, reason = refusal.to_string())).map(drop)
                }
            };
        });
    }

    fn toggle(self, candidate: &Candidate) {
        self.chosen.update(|chosen| match chosen.iter().position(|of| of == candidate) {
            Some(place) => drop(chosen.remove(place)),
            None if chosen.len() < MAX_CHOSEN => chosen.push(candidate.clone()),
            None => {}
        });
    }

    /// Returns the selected ids, or the id in a pasted link.
    fn others(self, own: &str, kind: StoredKind) -> Result<Vec<String>, &'static str> {
        let chosen = self.chosen.get_untracked();
        if !chosen.is_empty() {
            return Ok(chosen.into_iter().map(|candidate| candidate.id).collect());
        }
        let text = self.typed.get_untracked();
        match id_in(&text, kind) {
            Some(other) if other == own => Err(t!(candidates_itself)),
            // A word of a device name also parses as an id, but is shorter.
            Some(other) if text.contains('/') || other.len() >= MIN_ID_LENGTH => Ok(vec![other]),
            _ => Err(t!(candidates_no_link)),
        }
    }
}

async fn ask(kind: StoredKind, network: Option<String>) -> Result<Vec<Candidate>, RequestError> {
    if kind == StoredKind::Run {
        let sort = network.is_some().then_some(RunSort::Fastest);
        let query = ListRuns { workload: network, sort, limit: Some(MAX_ROWS), ..ListRuns::default() };
        return Ok(candidates::of_runs(&platform::get::<RunList>(&with_query(RUNS, &query)).await?.rows));
    }
    let mut tables = Vec::new();
    for suite in engine::SUITES {
        for class in [RankedClass::Gpu, RankedClass::Processor] {
            let query = StandingsQuery {
                suite: suite.name.to_owned(),
                class: Some(class),
                limit: Some(MAX_ROWS),
                ..StandingsQuery::default()
            };
            tables.push(platform::get(&with_query(STANDINGS, &query)).await?);
        }
    }
    Ok(candidates::of_devices(&tables))
}

/// Form that compares a result or device with others, among the results of `network` if it is given.
pub(super) fn compare_with(own: String, kind: StoredKind, network: Option<String>) -> impl IntoView {
    let search = Search::default();
    let this = own.clone();
    let compare = move |event: ev::SubmitEvent| {
        event.prevent_default();
        match search.others(&this, kind) {
            Ok(others) => platform::go_to(&format!("{SIDE_BY_SIDE}?{}={this},{}", kind.name(), others.join(","))),
            Err(sentence) => search.refused.set(sentence.to_owned()),
        }
    };
    let begin = on(ev::focusin, move |_| search.begin(kind, network.clone()));
    view! {
        <form class="compare-with" on:submit=compare>
            <div class="go">
                {text_field(t!(candidates_find), "text", None, search.typed, |text| text).add_any_attr(begin)}
                <button class="button quiet" type="submit">{t!(common_compare)}</button>
            </div>
            {found_list(search, own)}
            <p class="refusal" role="alert">{search.refused}</p>
        </form>
    }
}

fn found_list(search: Search, own: String) -> impl IntoView {
    let found = move || {
        let (all, chosen, typed) = (search.all.get().unwrap_or_default(), search.chosen.get(), search.typed.get());
        // A pasted link is not a name to search for.
        let typed = if typed.contains('/') { String::new() } else { typed };
        let found = candidates::found(&all, &own, &chosen, &typed);
        found.into_iter().cloned().collect::<Vec<_>>()
    };
    let one = move |candidate: Candidate| {
        let Candidate { name, about, .. } = candidate.clone();
        let candidate = StoredValue::new(candidate);
        let is_chosen =
            move || search.chosen.with(|chosen| candidate.try_with_value(|of| chosen.contains(of)) == Some(true));
        let is_full = move || !is_chosen() && search.chosen.with(Vec::len) >= MAX_CHOSEN;
        view! {
            <li>
                <label class="tick">
                    <input
                        type="checkbox"
                        prop:checked=is_chosen
                        disabled=is_full
                        on:change=move |_| candidate.with_value(|of| search.toggle(of))
                    />
                    <span>{name}{explain(Some(about).filter(|about| !about.is_empty()))}</span>
                </label>
            </li>
        }
    };
    view! {
        <ul class="found" aria-label=t!(candidates_found)>{move || found().into_iter().map(one).collect_view()}</ul>
    }
}
