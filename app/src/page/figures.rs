//! The figures of a record: the large ones, and the table of all.

use leptos::prelude::*;
use results::{Metric, Outcome, RunRecord, WorkloadRecord, metrics_of};

use crate::headline::{self, Figure};
use crate::{t, text, words};

/// What a person looks for first, for each workload.
#[component]
pub(super) fn Cards(record: RunRecord) -> impl IntoView {
    let cards = record.workloads.into_iter().map(|workload| {
        let title = text::workload_title(&workload.workload);
        let body = if workload.outcome == Outcome::Completed {
            let figures = headline::figures(&workload).into_iter().map(|figure| view! { <Large figure /> });
            view! { <dl>{figures.collect_view()}</dl> }.into_any()
        } else {
            view! { <p>{text::capitalised(&text::outcome(&workload.outcome))}</p> }.into_any()
        };
        view! { <article class="card"><h3>{title}</h3>{body}</article> }
    });
    view! { <div class="cards">{cards.collect_view()}</div> }
}

#[component]
fn Large(figure: Figure) -> impl IntoView {
    let Figure { title, number, unit, remark } = figure;
    view! {
        <div>
            <dt>{title}</dt>
            <dd>
                {number}
                <small>{format!(" {unit}")}</small>
                {remark.map(|remark| view! { <span class="explain">{remark}</span> })}
            </dd>
        </div>
    }
}

/// Every metric of every workload.
#[component]
pub(super) fn ResultsTable(record: RunRecord) -> impl IntoView {
    let titles: Vec<String> = record.workloads.iter().map(|w| text::workload_title(&w.workload)).collect();
    let rows = metrics_of(record.workloads.iter().map(|w| &w.summary)).into_iter().map(|metric| {
        let cells = record.workloads.iter().map(|workload| view! { <Cell metric workload=workload.clone() /> });
        view! {
            <tr data-metric=metric.id>
                <th scope="row">
                    {words::metric::title(metric)}
                    <span class="explain long">{words::metric::description(metric)}</span>
                </th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(result_results)) tabindex="0">
            <table class="results" aria-label=t!(result_results)>
                <thead>
                    <tr>
                        <th scope="col">{t!(result_figure)}</th>
                        {titles.into_iter().map(|title| view! { <th scope="col">{title}</th> }).collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Cell(metric: &'static Metric, workload: WorkloadRecord) -> impl IntoView {
    let summary = workload.summary;
    let half_width = (metric.id == "samples_per_second" && summary.measured_windows > 1)
        .then(|| summary.relative_half_width())
        .flatten();
    view! {
        <td data-workload=workload.workload>
            {words::metric::text_of(metric, &summary)}
            {half_width.map(|share| view! { <span class="explain">{format!("± {} %", text::number(share * 100.0, 1))}</span> })}
        </td>
    }
}
