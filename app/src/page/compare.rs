//! Comparisons of backends on this device, and shared comparisons.

use leptos::html;
use leptos::prelude::*;
use results::api::{AcceptedComparison, SharedComparison, StoredComparison};
use results::{Departure, Refused, RunRecord};
use view::comparison::{self, Comparison, Row};

use super::chart::backend_curves;
use super::choices::{contender_choices, left_out, options, wrong_address};
use super::comparing::{ComparisonTask, USUAL_LENGTH};
use super::language::kept;
use super::parts::{
    Sending, answered, explain, focus, go, list_items, load_kept, notice, save, send, set_later, small_button, table,
};
use super::places::bar;
use super::running::running;
use super::start::{notes_before_run, status};
use super::state::{StartState, burn_progress, missing_data_sets};
use crate::backend::{PageBackend, title};
use crate::benchmark::RunStage;
use crate::platform::{self, BrowserGpu, TaskReport, automate};
use crate::route::COMPARE;
use crate::side_by_side::{RateBar, curve, curves, distinct};
use crate::supplies::Arrival;
use crate::words::{PlainText, messages};
use crate::{json, side_by_side, t, text, words};

pub(super) fn compare_page() -> impl IntoView {
    let state = kept("compare", || {
        let state = StartState::new();
        automate("comparison", move || task_report(state));
        state
    });
    let stage = state.benchmark.stage;
    platform::set_title(t!(compare_title));
    let status = move || {
        let is_on = !matches!(stage.get(), RunStage::Ready | RunStage::Cancelled | RunStage::Finished);
        let of_the_run = if is_on { status(state) } else { String::new() };
        state.comparing.task.with(|task| task.status(&of_the_run))
    };
    view! {
        <section class="sheet" aria-labelledby="compare-title">
            <h1 id="compare-title">{t!(compare_title)}</h1>
            <p class="lead small">{t!(compare_lead)}</p>
            <p class="note">{move || device(&state.gpu.get())}</p>
            <Show when=move || state.is_idle.get()>{controls(state)}</Show>
            <p class="status" role="status" aria-live="polite">{status}</p>
        </section>
        <Show when=move || !state.is_idle.get()>{running(state.benchmark)}</Show>
        {results(state)}
    }
}

/// State of the comparison for automation scripts, including failed backends and the reasons.
fn task_report(state: StartState) -> TaskReport {
    let task = state.comparing.task.read();
    let (state, sentence) = match state.benchmark.stage.get() {
        _ if task.present().is_some() => ("running", None),
        RunStage::Cancelled => ("cancelled", None),
        _ if !task.is_empty() => ("finished", None),
        _ => state.wrong_address().map_or(("ready", None), |sentence| ("failed", Some(sentence))),
    };
    let ended = matches!(state, "finished" | "cancelled");
    let outcome = ended.then(|| words::in_english(|| ComparisonResults::of(&task).json()));
    TaskReport { state, sentence, outcome }
}

fn device(gpu: &BrowserGpu) -> String {
    match gpu {
        BrowserGpu::Asking => t!(compare_asking).to_owned(),
        BrowserGpu::Missing(obstacle) => t!(compare_no_gpu, why = obstacle.sentence()),
        BrowserGpu::Found(gpu) if gpu.software => t!(compare_gpu_software, name = text::device_name(gpu, None)),
        BrowserGpu::Found(gpu) => format!("GPU: {}", text::device_name(gpu, None)),
    }
}

fn controls(state: StartState) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    focus(button, move || matches!(state.benchmark.stage.get_untracked(), RunStage::Cancelled));
    let reason = move || {
        let of_options = state.options.with(|options| match options {
            Err(sentence) => Some(sentence.text().to_owned()),
            Ok(options) => state.benchmark.supplies.with(|supplies| options.lacking_data(supplies)),
        });
        let contenders = state.contenders();
        let coming = state.benchmark.supplies.with(|supplies| {
            let coming = contenders.iter().find(|backend| supplies.is_coming(**backend))?;
            Some(t!(backend_obstacle, backend = coming.title(), why = supplies.obstacle(*coming)?))
        });
        let too_few = (contenders.len() < 2).then(|| t!(compare_choose_two).to_owned());
        state.first_wrong().or(of_options).or(coming).or(too_few)
    };
    let note = move || {
        let length = state.option(|options| options.length).unwrap_or(USUAL_LENGTH);
        let length = words::remarks::departure(&Departure::Length { length });
        let seeds = t!(common_seeds, number = u64::from(state.option(|options| options.seeds).unwrap_or(1)));
        t!(compare_note, contenders = text::count(state.contenders().len()), length, seeds)
    };
    let compare = move || {
        if let Ok(options) = state.options.get_untracked() {
            state.comparing.start(options, untrack(|| state.contenders()));
        }
    };
    state.start_from_link(move || reason().is_none(), compare);
    let each = move || {
        let options = state.options.get().ok();
        options.map(|options| state.contenders().into_iter().map(|of| options.clone().with_backend(of)).collect())
    };
    view! {
        {notes_before_run()}
        {contender_choices(state)}
        {options(state, true)}
        {missing_data_sets(state.benchmark)}
        {burn_progress(state.benchmark)}
        {left_out(move || each().unwrap_or_default())}
        {go(
            button,
            ["main", "compare-note", t!(common_compare)],
            Signal::derive(move || reason().is_some()),
            Signal::derive(move || reason().unwrap_or_else(note)),
            compare,
        )}
        {wrong_address(state)}
    }
}

pub(super) fn results(state: StartState) -> impl IntoView {
    let task = state.comparing.task;
    let is_done = Memo::new(move |_| state.comparing.present().is_none());
    let heading = NodeRef::<html::H2>::new();
    // The Cancel button is gone; move keyboard focus to the results.
    focus(heading, move || is_done.get());
    let begun = Memo::new(move |_| !task.read().is_empty());
    let sentence = |(backend, arrival): (PageBackend, Arrival)| format!("{}: {}", backend.title(), arrival.sentence());
    let fetched = move || list_items(task.read().fetched.iter().copied().map(sentence).collect());
    view! {
        <Show when=move || begun.get()>
            <section class="sheet" aria-labelledby="comparison-title">
                <h2 id="comparison-title" tabindex="-1" node_ref=heading>{t!(compare_comparison)}</h2>
                {move || of_networks(&ComparisonResults::of(&task.read()), is_done.get())}
                <p class="note">{move || explanation(&task.read().seeds)}</p>
                <ul class="plain note" data-figure="fetched">{fetched}</ul>
                {takeaway(task)}
                <Show when=move || is_done.get()>{share_comparison(task)}</Show>
            </section>
        </Show>
    }
}

fn explanation(seeds: &[u32]) -> String {
    let of_seeds = match seeds {
        [seed] => format!("{}: {seed}.", t!(common_seed)),
        several => {
            let several = several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            t!(compare_explanation_seeds, seeds = several)
        }
    };
    format!("{of_seeds} {}", t!(compare_explanation))
}

/// The winner over all networks, and each network. Shown once the comparison is done.
fn of_networks(ComparisonResults { compared, records, .. }: &ComparisonResults, done: bool) -> impl IntoView + use<> {
    let several = done && compared.len() > 1;
    let overall = several.then(|| side_by_side::winner(compared, records)).flatten();
    let overall = overall.map(|winner| {
        view! { <p class="winner" data-figure="winner">{format!("{}: {winner}", t!(common_all_networks))}</p> }
    });
    view! {
        {overall}
        {compared.iter().map(|comparison| of_workload(comparison.clone(), records, done)).collect_view()}
    }
}

fn rate_bars(rows: &[Row]) -> Option<impl IntoView + use<>> {
    let bars = side_by_side::bars(rows);
    let one = |RateBar { title, rate, ratio, length, interval }: RateBar| {
        view! { <li><span>{title}</span>{bar(length, interval)}<span>{rate}{explain(ratio)}</span></li> }
    };
    (!bars.is_empty()).then(|| view! { <ul class="race">{bars.into_iter().map(one).collect_view()}</ul> })
}

fn of_workload(comparison: Comparison, records: &[RunRecord], done: bool) -> impl IntoView + use<> {
    let title = text::workload_title(&comparison.workload);
    let winner = done.then(|| side_by_side::winner(std::slice::from_ref(&comparison), records)).flatten();
    let bars = rate_bars(&comparison.rows);
    let label = format!("{}: {title}", t!(compare_comparison));
    let columns = side_by_side::columns(&comparison.workload);
    let heads = std::iter::once(t!(common_backend)).chain(columns.map(|(title, _): (PlainText, _)| title.text()));
    let heads = heads.map(|title| view! { <th scope="col">{title}</th> }).collect_view();
    let row = |row| row_of(row, columns);
    let rows = view! { <tbody>{comparison.rows.into_iter().map(row).collect_view()}</tbody> };
    let aims_at_loss = text::aims_at_loss(&comparison.workload);
    let tested = if aims_at_loss {
        curves(&comparison.workload, records, |of| {
            of.evaluations.iter().map(|test| (test.training_seconds, test.loss)).collect()
        })
    } else {
        curves(&comparison.workload, records, |of| {
            of.evaluations.iter().map(|test| (test.training_seconds, test.accuracy)).collect()
        })
    };
    let losses = curves(&comparison.workload, records, |of| curve(&of.curve, |point| point.loss));
    let has_curves = !losses.is_empty();
    let charts = || {
        let title = if aims_at_loss { messages::metric_test_loss } else { messages::metric_accuracy };
        let tested = backend_curves(title, tested, !aims_at_loss);
        view! { <div class="charts">{tested}{backend_curves(messages::chart_loss, losses, false)}</div> }
    };
    view! {
        <h3>{title}</h3>
        {winner.map(|winner| view! { <p class="winner">{winner}</p> })}
        {bars}
        {table("results compared", label, heads, rows)}
        <p class="note verdict">{format!("{}.", words::remarks::agreement(&comparison.agreement))}</p>
        {has_curves.then(charts)}
    }
}

fn row_of(row: Row, columns: [side_by_side::Column; 7]) -> impl IntoView {
    let remark = side_by_side::remark(&row.outcome);
    view! {
        <tr data-backend=row.contender.backend.clone()>
            <th scope="row">{title(&row.contender)}{explain(remark)}</th>
            {side_by_side::cells(columns, row.figures.as_ref()).map(|cell| view! {
                <td data-value=cell.value.map(|value| value.to_string())>{cell.figure}{explain(cell.remark)}</td>
            }).collect_view()}
        </tr>
    }
}

struct ComparisonResults {
    compared: Vec<Comparison>,
    records: Vec<RunRecord>,
    refused: Vec<Refused>,
}

impl ComparisonResults {
    fn new(networks: &[String], records: Vec<RunRecord>, refused: Vec<Refused>) -> Self {
        let compared = networks.iter().map(|name| comparison::compare(name, &records, &refused)).collect();
        Self { compared, records, refused }
    }

    fn of(task: &ComparisonTask) -> Self {
        Self::new(&task.options.networks(), task.records.clone(), task.refused())
    }

    fn json(&self) -> String {
        side_by_side::document(&self.compared, &self.records, &self.refused)
    }
}

fn takeaway(task: RwSignal<ComparisonTask>) -> impl IntoView {
    let said = RwSignal::new(String::new());
    // Downloads are always in English.
    let gathered = move || words::in_english(|| task.with_untracked(ComparisonResults::of));
    let copy_link = move || {
        let whole = format!("{}{}", platform::origin(), task.with_untracked(ComparisonTask::address));
        set_later(said, async move {
            match platform::copy(&whole).await {
                Ok(()) => t!(common_copied).to_owned(),
                Err(reason) => format!("{} {whole}", t!(common_not_saved, reason)),
            }
        });
    };
    view! {
        <div class="row">
            {small_button(t!(compare_copy_link), copy_link)}
            {files(gathered, said)}
            <span class="note" aria-live="polite">{said}</span>
        </div>
    }
}

fn files(gathered: impl Fn() -> ComparisonResults + Clone + 'static, said: RwSignal<String>) -> impl IntoView {
    let of_table = gathered.clone();
    let save_json = move || save("gradmark-comparison.json", "application/json", &gathered().json(), said);
    let save_table = move || {
        save("gradmark-comparison.csv", "text/csv;charset=utf-8", &side_by_side::table(&of_table().compared), said);
    };
    let label = |format: &str| format!("{} ({format})", t!(common_download));
    [small_button(label("JSON"), save_json).into_any(), small_button(label("CSV"), save_table).into_any()]
}

fn share_comparison(task: RwSignal<ComparisonTask>) -> impl IntoView {
    let sharing = RwSignal::new(Sending::No);
    // Every retry sends the same key, so a lost response does not create a second comparison.
    let key = StoredValue::new(platform::random_word());
    let share = move || {
        // Shared comparisons are always in English.
        let refused = task.with_untracked(|task| words::in_english(|| task.refused()));
        let shared = SharedComparison { records: task.with_untracked(|task| task.records.clone()), refused };
        let text = json::compact(&shared);
        send(sharing, async move {
            let accepted = platform::share_comparison(&text, &key.get_value()).await;
            let accepted = accepted.map_err(|why| t!(comparison_not_shared, reason = why.to_string()))?;
            platform::keep(&platform::secret_of(&accepted.comparison_id), &accepted.deletion_secret);
            Ok(accepted)
        });
    };
    view! {
        <section class="upload" aria-labelledby="share-title">
            <h3 id="share-title">{t!(comparison_share_title)}</h3>
            {move || match sharing.get() {
                Sending::Done(accepted) => shared(accepted).into_any(),
                now => {
                    let busy = now == Sending::Now;
                    let refused = if let Sending::Refused(sentence) = now { sentence } else { String::new() };
                    let label = if busy { t!(common_uploading) } else { t!(common_upload) };
                    let note = t!(comparison_share_note).to_owned();
                    view! {
                        {go(NodeRef::new(), ["quiet", "share-note", label], busy.into(), note.into(), share)}
                        <p class="refusal" role="alert">{refused}</p>
                    }
                    .into_any()
                }
            }}
        </section>
    }
}

fn shared(accepted: AcceptedComparison) -> impl IntoView {
    view! {
        <p role="status">{t!(common_uploaded)}</p>
        <div class="row">
            <a class="button main" href=accepted.permalink>{t!(upload_permalink)}</a>
            <a class="button quiet" href=accepted.deletion_link>{t!(upload_deletion_link)}</a>
        </div>
        <p class="note">{t!(comparison_deletion_note)}</p>
    }
}

pub(super) fn comparison_page(id: String) -> impl IntoView {
    platform::set_title(t!(comparison_title));
    let deletion = platform::kept::<String>(&platform::secret_of(&id));
    let deletion = deletion.map(|secret| format!("/comparisons/{id}/delete#{secret}"));
    answered(
        load_kept::<StoredComparison>("comparison", format!("/api/v1/comparisons/{id}")),
        |refusal| notice(t!(result_not_shown), refusal.to_string(), COMPARE, t!(comparison_own)),
        move |stored| stored_comparison(stored, deletion.clone()).into_any(),
    )
}

fn stored_comparison(stored: StoredComparison, deletion: Option<String>) -> impl IntoView {
    let SharedComparison { records, refused } = stored.comparison;
    let lead = records.first().map(|record| {
        let client = &record.provenance.client;
        let device = text::device_name(&record.device.adapter, record.device.claimed_name.as_deref());
        let client = format!("{} {}, {}", client.name, client.version, client.operating_system);
        t!(comparison_lead, device, client, day = text::day(stored.submitted_unix_seconds))
    });
    let workloads = records.iter().flat_map(|record| &record.workloads);
    let networks = distinct(workloads.map(|of| of.workload.clone()));
    let said = RwSignal::new(String::new());
    // The reasons are in English.
    let quoted = |of: &Refused| Refused { reason: t!(comparison_untrained, reason = of.reason), ..of.clone() };
    let shown = ComparisonResults::new(&networks, records.clone(), refused.iter().map(quoted).collect());
    let tables = of_networks(&shown, true);
    let explanation = explanation(&distinct(records.iter().map(|record| record.requested.seed)));
    let gathered = move || ComparisonResults::new(&networks, records.clone(), refused.clone());
    view! {
        <section class="sheet" aria-labelledby="comparison-title">
            <h1 id="comparison-title">{t!(comparison_title)}</h1>
            <p class="lead small">{lead}</p>
            {tables}
            <p class="note">{explanation}</p>
            <div class="row">
                {files(gathered, said)}
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <div class="row">
                <a class="button quiet" href=COMPARE>{t!(comparison_own)}</a>
                {deletion.map(|address| view! { <a class="button quiet" href=address>{t!(comparison_delete)}</a> })}
            </div>
        </section>
    }
}
