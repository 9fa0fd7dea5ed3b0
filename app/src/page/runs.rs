//! Tables of individual runs, and their filters.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ListRuns, RunList, RunRow, RunSort};

use super::chart::scatter;
use super::parts::{LINK, explain, linked, listed, select, table};
use crate::filters::{COLUMNS, DEVICE, Filters, LISTS_OF_RUNS, List, RunColumn, SINCE, TableCell, UNTIL, order};
use crate::platform::{self, RequestError};
use crate::route::with_query;
use crate::words::{PlainText, messages};
use crate::{t, text};

const ROWS: u32 = 25;
const MORE_ROWS: u32 = 100;

pub(super) const RUNS: &str = "/api/v1/runs";

/// Pages of results received so far.
#[derive(Clone, Debug, PartialEq)]
struct ListedRuns {
    /// Rows of all pages, and the cursor of the last page.
    list: RunList,
    query: ListRuns,
    /// True if the leaderboard scanned many results for the last page without filling it.
    looking: bool,
}

fn is_looking(page: &RunList, limit: Option<u32>) -> bool {
    page.next.is_some() && limit.is_some_and(|limit| page.rows.len() < limit as usize)
}

pub(super) fn runs(chosen: RwSignal<Filters>) -> impl IntoView {
    let loaded = RwSignal::new(None::<Result<ListedRuns, RequestError>>);
    let request = StoredValue::new(0_u32);
    // Responses may arrive out of order, or after the user switched tables; only the last request counts.
    let ask = move |query: ListRuns| {
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let answer = platform::get::<RunList>(&with_query(RUNS, &query)).await;
            if request.try_get_value() != Some(number) {
                return;
            }
            loaded.update(|loaded| match (answer, loaded) {
                (Ok(page), Some(Ok(listed))) if query.cursor.is_some() => {
                    listed.looking = is_looking(&page, query.limit);
                    listed.list.rows.extend(page.rows);
                    listed.list.next = page.next;
                }
                (answer, loaded) => {
                    *loaded =
                        Some(answer.map(|list| ListedRuns { looking: is_looking(&list, query.limit), list, query }));
                }
            });
        });
    };
    let query = Memo::new(move |_| chosen.with(Filters::run_query));
    Effect::new(move |_| ask(ListRuns { limit: Some(ROWS), ..query.get() }));
    let more = move |_| {
        let next = loaded.with_untracked(|loaded| {
            let listed = loaded.as_ref()?.as_ref().ok()?;
            let cursor = Some(listed.list.next.clone()?);
            Some(ListRuns { limit: Some(MORE_ROWS), cursor, ..listed.query.clone() })
        });
        if let Some(query) = next {
            ask(query);
        }
    };
    // The button is outside the table, so that it keeps keyboard focus.
    let has_more = Memo::new(move |_| loaded.with(|loaded| matches!(loaded, Some(Ok(of)) if of.list.next.is_some())));
    let columns = Memo::new(move |_| chosen.with(Filters::columns));
    view! {
        {run_choices(chosen)}
        {one_device(chosen)}
        {column_choice(chosen)}
        {listed(loaded, move |listed| shown_list(listed, columns.get()).into_any())}
        <Show when=move || has_more.get()>
            <div class="row">
                <button class="button quiet" type="button" on:click=more>{t!(common_show_more)}</button>
            </div>
        </Show>
    }
}

fn shown_list(listed: ListedRuns, columns: Vec<RunColumn>) -> impl IntoView {
    let ListedRuns { list, query, looking } = listed;
    let of_network = query.workload.is_some();
    let by_default = if of_network { RunSort::Fastest } else { RunSort::Newest };
    let order = order(query.sort.unwrap_or(by_default));
    let first = match (query.device.is_some(), of_network) {
        (true, _) => &[NETWORK][..],
        (false, true) => &[DEVICE_NAME],
        (false, false) => &[DEVICE_NAME, NETWORK],
    };
    let nothing = if looking { t!(leaderboard_none_looked) } else { t!(leaderboard_none) };
    let counted = if looking && list.more_than_total {
        t!(common_results, number = list.rows.len() as u64)
    } else {
        text::results_listed(list.total, list.more_than_total)
    };
    // Times to accuracy are only comparable within a network: each network has its own target accuracy.
    let scatter = of_network.then(|| scatter(&list.rows));
    view! {
        <p class="note" aria-live="polite">{format!("{counted}. {order}.")}</p>
        {scatter}
        {run_table(list.rows, first, t!(common_leaderboard), nothing, columns)}
    }
}

fn run_choices(chosen: RwSignal<Filters>) -> impl IntoView {
    // Expanded if a link sets filters.
    let open = chosen.with_untracked(Filters::any_of_runs);
    let (first, others) = LISTS_OF_RUNS.split_at(2);
    let lists = |lists: &[List]| lists.iter().map(|list| drop_down(chosen, *list)).collect_view();
    view! {
        <div class="filters">{lists(first)}</div>
        <details class="more-filters" open=open>
            <summary>{t!(filters_more)}</summary>
            <div class="filters">
                {lists(others)}
                {day(t!(filters_from), chosen, SINCE)}
                {day(t!(filters_until), chosen, UNTIL)}
            </div>
        </details>
    }
}

pub(super) fn drop_down(chosen: RwSignal<Filters>, list: List) -> impl IntoView {
    let options = (list.values)().into_iter().map(|(value, title)| (value, title.into_owned())).collect();
    let now = chosen.with_untracked(|chosen| list.chosen(chosen));
    select(list.title.text(), options, now, move |value| chosen.update(|chosen| chosen.set(list.name, value)))
}

fn day(label: &'static str, chosen: RwSignal<Filters>, name: &'static str) -> impl IntoView {
    let now = chosen.with_untracked(|chosen| chosen.get(name).map(str::to_owned));
    let choose = move |event| chosen.update(|chosen| chosen.set(name, &event_target_value(&event)));
    view! {
        <label class="select">
            <span>{label}</span>
            <input type="date" value=now on:change=choose />
        </label>
    }
}

fn one_device(chosen: RwSignal<Filters>) -> impl IntoView {
    let device = Memo::new(move |_| chosen.with(|chosen| chosen.get(DEVICE).map(str::to_owned)));
    let all = move |_| chosen.update(|chosen| chosen.set(DEVICE, ""));
    move || {
        device.get().map(|key| {
            view! {
                <div class="row">
                    <p class="note">
                        {linked(&t!(filters_only_device, device = LINK), &format!("/devices/{key}"), &key)}
                    </p>
                    <button class="button quiet" type="button" on:click=all>{t!(common_all_devices)}</button>
                </div>
            }
        })
    }
}

fn column_choice(chosen: RwSignal<Filters>) -> impl IntoView {
    // Expanded if a link changes the columns.
    let open = chosen.with_untracked(|chosen| chosen.get(COLUMNS).is_some());
    let one = move |column: RunColumn| {
        view! {
            <label class="tick">
                <input
                    type="checkbox"
                    prop:checked=move || chosen.with(|chosen| chosen.columns().contains(&column))
                    on:change=move |_| chosen.update(|chosen| chosen.toggle(column))
                />
                <span>{column.title()}</span>
            </label>
        }
    };
    view! {
        <details class="more-filters" open=open>
            <summary>{t!(columns_title)}</summary>
            <fieldset class="ticks">
                <legend>{t!(columns_title)}</legend>
                {RunColumn::all().map(one).collect_view()}
            </fieldset>
        </details>
    }
}

const DEVICE_NAME: PlainText = messages::leaderboard_device;
pub(super) const NETWORK: PlainText = messages::common_network;

/// Table of runs with the columns `first` before the chosen ones. The first cell of a row links to the run.
pub(super) fn run_table(
    rows: Vec<RunRow>,
    first: &'static [PlainText],
    label: &'static str,
    nothing: &'static str,
    columns: Vec<RunColumn>,
) -> impl IntoView {
    let width = first.len() + columns.len();
    let empty = rows.is_empty();
    let nothing = empty.then_some(nothing);
    let own_runs = platform::own_runs();
    let rows = rows.into_iter().map(|row| {
        let own = own_runs.has_run(&row.run_id);
        run_row(row, first, own, &columns)
    });
    let heads = columns.iter().map(|column| head(*column)).collect_view();
    let firsts = first.iter().map(|title| view! { <th scope="col">{title.text()}</th> }).collect_view();
    let body = view! {
        <tbody>
            {rows.collect_view()}
            {nothing.map(|sentence| view! {
                <tr><td colspan=width.to_string() class="empty"><p>{sentence}</p></td></tr>
            })}
        </tbody>
    };
    table("leaderboard", label, (firsts, heads), body)
}

fn head(column: RunColumn) -> impl IntoView {
    let (title, about) = column.head();
    view! { <th scope="col" class:number=column.is_number() title=about>{title}</th> }
}

fn cell(cell: TableCell) -> impl IntoView {
    let TableCell { class, text, below, tier } = cell;
    view! {
        <td class=class>
            {text}
            {tier.map(|tier| {
                let name = tier.name();
                view! { <span class="tier" data-tier=name title=text::tier_meaning(tier)>{text::tier(tier)}</span> }
            })}
            {explain(below)}
        </td>
    }
}

/// Name of a run's device, and the reported name if its owner claims another.
pub(super) fn device_names(row: &RunRow) -> (String, Option<String>) {
    let device = text::device_name(&row.adapter, row.claimed_name.as_deref());
    let reported = Some(text::device_name(&row.adapter, None)).filter(|name| *name != device);
    (device, reported)
}

/// Link to a run, marked if it is the visitor's own.
pub(super) fn run_link(run_id: &str, name: String, own: bool) -> impl IntoView + use<> {
    view! {
        <a href=format!("/runs/{run_id}")>{name}</a>
        {own.then(|| view! { <span class="tier">{t!(leaderboard_yours)}</span> })}
    }
}

fn run_row(row: RunRow, first: &'static [PlainText], own: bool, columns: &[RunColumn]) -> impl IntoView + use<> {
    let is_network = first[0] == NETWORK;
    let (device, reported) = device_names(&row);
    let reported = reported.filter(|_| !is_network);
    let network = text::workload_title(&row.workload);
    let name = if is_network { network.clone() } else { device };
    let unusual = (!row.standard)
        .then(|| t!(leaderboard_unusual, precision = row.precision.name(), batch = text::count(row.batch_size)));
    let notes = reported.into_iter().chain(unusual).reduce(|all, note| format!("{all}; {note}"));
    view! {
        <tr class:own=own data-run=row.run_id.clone() data-ranked=row.ranked.to_string()>
            <th scope="row">
                {run_link(&row.run_id, name, own)}
                {explain(notes)}
            </th>
            {(first.len() > 1).then(|| view! { <td class="network">{network}</td> })}
            {columns.iter().map(|column| cell(column.cell(&row))).collect_view()}
        </tr>
    }
}
