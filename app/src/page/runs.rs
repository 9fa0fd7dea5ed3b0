//! The table of single runs, of whatever tier.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ListRuns, RunRow};
use results::{Metric, Unit, metric};

use crate::platform;
use crate::text;

/// Rows of each workload at first, and how many more at a time.
const ROWS: u32 = 25;
const MOST_ROWS: u32 = 500;
const COLUMNS: [&str; 3] = ["samples_per_second", "accuracy", "seconds_to_target"];

/// What the texts of throughputs end in.
const RATE_UNIT: &str = " samples/s";

/// The rows of one workload.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    workload: String,
    rows: Vec<RunRow>,
    total: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Loaded {
    NotYet,
    Rows(Vec<Group>),
    Refused(String),
}

#[component]
pub(super) fn Runs(uploaded: RwSignal<Option<String>>) -> impl IntoView {
    let workload = RwSignal::new(String::new());
    let limit = RwSignal::new(ROWS);
    let loaded = RwSignal::new(Loaded::NotYet);
    let request = StoredValue::new(0_u32);
    Effect::new(move |_| {
        let (workload, limit) = (workload.get(), limit.get());
        uploaded.track();
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let rows = load(&workload, limit).await;
            // Answers may overtake each other; only the last question counts.
            if request.get_value() == number {
                loaded.set(rows);
            }
        });
    });
    view! {
        <div class="filters">
            <label class="select">
                <span>"Network"</span>
                <select on:change=move |event| workload.set(event_target_value(&event))>
                    <option value="">"All networks"</option>
                    {workloads().into_iter().map(|name| {
                        let title = text::workload_title(&name);
                        view! { <option value=name>{title}</option> }
                    }).collect_view()}
                </select>
            </label>
        </div>
        {move || match loaded.get() {
            Loaded::NotYet => view! { <p class="note">"Loading …"</p> }.into_any(),
            Loaded::Refused(sentence) => view! { <p class="refusal">{sentence}</p> }.into_any(),
            Loaded::Rows(groups) => view! { <Table groups own=uploaded.get() limit /> }.into_any(),
        }}
    }
}

fn workloads() -> Vec<String> {
    engine::WORKLOADS.iter().map(|make| make().name.to_owned()).collect()
}

async fn load(workload: &str, limit: u32) -> Loaded {
    let names = if workload.is_empty() { workloads() } else { vec![workload.to_owned()] };
    match groups(&names, limit).await {
        Ok(groups) => Loaded::Rows(groups),
        Err(refusal) => Loaded::Refused(format!("The results cannot be shown: {refusal}.")),
    }
}

async fn groups(names: &[String], limit: u32) -> Result<Vec<Group>, platform::Refusal> {
    let mut groups = Vec::new();
    for workload in names {
        let query = ListRuns { workload: Some(workload.clone()), limit: Some(limit), ..ListRuns::default() };
        let list = platform::list(&query).await?;
        groups.push(Group { workload: workload.clone(), rows: list.rows, total: list.total });
    }
    Ok(groups)
}

#[component]
fn Table(groups: Vec<Group>, own: Option<String>, limit: RwSignal<u32>) -> impl IntoView {
    let empty = groups.iter().all(|group| group.rows.is_empty());
    let more = limit.get_untracked() < MOST_ROWS && groups.iter().any(|group| group.total > group.rows.len() as u64);
    let metrics: Vec<&'static Metric> = COLUMNS.iter().filter_map(|id| metric(id)).collect();
    let bodies = groups.into_iter().filter(|group| !group.rows.is_empty()).map(|group| {
        let mut ranked = 0;
        let rows: Vec<_> = group
            .rows
            .into_iter()
            .map(|row| {
                ranked += u32::from(row.ranked);
                let own = own.as_ref() == Some(&row.run_id);
                view! { <Row place=row.ranked.then_some(ranked) row own /> }
            })
            .collect();
        view! {
            <tbody>
                <tr class="group">
                    <th scope="rowgroup" colspan="8">
                        {text::workload_title(&group.workload)}
                        <span class="explain">{of_total(group.total)}</span>
                    </th>
                </tr>
                {rows}
            </tbody>
        }
    });
    let nothing = empty.then_some("No result yet. Yours can be the first: run the benchmark and upload it.");
    view! {
        <div class="scroll" role="region" aria-label="Leaderboard, scrollable" tabindex="0">
            <table class="leaderboard" aria-label="Leaderboard">
                <thead>
                    <tr>
                        <th scope="col" class="number">"#"</th>
                        <th scope="col">"Device"</th>
                        {metrics.iter().map(|metric| view! {
                            <th scope="col" class="number" title=metric.description>
                                {metric.title}
                                {(metric.unit == Unit::SamplesPerSecond).then_some(RATE_UNIT)}
                            </th>
                        }).collect_view()}
                        <th scope="col">"Program"</th>
                        <th scope="col">"Checked"</th>
                        <th scope="col">"Day"</th>
                    </tr>
                </thead>
                {bodies.collect_view()}
                {nothing.map(|sentence| view! { <tbody><tr><td colspan="8" class="empty">{sentence}</td></tr></tbody> })}
            </table>
        </div>
        {more.then(|| view! {
            <button class="button quiet" type="button" on:click=move |_| limit.update(|l| *l = (*l + 100).min(MOST_ROWS))>
                "Show more"
            </button>
        })}
    }
}

fn of_total(total: u64) -> String {
    if total == 1 { "1 result".to_owned() } else { format!("{} results, fastest first", text::count(total)) }
}

#[component]
fn Row(row: RunRow, place: Option<u32>, own: bool) -> impl IntoView {
    let name = text::device_name(&row.adapter, row.claimed_name.as_deref());
    let reported = row.claimed_name.is_some().then(|| text::device_name(&row.adapter, None));
    let software = row.adapter.software.then_some("software adapter, not ranked");
    let unusual =
        (!row.standard).then(|| format!("non-standard, {}, batch size {}", row.precision.name(), row.batch_size));
    let notes: Vec<String> = [reported, software.map(str::to_owned), unusual].into_iter().flatten().collect();
    let figures = COLUMNS.iter().filter_map(|id| metric(id)).map(|metric| {
        let text = metric.text_of(&row.summary);
        // The unit stands in the head of the column.
        view! { <td class="number">{text.trim_end_matches(RATE_UNIT).to_owned()}</td> }
    });
    view! {
        <tr class:own=own data-run=row.run_id.clone() data-ranked=row.ranked.to_string()>
            <td class="number">{place.map_or_else(|| "–".to_owned(), |place| place.to_string())}</td>
            <th scope="row">
                <a href=format!("/runs/{}", row.run_id)>{name}</a>
                {own.then(|| view! { <span class="tier">"yours"</span> })}
                {(!notes.is_empty()).then(|| view! { <span class="explain">{notes.join("; ")}</span> })}
            </th>
            {figures.collect_view()}
            <td class="program">
                {row.client.clone()}
                <span class="explain">{format!("{}, {}", row.operating_system, row.backend)}</span>
            </td>
            <td><span class="tier" data-tier=row.tier.name() title=text::tier_meaning(row.tier)>{row.tier.name()}</span></td>
            <td class="day">{text::day(row.submitted_unix_seconds)}</td>
        </tr>
    }
}
