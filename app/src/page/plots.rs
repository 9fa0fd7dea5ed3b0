//! Histograms of throughput, and scatter plots whose points link to results.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{Distribution, DistributionQuery, RunRow};

use super::chart::{ChartFiles, SERIES, measured_width};
use super::parts::{answered, refusal};
use crate::charts::Axis;
use crate::platform::{self, Refusal};
use crate::plots::{self, LogarithmicAxis, Point, bars, describe_distribution, ends, of_devices, tick};
use crate::route::with_query;
use crate::t;
use crate::words::messages;

/// Margins of both plots, pixels.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 34.0;
/// Width below which a plot has fewer ticks, pixels.
const NARROW: f64 = 420.0;
const HISTOGRAM_HEIGHT: f64 = 190.0;
/// Space for the label of the run's mark, pixels.
const HISTOGRAM_TOP: f64 = 26.0;
const MIN_BAR_WIDTH: f64 = 2.0;
/// Half the width of the label of the run's mark, pixels.
const WORD: f64 = 28.0;

/// Histogram of the throughput of proven runs, with a run's own marked; loaded when opened.
#[component]
pub(super) fn RatesOfOthers(title: String, query: DistributionQuery, own: f64) -> impl IntoView {
    let loaded = RwSignal::new(None::<Result<Distribution, Refusal>>);
    let asked = StoredValue::new(false);
    let open = move |_| {
        if asked.get_value() {
            return;
        }
        asked.set_value(true);
        let address = with_query("/api/v1/distribution", &query);
        spawn_local(async move {
            let answer = platform::get(&address).await;
            // If the request failed, opening the histogram again retries it.
            asked.try_update_value(|asked| *asked = answer.is_ok());
            drop(loaded.try_set(Some(answer)));
        });
    };
    view! {
        <details class="rates" on:toggle=open>
            <summary aria-label=format!("{}: {title}", t!(standing_rates))>{t!(standing_rates)}</summary>
            {answered(
                loaded,
                |why| refusal(t!(leaderboard_not_shown, reason = why.to_string())),
                move |distribution| view! { <Bars distribution own /> }.into_any(),
            )}
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
    let axis = LogarithmicAxis::covering(low, high, if width < NARROW { 4 } else { 7 });
    let (right, bottom) = ((width - RIGHT).max(LEFT + 80.0), HISTOGRAM_HEIGHT - BOTTOM);
    let x = |share: f64| LEFT + share * (right - LEFT);
    let most = bins.iter().map(|bin| bin.runs).max().unwrap_or(0) as f64;
    // The vertical axis counts runs, so its ticks are whole numbers.
    let counts = Axis::covering(0.0, most, 3).ticks.into_iter().filter(|tick| tick.fract() == 0.0 && *tick <= most);
    let height = |count: f64| bottom - count / most * (bottom - HISTOGRAM_TOP);
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
        let width = (x(bar.right) - left - 1.0).max(MIN_BAR_WIDTH);
        view! { <rect class="column" class:own=bar.own x=left y=top width=width height=bottom - top rx="1.5" /> }
    });
    let at = x(axis.share(own));
    let said = describe_distribution(distribution, own);
    Some(view! {
        <svg role="img" aria-label=said width=width height=HISTOGRAM_HEIGHT viewBox=format!("0 0 {width} {HISTOGRAM_HEIGHT}")>
            {marks.collect_view()}
            {rates.collect_view()}
            {columns.collect_view()}
            <line class="own-mark" x1=at x2=at y1=HISTOGRAM_TOP - 6.0 y2=bottom />
            <text class="label own-word" x=at.clamp(LEFT + WORD, right - WORD) y=HISTOGRAM_TOP - 12.0 text-anchor="middle">
                {t!(standing_this_run)}
            </text>
        </svg>
    })
}

const SCATTER_HEIGHT: f64 = 300.0;
const SCATTER_TOP: f64 = 14.0;
/// Radius of a point and of its pointer target, pixels.
const RADIUS: f64 = 5.0;
const REACH: f64 = 12.0;

/// Scatter plot of the listed results, if enough of them have both metrics.
#[component]
pub(super) fn Scatter(rows: Vec<RunRow>) -> impl IntoView {
    let (points, without) = plots::points(&rows);
    plots::axes(&points, false)?;
    let left_out = (without > 0).then(|| t!(scatter_left_out, number = without as u64));
    let left_out = left_out.map(|sentence| view! { <p class="note">{sentence}</p> });
    Some(view! {
        <details class="rates" data-part="scatter">
            <summary>{t!(scatter_title)}</summary>
            {left_out}
            <Picture points />
        </details>
    })
}

#[component]
fn Picture(points: Vec<Point>) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let width = measured_width(place);
    let pointed = RwSignal::new(None::<usize>);
    let points = Arc::new(points);
    let said = points.clone();
    let said = move || {
        let hint = t!(scatter_hint);
        pointed.get().and_then(|place| said.get(place)).map_or_else(|| hint.to_owned(), Point::said)
    };
    let legend: Vec<_> = plots::backends(&points)
        .into_iter()
        .zip(SERIES.iter().cycle())
        .map(|(name, class)| view! { <li class=*class>{name.to_owned()}</li> })
        .collect();
    let (lines, csv) = (points.clone(), points.clone());
    let lines = Arc::new(move || lines.iter().map(|point| point.cells().to_vec()).collect());
    let csv = Arc::new(move || plots::points_csv(&csv));
    view! {
        <figure class="chart">
            <figcaption>
                {t!(common_rate)}" "<small>{t!(scatter_over)}</small>
            </figcaption>
            <div node_ref=place>{move || draw_points(&points, pointed, width.get())}</div>
            <ul class="legend">{legend}</ul>
            <p class="note pointed">{said}</p>
            <ChartFiles
                title=messages::scatter_title
                place
                head=vec![t!(leaderboard_device), t!(common_backend), t!(metric_seconds_to_target), t!(common_rate)]
                lines
                csv
            />
        </figure>
    }
}

fn draw_points(points: &[Point], pointed: RwSignal<Option<usize>>, width: f64) -> Option<impl IntoView + use<>> {
    let (times, rates) = plots::axes(points, width < NARROW)?;
    let (right, bottom) = ((width - RIGHT).max(LEFT + 80.0), SCATTER_HEIGHT - BOTTOM);
    let x = move |axis: &LogarithmicAxis, seconds: f64| LEFT + axis.share(seconds) * (right - LEFT);
    let y = move |axis: &LogarithmicAxis, rate: f64| bottom - axis.share(rate) * (bottom - SCATTER_TOP);
    let marks = rates.ticks.iter().map(|&rate| {
        let place = y(&rates, rate);
        view! {
            <line class="grid" x1=LEFT x2=right y1=place y2=place />
            <text class="mark-text" x=LEFT - 8.0 y=place + 4.0 text-anchor="end">{tick(rate)}</text>
        }
    });
    let seconds = times.ticks.iter().map(|&seconds| {
        let place = x(&times, seconds);
        view! {
            <line class="grid" x1=place x2=place y1=SCATTER_TOP y2=bottom + 5.0 />
            <text class="mark-text" x=place y=bottom + 20.0 text-anchor="middle">{format!("{} s", tick(seconds))}</text>
        }
    });
    let backends = plots::backends(points);
    let dots = points.iter().enumerate().map(|(number, point)| {
        let class = backends.iter().position(|name| *name == point.backend).map_or("", |at| SERIES[at % SERIES.len()]);
        let (cx, cy) = (x(&times, point.seconds_to_target), y(&rates, point.samples_per_second));
        let point_at = move || pointed.set(Some(number));
        view! {
            <g class=class>
                <a
                    class="point"
                    href=format!("/runs/{}", point.run_id)
                    aria-label=point.said()
                    on:mouseenter=move |_| point_at()
                    on:focus=move |_| point_at()
                >
                    <circle class="reach" cx=cx cy=cy r=REACH />
                    <circle cx=cx cy=cy r=RADIUS />
                </a>
            </g>
        }
    });
    Some(view! {
        <svg
            role="group"
            aria-label=format!("{}. {}", t!(scatter_title), plots::describe_points(points))
            width=width
            height=SCATTER_HEIGHT
            viewBox=format!("0 0 {width} {SCATTER_HEIGHT}")
        >
            {marks.collect_view()}
            {seconds.collect_view()}
            {dots.collect_view()}
        </svg>
    })
}
