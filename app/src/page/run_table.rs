//! A table of results: a row for each network of a run.

use leptos::prelude::*;
use results::api::RunRow;

use crate::filters::columns::{Cell, Column, Columns, Head};
use crate::t;
use crate::text;
use crate::words::{Plain, messages};

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
    #[prop(optional)] columns: Columns,
) -> impl IntoView {
    let width = first.columns().len() + columns.chosen().count();
    let empty = rows.is_empty();
    let nothing = empty.then_some(nothing);
    let rows = rows.into_iter().map(|row| {
        let own = own.as_ref() == Some(&row.run_id);
        view! { <Row row first own columns /> }
    });
    view! {
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = label) tabindex="0">
            <table class="leaderboard" aria-label=label>
                <thead>
                    <tr>
                        {first.columns().iter().map(|title| view! { <th scope="col">{title.text()}</th> }).collect_view()}
                        {columns.chosen().map(head).collect_view()}
                    </tr>
                </thead>
                <tbody>
                    {rows.collect_view()}
                    {nothing.map(|sentence| view! {
                        <tr><td colspan=width.to_string() class="empty"><p>{sentence}</p></td></tr>
                    })}
                </tbody>
            </table>
        </div>
    }
}

fn head(column: Column) -> impl IntoView {
    let Head { title, about, is_number } = column.head();
    view! { <th scope="col" class:number=is_number title=about>{title}</th> }
}

fn cell(cell: Cell) -> impl IntoView {
    let Cell { class, text, below, tier } = cell;
    view! {
        <td class=class>
            {text}
            {below.map(|below| view! { <span class="explain">{below}</span> })}
            {tier.map(|tier| {
                let name = tier.name();
                view! { <span class="tier" data-tier=name title=text::tier_meaning(tier)>{text::tier(tier)}</span> }
            })}
        </td>
    }
}

#[component]
fn Row(row: RunRow, first: First, own: bool, columns: Columns) -> impl IntoView {
    let device = text::device_name(&row.adapter, row.claimed_name.as_deref());
    let network = text::workload_title(&row.workload);
    let name = if first == First::Network { network.clone() } else { device };
    let reported = row.claimed_name.is_some().then(|| text::device_name(&row.adapter, None));
    let reported = reported.filter(|_| first != First::Network);
    let software = row.adapter.software.then(|| t!(leaderboard_software).to_owned());
    let unusual =
        (!row.standard).then(|| t!(leaderboard_unusual, precision = row.precision.name(), batch = row.batch_size));
    let notes: Vec<String> = [reported, software, unusual].into_iter().flatten().collect();
    view! {
        <tr class:own=own data-run=row.run_id.clone() data-ranked=row.ranked.to_string()>
            <th scope="row">
                <a href=format!("/runs/{}", row.run_id)>{name}</a>
                {own.then(|| view! { <span class="tier">{t!(leaderboard_yours)}</span> })}
                {(!notes.is_empty()).then(|| view! { <span class="explain">{notes.join("; ")}</span> })}
            </th>
            {(first == First::DeviceAndNetwork).then(|| view! { <td class="network">{network}</td> })}
            {columns.chosen().map(|column| cell(column.cell(&row))).collect_view()}
        </tr>
    }
}
