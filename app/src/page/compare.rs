//! Comparisons of backends on this device, and shared comparisons.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{AcceptedComparison, SharedComparison, StoredComparison};
use results::comparison::{self, Comparison, Refused, Row};
use results::{Departure, RunRecord};

use super::chart::{accuracy_curves, loss_curves};
use super::choices::{contender_choices, left_out, options, wrong_address};
use super::comparing::{ComparisonRun, ComparisonTask, USUAL_LENGTH};
use super::language::kept;
use super::parts::{Sending, answered, explain, focus, go, list_items, load_kept, notice, save, send, table};
use super::running::running;
use super::start::{notes_before_run, status};
use super::state::{StartState, burn_progress, missing_data_sets};
use crate::backend::PageBackend;
use crate::benchmark::RunStage;
use crate::platform::{self, Automation, BrowserGpu, TaskReport, TaskState};
use crate::route::COMPARE;
use crate::side_by_side::RateBar;
use crate::supplies::Arrival;
use crate::words::PlainText;
use crate::{json, side_by_side, t, text, words};

pub(super) fn compare_page() -> impl IntoView {
    let state = kept("compare", || {
        let state = StartState::new();
        Automation::start("comparison", move || task_report(state));
        state
    });
    state.recheck_address();
    let stage = state.benchmark.stage;
    platform::set_title(t!(compare_title));
    let status = move || {
        let is_on = !matches!(stage.get(), RunStage::Ready | RunStage::Cancelled | RunStage::Finished);
        let of_the_run = if is_on { status(state) } else { String::new() };
        state.comparing.status(&of_the_run)
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
    let comparing = state.comparing;
    let (state, sentence) = match (comparing.state(), state.wrong_address()) {
        (TaskState::Ready, Some(sentence)) => (TaskState::Failed, sentence),
        (state, _) => (state, String::new()),
    };
    let ended = matches!(state, TaskState::Finished | TaskState::Cancelled);
    let json = || words::in_english(|| ComparisonResults::of(comparing).json());
    TaskReport { state, sentence, outcome: ended.then(json) }
}

fn device(gpu: &BrowserGpu) -> String {
    match gpu {
        BrowserGpu::Asking => t!(compare_asking).to_owned(),
        BrowserGpu::Missing(obstacle) => t!(compare_no_gpu, why = obstacle.sentence()),
        BrowserGpu::Found(gpu) if gpu.software => t!(compare_gpu_software, name = gpu.name()),
        BrowserGpu::Found(gpu) => format!("GPU: {}", gpu.name()),
    }
}

/// Reason a backend cannot train now, displayed after its title.
pub(super) fn obstacle(state: StartState, backend: PageBackend) -> Option<String> {
    let needs = backend.uses_webgpu() && state.gpu.with(|gpu| matches!(gpu, BrowserGpu::Missing(_)));
    let needs = needs.then(|| t!(compare_needs_webgpu).to_owned());
    needs.or_else(|| state.benchmark.supplies.with(|supplies| supplies.obstacle(backend)))
}

/// Selected backends, or the default ones.
pub(super) fn contenders(state: StartState) -> Vec<PageBackend> {
    let can_train = |backend| obstacle(state, backend).is_none();
    state.options.with(|options| options.as_ref().map(|options| options.contenders(can_train)).unwrap_or_default())
}

fn controls(state: StartState) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    focus(button, move || matches!(state.benchmark.stage.get_untracked(), RunStage::Cancelled));
    let reason = move || {
        let of_options = state.options.with(|options| match options {
            Err(sentence) => Some(sentence.clone()),
            Ok(options) => state.benchmark.supplies.with(|supplies| options.lacking_data(supplies)),
        });
        let contenders = contenders(state);
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
        t!(compare_note, contenders = contenders(state).len(), length, seeds)
    };
    let compare = move || {
        if let Ok(options) = state.options.get_untracked() {
            state.comparing.start(options, untrack(|| contenders(state)));
        }
    };
    state.start_from_link(move || reason().is_none(), compare);
    let each = move || {
        let options = state.options.get().ok();
        options.map(|options| contenders(state).into_iter().map(|of| options.clone().with_backend(of)).collect())
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

/// Results, shown once the first backend has finished or failed.
pub(super) fn results(state: StartState) -> impl IntoView {
    let ComparisonRun { task, fetched, .. } = state.comparing;
    let heading = NodeRef::<html::H2>::new();
    // The Cancel button is gone; move keyboard focus to the results.
    focus(heading, move || state.comparing.present().is_none());
    let begun = Memo::new(move |_| task.with(Option::is_some) && !state.comparing.is_empty());
    let sentence = |(backend, arrival): (PageBackend, Arrival)| format!("{}: {}", backend.title(), arrival.sentence());
    let fetched = move || list_items(fetched.get().into_iter().map(sentence).collect());
    view! {
        <Show when=move || begun.get()>
            <section class="sheet" aria-labelledby="comparison-title">
                <h2 id="comparison-title" tabindex="-1" node_ref=heading>{t!(compare_comparison)}</h2>
                {move || of_networks(&ComparisonResults::of(state.comparing), state.comparing.present().is_none())}
                <p class="note">{move || task.get().map(|task| explanation(&task.seeds))}</p>
                <ul class="plain note" data-figure="fetched">{fetched}</ul>
                {takeaway(state)}
                <Show when=move || state.comparing.present().is_none()>{share_comparison(state.comparing)}</Show>
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
    let percent = |share: f64| format!("{:.2}%", share * 100.0);
    let bar = |bar: RateBar| {
        let interval = bar.interval.map(|[low, high]| {
            view! { <span class="interval" style:left=percent(low) style:width=percent(high - low)></span> }
        });
        view! {
            <li>
                <span>{bar.title}</span>
                <span class="track" aria-hidden="true">
                    <span class="fill" style:width=percent(bar.length)></span>
                    {interval}
                </span>
                <span>{bar.rate}{explain(bar.ratio)}</span>
            </li>
        }
    };
    let bars = side_by_side::bars(rows);
    (!bars.is_empty()).then(|| view! { <ul class="race">{bars.into_iter().map(bar).collect_view()}</ul> })
}

fn of_workload(comparison: Comparison, records: &[RunRecord], done: bool) -> impl IntoView + use<> {
    let title = text::workload_title(&comparison.workload);
    let winner = done.then(|| side_by_side::winner(std::slice::from_ref(&comparison), records)).flatten();
    let bars = rate_bars(&comparison.rows);
    let label = format!("{}: {title}", t!(compare_comparison));
    let heads = std::iter::once(t!(common_backend)).chain(side_by_side::COLUMNS.map(PlainText::text));
    let heads = heads.map(|title| view! { <th scope="col">{title}</th> }).collect_view();
    let rows = view! { <tbody>{comparison.rows.into_iter().map(row_of).collect_view()}</tbody> };
    let accuracies = side_by_side::accuracy_curves(&comparison.workload, records);
    let losses = side_by_side::loss_curves(&comparison.workload, records);
    let has_curves = !losses.is_empty();
    let charts = || view! { <div class="charts">{accuracy_curves(accuracies)}{loss_curves(losses)}</div> };
    view! {
        <h3>{title}</h3>
        {winner.map(|winner| view! { <p class="winner">{winner}</p> })}
        {bars}
        {table("results compared", label, heads, rows)}
        <p class="note verdict">{format!("{}.", words::remarks::agreement(&comparison.agreement))}</p>
        {has_curves.then(charts)}
    }
}

fn row_of(row: Row) -> impl IntoView {
    let remark = side_by_side::remark(&row.outcome);
    view! {
        <tr data-backend=row.contender.backend.clone()>
            <th scope="row">{side_by_side::title(&row.contender)}{explain(remark)}</th>
            {side_by_side::cells(row.figures.as_ref()).map(|cell| view! {
                <td data-value=cell.value.map(|value| value.to_string())>{cell.figure}{explain(cell.remark)}</td>
            }).collect_view()}
        </tr>
    }
}

/// Comparison with the contents of its downloads.
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

    pub(super) fn of(comparing: ComparisonRun) -> Self {
        let networks = comparing.task.with(|task| Some(task.as_ref()?.options.networks())).unwrap_or_default();
        Self::new(&networks, comparing.records.get(), comparing.refused())
    }

    pub(super) fn json(&self) -> String {
        side_by_side::document(&self.compared, &self.records, &self.refused)
    }
}

fn takeaway(state: StartState) -> impl IntoView {
    let said = RwSignal::new(String::new());
    // Downloads are always in English.
    let gathered = move || words::in_english(|| untrack(|| ComparisonResults::of(state.comparing)));
    let copy_link = move |_| {
        let address = state.comparing.task.with_untracked(|task| task.as_ref().map(ComparisonTask::address));
        let Some(address) = address else { return };
        let whole = format!("{}{address}", platform::origin());
        spawn_local(async move {
            said.set(match platform::copy(&whole).await {
                Ok(()) => t!(common_copied).to_owned(),
                Err(reason) => format!("{} {whole}", t!(common_not_saved, reason)),
            });
        });
    };
    view! {
        <div class="row">
            <button class="button small" type="button" on:click=copy_link>{t!(compare_copy_link)}</button>
            {files(gathered, said)}
            <span class="note" aria-live="polite">{said}</span>
        </div>
    }
}

fn files(gathered: impl Fn() -> ComparisonResults + Clone + 'static, said: RwSignal<String>) -> impl IntoView {
    let of_table = gathered.clone();
    let save_json = move |_| save("gradmark-comparison.json", "application/json", &gathered().json(), said);
    let save_table = move |_| {
        save("gradmark-comparison.csv", "text/csv;charset=utf-8", &side_by_side::table(&of_table().compared), said);
    };
    view! {
        <button class="button small" type="button" on:click=save_json>
            {format!("{} (JSON)", t!(common_download))}
        </button>
        <button class="button small" type="button" on:click=save_table>
            {format!("{} (CSV)", t!(common_download))}
        </button>
    }
}

pub(super) fn share_comparison(comparing: ComparisonRun) -> impl IntoView {
    let sharing = RwSignal::new(Sending::No);
    // Every retry sends the same key, so a lost response does not create a second comparison.
    let key = StoredValue::new(platform::random_word());
    let share = move || {
        // Shared comparisons are always in English.
        let refused = untrack(|| words::in_english(|| comparing.refused()));
        let shared = SharedComparison { records: comparing.records.get_untracked(), refused };
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

/// Page of a shared comparison, with the tables its author saw.
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
    let networks = side_by_side::networks(&records);
    let said = RwSignal::new(String::new());
    let shown = ComparisonResults::new(&networks, records.clone(), side_by_side::quoted(&refused));
    let tables = of_networks(&shown, true);
    let explanation = explanation(&side_by_side::seeds(&records));
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
