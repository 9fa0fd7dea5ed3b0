//! Curves as SVG, drawn to the size that they have on the screen so that their words stay legible.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use results::{CurvePoint, Evaluation};
use wasm_bindgen::prelude::*;
use web_sys::{ResizeObserver, ResizeObserverEntry};

use super::chart_files::ChartFiles;
use crate::geometry::{Axis, Frame, NamedCurve, curve, spread};
use crate::live::Beside;
use crate::words::{self, Plain, messages};
use crate::{chart_data, t, text};

const HEIGHT: f64 = 220.0;
/// Between the end of a curve and its label, pixels.
const LABEL_GAP: f64 = 10.0;
/// Room for one letter of a label, pixels; digits are wider than the average letter, hence the margin.
const LABEL_LETTER: f64 = 7.8;
const LABEL_MARGIN: f64 = 8.0;
/// Width before the first measurement.
const FIRST_WIDTH: f64 = 480.0;

/// What curves are called where machines read it.
const TRAINING: &str = "training";
const TEST: &str = "test";
const PUBLISHED: &str = "published";

/// A curve with its label beside its end.
struct Curve {
    /// `training` or `test`; the style sheet colours by it.
    class: &'static str,
    /// Where machines read it.
    name: String,
    /// The same for people.
    title: String,
    label: String,
    points: Vec<(f64, f64)>,
    /// Single sightings are drawn as dots on their line.
    dots: bool,
}

/// A chart's content at one moment.
struct Drawing {
    y: Axis,
    /// Text of a mark on the vertical axis.
    mark: fn(&Axis, f64) -> String,
    curves: Vec<Curve>,
    /// A value to be reached.
    target: Option<f64>,
    /// What others reached.
    published: Option<f64>,
    /// The description for people who cannot see the drawing.
    description: String,
}

#[component]
pub(super) fn LossChart(#[prop(into)] training: Signal<Vec<CurvePoint>>) -> impl IntoView {
    let drawing = move || {
        let points = training.with(|training| curve(training, |point| point.loss));
        let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
        let label = points.last().map(|p| text::number(p.1, 3)).unwrap_or_default();
        let description = match (points.first(), points.last()) {
            (Some(first), Some(last)) => {
                t!(
                    chart_loss_described,
                    first = text::number(first.1, 3),
                    last = text::number(last.1, 3),
                    seconds = text::number(last.0, 1)
                )
            }
            _ => t!(chart_no_training).to_owned(),
        };
        Drawing {
            y: Axis::covering(0.0, highest, 4),
            mark: plain_mark,
            curves: vec![Curve { label, ..training_curve(points) }],
            target: None,
            published: None,
            description,
        }
    };
    view! { <Chart title=messages::chart_loss drawing /> }
}

#[component]
pub(super) fn AccuracyChart(
    #[prop(into)] training: Signal<Vec<CurvePoint>>,
    #[prop(into)] tests: Signal<Vec<Evaluation>>,
    #[prop(into)] target: Signal<Option<f64>>,
    #[prop(optional, into)] published: Option<Signal<Option<Beside>>>,
) -> impl IntoView {
    let drawing = move || {
        let points = training.with(|training| curve(training, |point| point.accuracy));
        let seen: Vec<_> = tests.with(|t| t.iter().map(|e| (e.training_seconds, e.accuracy)).collect());
        let last = |points: &[(f64, f64)]| points.last().map(|p| tenths(p.1));
        let (training_text, test_text) = (last(&points), last(&seen));
        let description = match (&training_text, &test_text) {
            (Some(training), Some(test)) => t!(chart_both_described, training = training, test = test),
            (Some(training), None) => t!(chart_training_described, training = training),
            _ => t!(chart_no_training).to_owned(),
        };
        let training_label = training_text.map(|value| t!(chart_training_label, value = value));
        let test_label = test_text.map(|value| t!(chart_test_label, value = value));
        let beside = published.and_then(|published| published.get());
        let ends_at = beside.as_ref().filter(|beside| beside.learning.curve.is_none());
        let ends_at = ends_at.and_then(|beside| beside.learning.accuracy);
        let curve = beside.map(|beside| beside.curve).filter(|curve| !curve.is_empty());
        Drawing {
            y: Axis::covering(0.0, 1.0, 5),
            mark: percent_mark,
            published: ends_at,
            curves: curve
                .map(published_curve)
                .into_iter()
                .chain([
                    Curve { label: training_label.unwrap_or_default(), ..training_curve(points) },
                    Curve {
                        class: "test",
                        name: TEST.to_owned(),
                        title: t!(chart_test).to_owned(),
                        label: test_label.unwrap_or_default(),
                        points: seen,
                        dots: true,
                    },
                ])
                .collect(),
            target: target.get(),
            description,
        }
    };
    view! { <Chart title=messages::chart_accuracy drawing /> }
}

/// How fast it trains, window by window; what heats up shows here.
#[component]
pub(super) fn RateChart(#[prop(into)] rates: Signal<Vec<(f64, f64)>>) -> impl IntoView {
    let drawing = move || {
        let points = rates.get();
        let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let latest = points.last().map(|point| text::rate(point.1));
        Drawing {
            y: Axis::covering(0.0, highest, 4),
            mark: plain_mark,
            description: latest
                .as_ref()
                .map_or_else(|| t!(chart_no_training).to_owned(), |rate| t!(chart_now, rate = rate)),
            curves: vec![Curve { label: latest.unwrap_or_default(), ..training_curve(points) }],
            target: None,
            published: None,
        }
    };
    view! { <Chart title=messages::chart_rate drawing /> }
}

/// Told apart by colour, by dashes, and by the name at their end.
pub(super) const SERIES: [&str; 8] =
    ["series s0", "series s1", "series s2", "series s3", "series s4", "series s5", "series s6", "series s7"];

/// Test accuracies of several back ends in one picture.
#[component]
pub(super) fn AccuracyCurves(curves: Vec<NamedCurve>) -> impl IntoView {
    let drawing = move || Drawing {
        y: Axis::covering(0.0, 1.0, 5),
        mark: percent_mark,
        curves: series(&curves, true),
        target: None,
        published: None,
        description: ends_of(&curves, tenths),
    };
    view! { <Chart title=messages::chart_test_accuracy drawing /> }
}

/// Training losses of several back ends in one picture.
#[component]
pub(super) fn LossCurves(curves: Vec<NamedCurve>) -> impl IntoView {
    let drawing = move || {
        let highest = curves.iter().flat_map(|(_, points)| points).map(|point| point.1).fold(0.0, f64::max);
        Drawing {
            y: Axis::covering(0.0, highest, 4),
            mark: plain_mark,
            curves: series(&curves, false),
            target: None,
            published: None,
            description: ends_of(&curves, |value| text::number(value, 3)),
        }
    };
    view! { <Chart title=messages::chart_loss drawing /> }
}

/// What others published, thin and dashed.
fn published_curve(points: Vec<(f64, f64)>) -> Curve {
    let title = t!(chart_published).to_owned();
    Curve { class: "published", name: PUBLISHED.to_owned(), label: title.clone(), title, points, dots: false }
}

/// A curve of training, still without its label.
fn training_curve(points: Vec<(f64, f64)>) -> Curve {
    let title = t!(chart_training).to_owned();
    Curve { class: "training", name: TRAINING.to_owned(), title, label: String::new(), points, dots: false }
}

fn plain_mark(axis: &Axis, value: f64) -> String {
    text::number(value, axis.decimals)
}

fn percent_mark(axis: &Axis, share: f64) -> String {
    text::number(share * 100.0, axis.decimals.saturating_sub(2)) + " %"
}

fn tenths(share: f64) -> String {
    text::number(share * 100.0, 1) + " %"
}

fn series(curves: &[NamedCurve], dots: bool) -> Vec<Curve> {
    let curve = |((name, points), class): (&NamedCurve, &&'static str)| Curve {
        class,
        name: name.clone(),
        title: name.clone(),
        label: name.clone(),
        points: points.clone(),
        dots,
    };
    curves.iter().zip(SERIES.iter().cycle()).map(curve).collect()
}

/// Where each curve ends, for people who cannot see them.
fn ends_of(curves: &[NamedCurve], value: impl Fn(f64) -> String) -> String {
    let end = |(name, points): &NamedCurve| {
        points.last().map(|last| t!(chart_end, curve = name, value = value(last.1), seconds = text::number(last.0, 1)))
    };
    format!("{}.", curves.iter().filter_map(end).collect::<Vec<_>>().join("; "))
}

#[component]
fn Chart(title: Plain, drawing: impl Fn() -> Drawing + Send + Sync + 'static) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let width = measured_width(place);
    let drawing = Arc::new(drawing);
    let (of_table, of_file) = (drawing.clone(), drawing.clone());
    let lines = Arc::new(move || lines(of_table()));
    let csv = Arc::new(move || csv(title, &of_file()));
    view! {
        <figure class="chart">
            <figcaption>{title.text()}" "<small>{t!(chart_over_seconds)}</small></figcaption>
            <div node_ref=place>{move || draw(title.text(), &drawing(), width.get())}</div>
            <ChartFiles title place head=vec![t!(chart_curve), t!(chart_seconds), title.text()] lines csv />
        </figure>
    }
}

/// What the chart's table has.
fn lines(drawing: Drawing) -> Vec<Vec<String>> {
    let Drawing { curves, mark, y, .. } = drawing;
    let fine = Axis { decimals: y.decimals + 3, ..y };
    let of_curve = |curve: Curve| {
        let line =
            |(seconds, value): &(f64, f64)| vec![curve.title.clone(), text::number(*seconds, 2), mark(&fine, *value)];
        curve.points.iter().map(line).collect::<Vec<_>>()
    };
    curves.into_iter().flat_map(of_curve).collect()
}

/// Its file, which is in English whatever the page is.
fn csv(title: Plain, drawing: &Drawing) -> String {
    let curves = drawing.curves.iter().map(|curve| (curve.name.as_str(), curve.points.as_slice()));
    chart_data::table(words::in_english(|| title.text()), curves)
}

fn draw(title: &'static str, drawing: &Drawing, width: f64) -> impl IntoView + use<> {
    let labels = labels(drawing);
    let longest = labels.iter().map(|label| label.text.chars().count()).max().unwrap_or(0);
    let right = width - LABEL_GAP - longest as f64 * LABEL_LETTER - LABEL_MARGIN;
    let frame = Frame { left: 52.0, right: right.max(80.0), top: 14.0, bottom: HEIGHT - 34.0 };
    let seconds = drawing.curves.iter().flat_map(|c| c.points.iter().map(|p| p.0)).fold(0.0, f64::max);
    let x = Axis::spanning(0.0, seconds, if width < 420.0 { 3 } else { 5 });
    let y = &drawing.y;
    let marks = y.ticks.iter().map(|&value| {
        let place = frame.y(y, value);
        view! {
            <line class="grid" x1=frame.left x2=frame.right y1=place y2=place />
            <text class="mark-text" x=frame.left - 8.0 y=place + 4.0 text-anchor="end">{(drawing.mark)(y, value)}</text>
        }
    });
    let times = x.ticks.iter().map(|&value| {
        let text = text::number(value, x.decimals);
        view! { <text class="mark-text" x=frame.x(&x, value) y=frame.bottom + 18.0 text-anchor="middle">{text}</text> }
    });
    let line = |class: &'static str, value: f64| {
        let place = frame.y(y, value);
        view! { <line class=class x1=frame.left x2=frame.right y1=place y2=place /> }
    };
    let target = drawing.target.map(|value| line("target", value));
    let published = drawing.published.map(|value| line("published", value));
    let curves = drawing.curves.iter().map(|curve| view! { <g class=curve.class>{path(curve, &frame, &x, y)}</g> });
    view! {
        <svg
            role="img"
            aria-label=t!(chart_described, chart = title, description = drawing.description)
            width=width
            height=HEIGHT
            viewBox=format!("0 0 {width} {HEIGHT}")
        >
            <desc>{drawing.description.clone()}</desc>
            {marks.collect_view()}
            {times.collect_view()}
            {target}
            {published}
            {curves.collect_view()}
            {legend(labels, y, &frame)}
        </svg>
    }
}

fn path(curve: &Curve, frame: &Frame, x: &Axis, y: &Axis) -> impl IntoView + use<> {
    let dot = |&(px, py): &(f64, f64)| view! { <circle cx=frame.x(x, px) cy=frame.y(y, py) r="4" /> };
    let shown = if curve.dots { &curve.points[..] } else { &curve.points[curve.points.len().saturating_sub(1)..] };
    view! {
        <path d=frame.path(&curve.points, x, y) />
        {shown.iter().map(dot).collect_view()}
    }
}

/// A word at a height of the vertical axis.
struct Label {
    class: &'static str,
    text: String,
    value: f64,
}

/// Each curve's name and latest value, and the target's.
fn labels(drawing: &Drawing) -> Vec<Label> {
    let end =
        |curve: &Curve| Some(Label { class: curve.class, text: curve.label.clone(), value: curve.points.last()?.1 });
    let target = |value| Label { class: "goal", text: t!(chart_target, value = text::whole_percent(value)), value };
    let published =
        |value| Label { class: "goal", text: t!(chart_published_end, value = text::whole_percent(value)), value };
    let lines = drawing.target.map(target).into_iter().chain(drawing.published.map(published));
    lines.chain(drawing.curves.iter().filter_map(end)).collect()
}

/// The labels right of the curves.
fn legend(labels: Vec<Label>, y: &Axis, frame: &Frame) -> impl IntoView + use<> {
    let mut heights: Vec<f64> = labels.iter().map(|label| frame.y(y, label.value) + 4.0).collect();
    spread(&mut heights, 16.0, frame.top, frame.bottom);
    let place = frame.right + LABEL_GAP;
    labels
        .into_iter()
        .zip(heights)
        .map(|(label, height)| view! { <text class=format!("label {}", label.class) x=place y=height>{label.text}</text> })
        .collect_view()
}

/// Watches an element's width until it leaves the page.
struct Watch {
    observer: ResizeObserver,
    _callback: Closure<dyn FnMut(js_sys::Array)>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// The width that a place has on the screen, also when that changes.
pub(super) fn measured_width(place: NodeRef<html::Div>) -> ReadSignal<f64> {
    let (width, set_width) = signal(FIRST_WIDTH);
    let watch = StoredValue::new_local(None::<Watch>);
    Effect::new(move |_| {
        let Some(element) = place.get() else { return };
        let callback = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
            let entry: ResizeObserverEntry = entries.get(0).unchecked_into();
            let now = entry.content_rect().width().floor();
            if now > 0.0 && width.try_get_untracked().is_some_and(|before| before != now) {
                set_width.set(now);
            }
        });
        if let Ok(observer) = ResizeObserver::new(callback.as_ref().unchecked_ref()) {
            observer.observe(&element);
            watch.set_value(Some(Watch { observer, _callback: callback }));
        }
    });
    width
}
