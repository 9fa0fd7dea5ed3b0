//! Results of one network as points that are links: how fast each trains, and how soon it was accurate.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use results::api::RunRow;

use super::chart::{SERIES, measured_width};
use super::chart_files::ChartFiles;
use crate::histogram::{LogarithmicAxis, tick};
use crate::scatter::{self, Point};
use crate::t;
use crate::words::messages;

const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 34.0;
/// What is drawn of a point, and what can be pointed at, pixels.
const RADIUS: f64 = 5.0;
const REACH: f64 = 12.0;
/// A drawing that is narrower has fewer marks, pixels.
const NARROW: f64 = 420.0;

/// Of the results that are listed; nothing where too few of them have both figures.
#[component]
pub(super) fn Scatter(rows: Vec<RunRow>) -> impl IntoView {
    let (points, without) = scatter::points(&rows);
    scatter::axes(&points, false)?;
    let left_out = (without > 0).then(|| t!(scatter_left_out, number = without as u64));
    Some(view! {
        <details class="rates" data-part="scatter">
            <summary>{t!(scatter_open)}</summary>
            <p class="note">{t!(scatter_listed)}" "{left_out}</p>
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
    let legend: Vec<_> = scatter::backends(&points)
        .into_iter()
        .zip(SERIES.iter().cycle())
        .map(|(name, class)| view! { <li class=*class>{name.to_owned()}</li> })
        .collect();
    let (lines, csv) = (points.clone(), points.clone());
    let lines = Arc::new(move || lines.iter().map(|point| point.cells().to_vec()).collect());
    let csv = Arc::new(move || scatter::table(&csv));
    view! {
        <figure class="chart">
            <figcaption>
                {t!(beside_rate)}" "<small>{t!(scatter_over)}</small>
            </figcaption>
            <div node_ref=place>{move || draw(&points, pointed, width.get())}</div>
            <ul class="legend">{legend}</ul>
            <p class="note pointed">{said}</p>
            <ChartFiles
                title=messages::scatter_title
                place
                head=vec![t!(leaderboard_device), t!(leaderboard_backend), t!(beside_time), t!(beside_rate)]
                lines
                csv
            />
        </figure>
    }
}

fn draw(points: &[Point], pointed: RwSignal<Option<usize>>, width: f64) -> Option<impl IntoView + use<>> {
    let (times, rates) = scatter::axes(points, width < NARROW)?;
    let (right, bottom) = ((width - RIGHT).max(LEFT + 80.0), HEIGHT - BOTTOM);
    let x = move |axis: &LogarithmicAxis, seconds: f64| LEFT + axis.share(seconds) * (right - LEFT);
    let y = move |axis: &LogarithmicAxis, rate: f64| bottom - axis.share(rate) * (bottom - TOP);
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
            <line class="grid" x1=place x2=place y1=TOP y2=bottom + 5.0 />
            <text class="mark-text" x=place y=bottom + 20.0 text-anchor="middle">{format!("{} s", tick(seconds))}</text>
        }
    });
    let backends = scatter::backends(points);
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
            aria-label=format!("{}. {}", t!(scatter_title), scatter::description(points))
            width=width
            height=HEIGHT
            viewBox=format!("0 0 {width} {HEIGHT}")
        >
            {marks.collect_view()}
            {seconds.collect_view()}
            {dots.collect_view()}
        </svg>
    })
}
