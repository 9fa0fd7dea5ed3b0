//! How the rates of proven runs lie around a run's own: bars, loaded when somebody wants to see them.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{Distribution, DistributionQuery};

use super::chart::measured_width;
use crate::geometry::Axis;
use crate::histogram::{LogarithmicAxis, bars, description, ends, of_devices, tick};
use crate::platform::{self, Refusal};
use crate::t;

const HEIGHT: f64 = 190.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 10.0;
/// Room for the word at the run's mark.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 30.0;
/// No bar is thinner, pixels.
const THINNEST: f64 = 2.0;
/// Half of the word at the run's mark, pixels.
const WORD: f64 = 28.0;

#[component]
pub(super) fn RatesOfOthers(title: String, query: DistributionQuery, own: f64) -> impl IntoView {
    let loaded = RwSignal::new(None::<Result<Distribution, Refusal>>);
    let asked = StoredValue::new(false);
    let open = move |_| {
        if asked.get_value() {
            return;
        }
        asked.set_value(true);
        let query = query.clone();
        spawn_local(async move {
            let answer = platform::distribution(&query).await;
            // What could not be had is asked for again when it is opened again.
            asked.try_update_value(|asked| *asked = answer.is_ok());
            drop(loaded.try_set(Some(answer)));
        });
    };
    view! {
        <details class="rates" on:toggle=open>
            <summary aria-label=t!(standing_rates_of, workload = title)>{t!(standing_rates)}</summary>
            {move || match loaded.get() {
                None => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
                Some(Err(refusal)) => {
                    view! { <p class="refusal">{t!(standing_rates_not_shown, reason = refusal.to_string())}</p> }.into_any()
                }
                Some(Ok(distribution)) => view! { <Bars distribution own /> }.into_any(),
            }}
        </details>
    }
}

#[component]
fn Bars(distribution: Distribution, own: f64) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let width = measured_width(place);
    let caption = of_devices(&distribution);
    view! {
        <figure class="chart">
            <figcaption>{caption}" "<small>{t!(standing_bins)}</small></figcaption>
            <div node_ref=place>{move || draw(&distribution, own, width.get())}</div>
        </figure>
    }
}

fn draw(distribution: &Distribution, own: f64, width: f64) -> Option<impl IntoView + use<>> {
    let bins = &distribution.bins;
    let (low, high) = ends(bins, own)?;
    let axis = LogarithmicAxis::covering(low, high, if width < 420.0 { 4 } else { 7 });
    let (right, bottom) = ((width - RIGHT).max(LEFT + 80.0), HEIGHT - BOTTOM);
    let x = |share: f64| LEFT + share * (right - LEFT);
    let most = bins.iter().map(|bin| bin.runs).max().unwrap_or(0) as f64;
    // Runs are whole, and so are the marks.
    let counts = Axis::covering(0.0, most, 3).ticks.into_iter().filter(|tick| tick.fract() == 0.0 && *tick <= most);
    let height = |count: f64| bottom - count / most * (bottom - TOP);
    let marks = counts.map(|count| {
        let place = height(count);
        view! {
            <line class="grid" x1=LEFT x2=right y1=place y2=place />
            <text class="mark-text" x=LEFT - 8.0 y=place + 4.0 text-anchor="end">{tick(count)}</text>
        }
    });
    let rates = axis.ticks.iter().map(|&rate| {
        let place = x(axis.share(rate));
        view! {
            <line class="grid" x1=place x2=place y1=bottom y2=bottom + 5.0 />
            <text class="mark-text" x=place y=bottom + 20.0 text-anchor="middle">{tick(rate)}</text>
        }
    });
    let columns = bars(bins, &axis, own).into_iter().map(|bar| {
        let (left, top) = (x(bar.left), height(bar.height * most));
        let width = (x(bar.right) - left - 1.0).max(THINNEST);
        view! { <rect class="column" class:own=bar.own x=left y=top width=width height=bottom - top rx="1.5" /> }
    });
    let at = x(axis.share(own));
    let said = description(distribution, own);
    Some(view! {
        <svg role="img" aria-label=said width=width height=HEIGHT viewBox=format!("0 0 {width} {HEIGHT}")>
            {marks.collect_view()}
            {rates.collect_view()}
            {columns.collect_view()}
            <line class="own-mark" x1=at x2=at y1=TOP - 6.0 y2=bottom />
            <text class="label own-word" x=at.clamp(LEFT + WORD, right - WORD) y=TOP - 12.0 text-anchor="middle">
                {t!(standing_this_run)}
            </text>
        </svg>
    })
}
