//! A table of results: a row for each network of a run.

use leptos::prelude::*;
use results::api::RunRow;
use results::{Metric, Unit, metric};

use crate::text;

const FIGURES: [&str; 3] = ["samples_per_second", "accuracy", "seconds_to_target"];

/// What the texts of throughputs end in.
const RATE_UNIT: &str = " samples/s";

/// What a row begins with, linked to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// Where all rows are of one network.
    Device,
    DeviceAndNetwork,
    /// Where all rows are of one device.
    Network,
}

impl First {
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Device => &["Device"],
            Self::DeviceAndNetwork => &["Device", "Network"],
            Self::Network => &["Network"],
        }
    }
}

#[component]
pub(super) fn RunTable(
    rows: Vec<RunRow>,
    first: First,
    label: &'static str,
    #[prop(optional_no_strip)] own: Option<String>,
    /// What stands in an empty table.
    #[prop(default = "No result yet. Yours can be the first: run the benchmark and upload it.")]
    nothing: &'static str,
) -> impl IntoView {
    let metrics: Vec<&'static Metric> = FIGURES.iter().filter_map(|id| metric(id)).collect();
    let columns = first.columns().len() + metrics.len() + 3;
    let empty = rows.is_empty();
    let nothing = empty.then_some(nothing);
    let rows = rows.into_iter().map(|row| {
        let own = own.as_ref() == Some(&row.run_id);
        view! { <Row row first own /> }
    });
    view! {
        <div class="scroll" role="region" aria-label=format!("{label}, scrollable") tabindex="0">
            <table class="leaderboard" aria-label=label>
                <thead>
                    <tr>
                        {first.columns().iter().map(|title| view! { <th scope="col">{*title}</th> }).collect_view()}
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
                <tbody>
                    {rows.collect_view()}
                    {nothing.map(|sentence| view! {
                        <tr><td colspan=columns.to_string() class="empty"><p>{sentence}</p></td></tr>
                    })}
                </tbody>
            </table>
        </div>
    }
}

#[component]
fn Row(row: RunRow, first: First, own: bool) -> impl IntoView {
    let device = text::device_name(&row.adapter, row.claimed_name.as_deref());
    let network = text::workload_title(&row.workload);
    let name = if first == First::Network { network.clone() } else { device };
    let reported = row.claimed_name.is_some().then(|| text::device_name(&row.adapter, None));
    let reported = reported.filter(|_| first != First::Network);
    let software = row.adapter.software.then(|| "software adapter, not ranked".to_owned());
    let unusual =
        (!row.standard).then(|| format!("non-standard, {}, batch size {}", row.precision.name(), row.batch_size));
    let notes: Vec<String> = [reported, software, unusual].into_iter().flatten().collect();
    let figures = FIGURES.iter().filter_map(|id| metric(id)).map(|metric| {
        let text = metric.text_of(&row.summary);
        // The unit stands in the head of the column.
        view! { <td class="number">{text.trim_end_matches(RATE_UNIT).to_owned()}</td> }
    });
    view! {
        <tr class:own=own data-run=row.run_id.clone() data-ranked=row.ranked.to_string()>
            <th scope="row">
                <a href=format!("/runs/{}", row.run_id)>{name}</a>
                {own.then(|| view! { <span class="tier">"yours"</span> })}
                {(!notes.is_empty()).then(|| view! { <span class="explain">{notes.join("; ")}</span> })}
            </th>
            {(first == First::DeviceAndNetwork).then(|| view! { <td class="network">{network}</td> })}
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
