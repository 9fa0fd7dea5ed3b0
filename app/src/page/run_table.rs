//! A table of results: a row for each network of a run.

use leptos::prelude::*;
use results::api::RunRow;
use results::{Metric, Unit};

use crate::t;
use crate::text;
use crate::words::{Plain, messages, metric};

const FIGURES: [&str; 3] = ["samples_per_second", "accuracy", "seconds_to_target"];

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
    fn columns(self) -> &'static [Plain] {
        const DEVICE: Plain = messages::leaderboard_device;
        const NETWORK: Plain = messages::leaderboard_network;
        match self {
            Self::Device => &[DEVICE],
            Self::DeviceAndNetwork => &[DEVICE, NETWORK],
            Self::Network => &[NETWORK],
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
    #[prop(default = t!(leaderboard_none))]
    nothing: &'static str,
) -> impl IntoView {
    let metrics: Vec<&'static Metric> = FIGURES.iter().filter_map(|id| results::metric(id)).collect();
    let columns = first.columns().len() + metrics.len() + 3;
    let empty = rows.is_empty();
    let nothing = empty.then_some(nothing);
    let rows = rows.into_iter().map(|row| {
        let own = own.as_ref() == Some(&row.run_id);
        view! { <Row row first own /> }
    });
    view! {
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = label) tabindex="0">
            <table class="leaderboard" aria-label=label>
                <thead>
                    <tr>
                        {first.columns().iter().map(|title| view! { <th scope="col">{title.text()}</th> }).collect_view()}
                        {metrics.iter().map(|metric| view! {
                            <th scope="col" class="number" title=metric::description(metric)>
                                {metric::title(metric)}
                                {(metric.unit == Unit::SamplesPerSecond).then(metric::rate_unit)}
                            </th>
                        }).collect_view()}
                        <th scope="col">{t!(leaderboard_program)}</th>
                        <th scope="col">{t!(leaderboard_tier)}</th>
                        <th scope="col">{t!(leaderboard_day)}</th>
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
    let software = row.adapter.software.then(|| t!(leaderboard_software).to_owned());
    let unusual =
        (!row.standard).then(|| t!(leaderboard_unusual, precision = row.precision.name(), batch = row.batch_size));
    let notes: Vec<String> = [reported, software, unusual].into_iter().flatten().collect();
    let figures = FIGURES.iter().filter_map(|id| results::metric(id)).map(|metric| {
        let text = metric::text_of(metric, &row.summary);
        // The unit stands in the head of the column.
        view! { <td class="number">{text.trim_end_matches(metric::rate_unit().as_str()).to_owned()}</td> }
    });
    view! {
        <tr class:own=own data-run=row.run_id.clone() data-ranked=row.ranked.to_string()>
            <th scope="row">
                <a href=format!("/runs/{}", row.run_id)>{name}</a>
                {own.then(|| view! { <span class="tier">{t!(leaderboard_yours)}</span> })}
                {(!notes.is_empty()).then(|| view! { <span class="explain">{notes.join("; ")}</span> })}
            </th>
            {(first == First::DeviceAndNetwork).then(|| view! { <td class="network">{network}</td> })}
            {figures.collect_view()}
            <td class="program">
                {row.client.clone()}
                <span class="explain">{format!("{}, {}", row.operating_system, row.backend)}</span>
            </td>
            <td><span class="tier" data-tier=row.tier.name() title=text::tier_meaning(row.tier)>{text::tier(row.tier)}</span></td>
            <td class="day">{text::day(row.submitted_unix_seconds)}</td>
        </tr>
    }
}
