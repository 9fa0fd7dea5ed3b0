//! Histograms of throughput, and scatter plots whose points link to results.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{Distribution, DistributionQuery, RunRow};

use super::chart::{SERIES, chart_files, grid_rows, measured_width};
use super::parts::listed;
use crate::charts::{ChartAxis, ChartFrame};
use crate::platform::{self, RequestError};
use crate::plots::{self, ScatterPoint, describe_distribution, ends, of_devices, tick};
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
pub(super) fn rates_of_others(title: &str, query: DistributionQuery, own: f64) -> impl IntoView + use<> {
    let loaded = RwSignal::new(None::<Result<Distribution, RequestError>>);
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
            {listed(loaded, move |distribution| histogram(distribution, own).into_any())}
        </details>
    }
}

fn histogram(distribution: Distribution, own: f64) -> impl IntoView {
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

/// Vertical grid lines from `top` to the frame's bottom, with the ticks below it.
fn grid_columns(axis: &ChartAxis, frame: &ChartFrame, top: f64, unit: &'static str) -> impl IntoView + use<> {
    let column = |&value: &f64| {
        let (place, bottom) = (frame.x(axis, value), frame.bottom);
        view! {
            <line class="grid" x1=place x2=place y1=top y2=bottom + 5.0 />
            <text class="mark-text" x=place y=bottom + 20.0 text-anchor="middle">{tick(value) + unit}</text>
        }
    };
    axis.ticks.iter().map(column).collect_view()
}

fn frame(width: f64, top: f64, height: f64) -> ChartFrame {
    ChartFrame { left: LEFT, right: (width - RIGHT).max(LEFT + 80.0), top, bottom: height - BOTTOM }
}

fn draw(distribution: &Distribution, own: f64, width: f64) -> Option<impl IntoView + use<>> {
    let bins = &distribution.bins;
    let (low, high) = ends(bins, own)?;
    let frame = frame(width, HISTOGRAM_TOP, HISTOGRAM_HEIGHT);
    let axis = ChartAxis::logarithmic(low, high, if width < NARROW { 4 } else { 7 });
    let most = bins.iter().map(|bin| bin.runs).max().unwrap_or(0) as f64;
    // The highest bar fills the plot. The vertical axis counts runs, so its ticks are whole numbers.
    let mut counts = ChartAxis::spanning(0.0, most, 3);
    counts.ticks.retain(|tick| tick.fract() == 0.0);
    let columns = bins.iter().map(|bin| {
        let (left, top) = (frame.x(&axis, bin.from), frame.y(&counts, bin.runs as f64));
        let (width, height) = ((frame.x(&axis, bin.to) - left - 1.0).max(MIN_BAR_WIDTH), frame.bottom - top);
        let is_own = (bin.from..bin.to).contains(&own);
        view! { <rect class="column" class:own=is_own x=left y=top width=width height=height rx="1.5" /> }
    });
    let at = frame.x(&axis, own);
    let word = at.clamp(LEFT + WORD, frame.right - WORD);
    let said = describe_distribution(distribution, own);
    Some(view! {
        <svg role="img" aria-label=said width=width height=HISTOGRAM_HEIGHT viewBox=format!("0 0 {width} {HISTOGRAM_HEIGHT}")>
            {grid_rows(&counts, &frame, &tick)}
            {grid_columns(&axis, &frame, frame.bottom, "")}
            {columns.collect_view()}
            <line class="own-mark" x1=at x2=at y1=HISTOGRAM_TOP - 6.0 y2=frame.bottom />
            <text class="label own-word" x=word y=HISTOGRAM_TOP - 12.0 text-anchor="middle">
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
pub(super) fn scatter(rows: &[RunRow]) -> Option<impl IntoView + use<>> {
    let (points, without) = plots::points(rows);
    plots::axes(&points, false)?;
    let left_out = (without > 0).then(|| t!(scatter_left_out, number = without as u64));
    Some(view! {
        <details class="rates" data-part="scatter">
            <summary>{t!(scatter_title)}</summary>
            {left_out.map(|sentence| view! { <p class="note">{sentence}</p> })}
            {scatter_figure(points)}
        </details>
    })
}

fn scatter_figure(points: Vec<ScatterPoint>) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let width = measured_width(place);
    let pointed = RwSignal::new(None::<usize>);
    let points = Arc::new(points);
    let said = points.clone();
    let said = move || {
        let hint = t!(scatter_hint);
        pointed.get().and_then(|place| said.get(place)).map_or_else(|| hint.to_owned(), ScatterPoint::said)
    };
    let legend: Vec<_> = plots::backends(&points)
        .into_iter()
        .zip(SERIES.iter().cycle())
        .map(|(name, class)| view! { <li class=*class>{name.to_owned()}</li> })
        .collect();
    let (lines, csv) = (points.clone(), points.clone());
    let lines = Arc::new(move || lines.iter().map(ScatterPoint::cells).collect());
    let csv = Arc::new(move || plots::points_csv(&csv));
    let head = vec![t!(leaderboard_device), t!(common_backend), t!(metric_seconds_to_target), t!(common_rate)];
    view! {
        <figure class="chart">
            <figcaption>{t!(common_rate)}" "<small>{t!(scatter_over)}</small></figcaption>
            <div node_ref=place>{move || draw_points(&points, pointed, width.get())}</div>
            <ul class="legend">{legend}</ul>
            <p class="note pointed">{said}</p>
            {chart_files(messages::scatter_title, place, head, lines, csv)}
        </figure>
    }
}

fn draw_points(points: &[ScatterPoint], pointed: RwSignal<Option<usize>>, width: f64) -> Option<impl IntoView + use<>> {
    let (times, rates) = plots::axes(points, width < NARROW)?;
    let frame = frame(width, SCATTER_TOP, SCATTER_HEIGHT);
    let backends = plots::backends(points);
    let dots = points.iter().enumerate().map(|(number, point)| {
        let class = backends.iter().position(|name| *name == point.backend).map_or("", |at| SERIES[at % SERIES.len()]);
        let (cx, cy) = (frame.x(&times, point.seconds_to_target), frame.y(&rates, point.samples_per_second));
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
            {grid_rows(&rates, &frame, &tick)}
            {grid_columns(&times, &frame, frame.top, " s")}
            {dots.collect_view()}
        </svg>
    })
}
