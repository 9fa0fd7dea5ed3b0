//! Two to four stored results, or devices, beside each other.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ComparedFigure, ComparedWorkload, Comparing, ComparingQuery, SideVerdict};

use super::language::kept;
use crate::platform::{self, Refusal};
use crate::t;
use crate::text;
use crate::words::fact::{fact, value};
use crate::words::network;

/// A figure, and what is to be known about it.
type Cell = (String, Option<String>);

/// What is beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Runs,
    Devices,
}

impl Compared {
    /// As the parameter of the address is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Devices => "devices",
        }
    }

    /// What is said of results, or of devices.
    pub(super) const fn say(self, of_runs: &'static str, of_devices: &'static str) -> &'static str {
        match self {
            Self::Runs => of_runs,
            Self::Devices => of_devices,
        }
    }

    fn page_of(self, id: &str) -> String {
        format!("/{}/{id}", self.name())
    }
}

#[component]
pub(super) fn SideBySidePage() -> impl IntoView {
    platform::set_title(t!(beside_title));
    let query = ComparingQuery { runs: platform::parameter("runs"), devices: platform::parameter("devices") };
    if query.runs.is_none() && query.devices.is_none() {
        return view! { <NothingChosen /> }.into_any();
    }
    let kind = if query.devices.is_some() { Compared::Devices } else { Compared::Runs };
    let loaded = kept("side by side", || {
        let loaded = RwSignal::new(None::<Result<Comparing, Refusal>>);
        spawn_local(async move { loaded.set(Some(platform::comparing(&query).await)) });
        loaded
    });
    let shown = move || match loaded.get() {
        None => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
        Some(Err(refusal)) => view! {
            <section class="sheet narrow">
                <h1>{t!(beside_not_shown)}</h1>
                <p>{format!("{refusal}")}</p>
                <p><a class="button quiet" href="/#leaderboard">{t!(common_all_results)}</a></p>
            </section>
        }
        .into_any(),
        Some(Ok(found)) => view! { <Beside found kind /> }.into_any(),
    };
    shown.into_any()
}

#[component]
fn NothingChosen() -> impl IntoView {
    view! {
        <section class="sheet narrow">
            <h1>{t!(beside_title)}</h1>
            <p>{t!(beside_choose)}</p>
            <p><a class="button quiet" href="/#leaderboard">{t!(common_all_results)}</a></p>
        </section>
    }
}

#[component]
fn Beside(found: Comparing, kind: Compared) -> impl IntoView {
    let Comparing { sides, differences, workloads } = found;
    let columns = sides.len();
    let heads = sides.into_iter().map(|side| {
        view! { <th scope="col"><a href=kind.page_of(&side.id)>{text::named_device(&side.name)}</a></th> }
    });
    let nothing = workloads.is_empty().then_some(t!(beside_nothing));
    let differing = differences.into_iter().map(|difference| {
        let values = difference.values.into_iter().map(|of| {
            let said = of.map(|of| value(&difference.what, of));
            view! { <td>{said.unwrap_or_else(|| t!(beside_not_said).to_owned())}</td> }
        });
        view! { <tr><th scope="row">{fact(&difference.what)}</th>{values.collect_view()}</tr> }
    });
    view! {
        <section class="sheet" aria-labelledby="beside-title">
            <h1 id="beside-title">{t!(beside_title)}</h1>
            <p class="lead small">
                {t!(beside_explanation)}
            </p>
            {nothing.map(|sentence| view! { <p class="callout">{sentence}</p> })}
            <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(beside_title)) tabindex="0">
                <table class="results" aria-label=t!(beside_title)>
                    <thead><tr><th scope="col">{t!(beside_figure)}</th>{heads.collect_view()}</tr></thead>
                    {workloads.into_iter().map(|of| view! { <OfWorkload of columns=columns /> }).collect_view()}
                    <tbody>
                        <tr class="group">
                            <th scope="rowgroup" colspan=(columns + 1).to_string()>{t!(beside_differs)}</th>
                        </tr>
                        {differing.collect_view()}
                    </tbody>
                </table>
            </div>
        </section>
    }
}

#[component]
fn OfWorkload(of: ComparedWorkload, columns: usize) -> impl IntoView {
    let context: Vec<String> = [
        of.suite.as_ref().map(|suite| {
            t!(network_suite_version, suite = network::suite_inside(&suite.name), version = suite.version)
        }),
        of.backend.clone(),
        of.client_kind.map(|kind| text::client(kind).to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let row = |title: &'static str, cell: fn(&ComparedFigure) -> Option<Cell>| {
        let cells: Vec<_> = of.figures.iter().map(|figure| figure.as_ref().and_then(cell)).collect();
        cells.iter().any(Option::is_some).then(|| {
            let cells = cells.into_iter().map(|cell| match cell {
                Some((text, remark)) => {
                    view! { <td>{text}{remark.map(|remark| view! { <span class="explain">{remark}</span> })}</td> }
                        .into_any()
                }
                None => view! { <td>"–"</td> }.into_any(),
            });
            view! { <tr><th scope="row">{title}</th>{cells.collect_view()}</tr> }
        })
    };
    view! {
        <tbody data-workload=of.workload.clone()>
            <tr class="group">
                <th scope="rowgroup" colspan=(columns + 1).to_string()>
                    {text::workload_title(&of.workload)}
                    {(!context.is_empty()).then(|| view! { <span class="explain">{context.join("; ")}</span> })}
                </th>
            </tr>
            {row(t!(beside_rate), rate)}
            {row(t!(beside_accuracy), |figure| Some((text::percent(figure.accuracy?), None)))}
            {row(t!(beside_time), |figure| Some((text::seconds(figure.seconds_to_target?), None)))}
            {row(t!(beside_batch), |figure| {
                Some((figure.batch_size?.to_string(), Some(figure.precision.name().to_owned())))
            })}
        </tbody>
    }
}

/// A rate with its interval, its ratio to the first one's, and whether the two can be told apart.
fn rate(figure: &ComparedFigure) -> Option<Cell> {
    let rate = text::rate(figure.samples_per_second?);
    let interval = figure.samples_per_second_low.zip(figure.samples_per_second_high);
    let interval = interval.map(|(low, high)| format!("{} – {}", text::rate(low), text::rate(high)));
    let verdict = figure.verdict.map(|verdict| match verdict {
        SideVerdict::Faster => t!(beside_faster).to_owned(),
        SideVerdict::Slower => t!(beside_slower).to_owned(),
        SideVerdict::Tied => t!(beside_tied).to_owned(),
        SideVerdict::Undecided => t!(beside_undecided).to_owned(),
    });
    let remarks: Vec<String> = [interval, figure.to_first.map(text::ratio), verdict].into_iter().flatten().collect();
    Some((rate, (!remarks.is_empty()).then(|| remarks.join("; "))))
}
