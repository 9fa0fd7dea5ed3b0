//! Page of one stored result with its share card, and of result files opened from disk.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{Note, RunStanding, StoredRun, Tier, Verdict, WorkloadStanding};
use results::{Outcome, RunRecord};

use super::chart::rates_of_others;
use super::language::kept;
use super::parts::{
    answered, copy, exact_json, listed, load_kept, load_latest, notice, refusal, report_copy, set_later, share_now,
    small_button,
};
use super::report::{caveats, overview, particulars};
use super::side_by_side::compare_with;
use crate::route::StoredKind;
use crate::{json, platform, standing, t, text, words};

pub(super) fn result_page(run_id: String) -> impl IntoView {
    let own = platform::kept::<String>(&platform::secret_of(&run_id));
    answered(
        load_kept::<StoredRun>("result", format!("/api/v1/runs/{run_id}")),
        |refusal| notice(t!(result_not_shown), refusal.to_string(), "/", t!(common_to_start)),
        move |run| {
            let deletion = own.as_ref().map(|secret| format!("/runs/{run_id}/delete#{secret}"));
            stored(run, deletion).into_any()
        },
    )
}

fn stored(run: StoredRun, deletion: Option<String>) -> impl IntoView {
    let json = json::pretty(&run.record);
    let listed = (!run.listed.is_empty()).then(|| view! { <p class="note">{t!(result_as_listed)}</p> });
    let run = run.into_listed();
    let record = run.record;
    let completed = record.workloads.iter().find(|workload| workload.outcome == Outcome::Completed);
    let network = completed.map(|workload| workload.workload.clone());
    let verdict = RwSignal::new(Verdict { tier: run.tier, notes: run.notes, being_verified: run.being_verified });
    let name = text::device_name(&record.device.adapter, record.device.claimed_name.as_deref());
    let client = &record.provenance.client;
    let (program, day) = (format!("{} {}", client.name, client.version), text::day(run.submitted_unix_seconds));
    let software = record.device.adapter.software.then(|| format!("{}.", text::capitalised(t!(leaderboard_software))));
    platform::set_title(&name);
    let told = words::outcome::to_pass_on(&record);
    let title = view! {
        <h1>{name}</h1>
        <p class="lead small">
            {t!(result_uploaded_on, client = program, system = client.operating_system, day)}
            " "
            {software}
        </p>
    };
    view! {
        <section class="sheet">
            {overview(record.clone(), title.into_any())}
            {listed}
            {verdict_on_run(run.run_id.clone(), verdict)}
            {caveats(&record, false, usize::MAX)}
            {share(&run.run_id, move || told.clone())}
            {standing_of(run.run_id.clone(), record.clone(), verdict)}
            {particulars(record)}
            {exact_json(Signal::stored(json), format!("gradmark-{}.json", run.run_id))}
            {compare_with(run.run_id.clone(), StoredKind::Run, network)}
            <div class="row">
                <a class="button quiet" href="/leaderboard">{t!(common_all_results)}</a>
                {deletion.map(|address| view! { <a class="button quiet" href=address>{t!(result_delete)}</a> })}
            </div>
        </section>
    }
}

/// Polling interval: a verification takes seconds where no other run waits for one.
const POLL_MILLISECONDS: u32 = 2000;
/// Number of polls before a page that was left open gives up.
const MAX_POLLS: u32 = 300;

/// Verdict on a result, with its reasons; polled while the leaderboard verifies the result.
pub(super) fn verdict_on_run(run_id: String, shown: RwSignal<Verdict>) -> impl IntoView {
    if shown.with_untracked(|verdict| verdict.being_verified) {
        poll(run_id, shown);
    }
    let item = |note: &Note| {
        let known = words::leaderboard::note(note);
        // Findings are in English, as the server wrote them.
        let lang = known.is_none().then_some("en");
        view! { <li lang=lang>{known.unwrap_or_else(|| note.to_string())}</li> }
    };
    let list = move |notes: &[Note]| notes.iter().map(item).collect_view();
    view! {
        <div aria-live="polite">
            {move || {
                let Verdict { tier, notes, being_verified } = shown.get();
                let (name, word, meaning) = if being_verified {
                    ("being verified", t!(tier_verifying), t!(tier_verifying_meaning))
                } else {
                    (tier.name(), text::tier(tier), text::tier_meaning(tier))
                };
                view! {
                    <p>
                        <span class="tier" data-tier=name>{word}</span>
                        " "
                        {meaning}
                    </p>
                    {(!notes.is_empty()).then(|| view! { <ul class="plain">{list(&notes)}</ul> })}
                    {(tier == Tier::Flagged).then(|| view! {
                        <p class="note"><a href="/moderation">{t!(moderation_log)}</a></p>
                    })}
                }
            }}
        </div>
    }
}

fn poll(run_id: String, shown: RwSignal<Verdict>) {
    spawn_local(async move {
        for _ in 0..MAX_POLLS {
            TimeoutFuture::new(POLL_MILLISECONDS).await;
            // A failed request is retried.
            if let Ok(verdict) = platform::get::<Verdict>(&format!("/api/v1/runs/{run_id}/verdict")).await {
                let done = !verdict.being_verified;
                // The view may be gone by now.
                if shown.try_set(verdict).is_some() || done {
                    return;
                }
            }
        }
    });
}

/// Rank among proven runs, requested again when the verdict changes: a newly proven run counts immediately.
fn standing_of(run_id: String, record: RunRecord, verdict: RwSignal<Verdict>) -> impl IntoView {
    let proven = Memo::new(move |_| verdict.with(|verdict| verdict.tier == Tier::Proven && !verdict.being_verified));
    let loaded = load_latest::<RunStanding>(move || {
        // Read it, not just track it: a tracked signal that was never read reports its first value as a change.
        proven.get();
        format!("/api/v1/runs/{run_id}/standing")
    });
    let record = StoredValue::new(record);
    view! {
        <section class="standing" aria-labelledby="standing-title">
            <h2 class="minor" id="standing-title">{t!(standing_title)}</h2>
            {listed(loaded, move |standing| {
                let record = record.get_value();
                let counts = proven.get() && record.is_standard() && !record.device.adapter.software;
                places(standing, record, counts).into_any()
            })}
        </section>
    }
}

fn places(standing: RunStanding, record: RunRecord, counts: bool) -> impl IntoView {
    let RunStanding { device_key, score: _, mut workloads } = standing;
    // Same order as on the rest of the page.
    workloads.sort_by_key(|line| record.workloads.iter().position(|workload| workload.workload == line.workload));
    let lines: Vec<_> =
        workloads.into_iter().filter_map(|line| Some((standing::sentence(&line, counts)?, line))).collect();
    let compared = if lines.is_empty() {
        let software = record.device.adapter.software.then(|| text::capitalised(t!(leaderboard_software)) + ".");
        view! { <p>{software.unwrap_or_else(|| t!(standing_nobody).to_owned())}</p> }.into_any()
    } else {
        let lines = lines.into_iter().map(|(sentence, line)| place(sentence, line, record.clone())).collect_view();
        view! { <p class="note">{t!(standing_kind)}</p><ul class="places">{lines}</ul> }.into_any()
    };
    view! {
        {compared}
        <p><a href=format!("/devices/{device_key}")>{t!(device_all_runs)}</a></p>
    }
}

fn place(sentence: String, line: WorkloadStanding, record: RunRecord) -> impl IntoView {
    let workload = record.workloads.iter().find(|workload| workload.workload == line.workload);
    let query = workload.and_then(|workload| standing::distribution_query(&record, workload));
    let title = text::workload_title(&line.workload);
    view! {
        <li data-workload=line.workload.clone()>
            <strong>{title.clone()}</strong>
            <p>{sentence}</p>
            {query.map(|query| rates_of_others(&title, query, line.samples_per_second))}
        </li>
    }
}

pub(super) fn file_page() -> impl IntoView {
    platform::set_title(t!(common_show_file));
    let shown = kept("files", || RwSignal::new(Vec::<(String, Result<RunRecord, String>)>::new()));
    let read = move |files: Vec<gloo_file::File>| {
        set_later(shown, async move {
            let parse = |text: String| json::parse(&text).map_err(|error| error.to_string());
            let mut records = Vec::new();
            for file in files {
                let text = gloo_file::futures::read_as_text(&file).await.map_err(|error| error.to_string());
                records.push((file.name(), text.and_then(parse)));
            }
            records
        });
    };
    let chosen = move |event: leptos::ev::Event| read(platform::files_of(&event));
    let dropped = move |event: leptos::ev::DragEvent| {
        event.prevent_default();
        read(platform::files_of(&event));
    };
    view! {
        <section
            class="sheet drop"
            aria-labelledby="file-title"
            on:dragover=move |event: leptos::ev::DragEvent| event.prevent_default()
            on:drop=dropped
        >
            <h1 id="file-title">{t!(common_show_file)}</h1>
            <p class="lead small">{t!(result_file_explanation)}</p>
            <label class="claim">
                <span>{t!(exports_label)}</span>
                <input type="file" multiple accept=".json,application/json" on:change=chosen />
            </label>
        </section>
        <div role="status" aria-live="polite">
            {move || shown.get().into_iter().map(|(name, record)| file(name, record)).collect_view()}
        </div>
    }
}

fn file(name: String, record: Result<RunRecord, String>) -> impl IntoView {
    match record {
        Ok(record) => {
            let device = text::device_name(&record.device.adapter, record.device.claimed_name.as_deref());
            let json = json::pretty(&record);
            let shown_as = name.clone();
            let origin = t!(result_of_file, name);
            let heading = view! { <h2>{device}</h2><p class="note">{origin}</p> };
            view! {
                <section class="sheet" data-file=shown_as>
                    {overview(record.clone(), heading.into_any())}
                    {caveats(&record, false, usize::MAX)}
                    {particulars(record)}
                    {exact_json(Signal::stored(json), name)}
                </section>
            }
            .into_any()
        }
        Err(reason) => refusal(t!(result_file_not_shown, name, reason)),
    }
}

/// Width and height of the card, in pixels (`view::card::SIZE`).
const CARD: (u32, u32) = (1200, 630);
const EMBED: (u32, u32) = (480, 320);

/// Card and links of a run. `text` returns the result in words, without its URL.
pub(super) fn share<F: Fn() -> String + Clone + Send + 'static>(run_id: &str, text: F) -> impl IntoView + use<F> {
    let status = RwSignal::new(String::new());
    let origin = platform::origin();
    let address = format!("{origin}/runs/{run_id}");
    let card = format!("/api/v1/runs/{run_id}/card.png");
    let badge = format!("[![Gradmark]({origin}/api/v1/runs/{run_id}/badge.svg)]({address})");
    let (width, height) = EMBED;
    let embed = format!(
        "<iframe src=\"{origin}/embed/runs/{run_id}\" width=\"{width}\" height=\"{height}\" title=\"Gradmark\" \
         loading=\"lazy\" style=\"border:0\"></iframe>"
    );
    let share = share_now(text.clone(), address.clone(), status);
    let with_address = address.clone();
    let copy_text = move || copy(format!("{} {with_address}", text()), status);
    let image = card.clone();
    let copy_image = move || {
        let image = image.clone();
        report_copy(async move { platform::copy_image(&image).await }, status);
    };
    let copy_button = move |label: &'static str, text: String| small_button(label, move || copy(text.clone(), status));
    view! {
        <section class="share" aria-label=t!(share_title)>
            <a href=card.clone()>
                <img src=card.clone() alt=t!(share_card) width=CARD.0 height=CARD.1 loading="lazy" />
            </a>
            <div class="row">
                {share}
                {copy_button(t!(share_link), address)}
                {small_button(t!(share_text), copy_text)}
                {small_button(t!(share_image), copy_image)}
                {copy_button(t!(share_badge), badge)}
                {copy_button(t!(share_embed), embed)}
                <span class="note" aria-live="polite">{status}</span>
            </div>
        </section>
    }
}
