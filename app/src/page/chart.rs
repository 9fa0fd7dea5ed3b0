//! SVG charts, drawn at their size on screen so that the text stays legible.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use results::{CurvePoint, Evaluation};
use wasm_bindgen::prelude::*;
use web_sys::{ResizeObserver, ResizeObserverEntry};

use crate::charts::{self, Axis, Frame, NamedCurve, curve, spread};
use crate::live::Beside;
use crate::side_by_side::title_of;
use crate::words::{self, Plain, messages};
use crate::{platform, t, text};

const HEIGHT: f64 = 220.0;
/// Gap between the end of a curve and its label, pixels.
const LABEL_GAP: f64 = 10.0;
/// Width of one letter of a label, pixels. Digits are wider than the average letter, hence the margin.
const LABEL_LETTER: f64 = 7.8;
const LABEL_MARGIN: f64 = 8.0;
/// Largest share of a chart's width for labels to the right of several curves.
const MAX_LABEL_SHARE: f64 = 0.35;
/// Height of a line below such a chart, and width of its sample, pixels.
const LEGEND_LINE: f64 = 20.0;
const LEGEND_SAMPLE: f64 = 28.0;
/// Width before the first measurement, pixels.
const FIRST_WIDTH: f64 = 480.0;

/// Curve with a label at its end.
struct Curve {
    /// CSS class that sets the color.
    class: &'static str,
    /// Name in exported files.
    name: String,
    /// Displayed name, in the user's language.
    title: String,
    label: String,
    points: Vec<(f64, f64)>,
    /// True to draw a dot at every point.
    dots: bool,
}

struct Drawing {
    y: Axis,
    /// Formats a tick label of the vertical axis.
    mark: fn(&Axis, f64) -> String,
    curves: Vec<Curve>,
    /// Target value.
    target: Option<f64>,
    published: Option<f64>,
    /// First test at or above the target: seconds and accuracy.
    reached: Option<(f64, f64)>,
    description: String,
}

#[component]
pub(super) fn LossChart(
    #[prop(into)] training: Signal<Vec<CurvePoint>>,
    /// True to offer the data.
    #[prop(default = true)]
    files: bool,
) -> impl IntoView {
    let drawing = move || {
        let points = training.with(|training| curve(training, |point| point.loss));
        let loss = |value: f64| text::number(value, 3);
        let description = match (points.first(), points.last()) {
            (Some(first), Some(last)) => {
                t!(chart_loss_described, first = loss(first.1), last = loss(last.1), seconds = text::number(last.0, 1))
            }
            _ => t!(chart_no_training).to_owned(),
        };
        let label = points.last().map(|point| loss(point.1)).unwrap_or_default();
        Drawing::of_values(vec![training_curve(points, label)], description)
    };
    view! { <Chart title=messages::chart_loss drawing files /> }
}

#[component]
pub(super) fn AccuracyChart(
    #[prop(into)] training: Signal<Vec<CurvePoint>>,
    #[prop(into)] tests: Signal<Vec<Evaluation>>,
    #[prop(into)] target: Signal<Option<f64>>,
    #[prop(optional, into)] published: Option<Signal<Option<Beside>>>,
    /// True to offer the data.
    #[prop(default = true)]
    files: bool,
) -> impl IntoView {
    let drawing = move || {
        let points = training.with(|training| curve(training, |point| point.accuracy));
        let tested: Vec<_> = tests.with(|tests| tests.iter().map(|e| (e.training_seconds, e.accuracy)).collect());
        let last = |points: &[(f64, f64)]| points.last().map(|point| tenths(point.1));
        let label =
            |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}")).unwrap_or_default();
        let training_label = label(t!(chart_training), last(&points));
        let test_label = label(t!(chart_test), last(&tested));
        let description = match (training_label.as_str(), test_label.as_str()) {
            ("", _) => t!(chart_no_training).to_owned(),
            (training, "") => training.to_owned(),
            (training, test) => format!("{training}, {test}"),
        };
        let beside = published.and_then(|published| published.get());
        let ends_at = beside.as_ref().filter(|beside| beside.learning.curve.is_none());
        let ends_at = ends_at.and_then(|beside| beside.learning.accuracy);
        let published = beside.map(|beside| beside.curve).filter(|curve| !curve.is_empty()).map(published_curve);
        let test = Curve {
            class: "test",
            name: "test".to_owned(),
            title: t!(chart_test).to_owned(),
            label: test_label,
            points: tested,
            dots: true,
        };
        let target = target.get();
        let reached =
            test.points.iter().copied().find(|(_, accuracy)| target.is_some_and(|target| *accuracy >= target));
        let curves = published.into_iter().chain([training_curve(points, training_label), test]).collect();
        Drawing { published: ends_at, target, reached, ..Drawing::of_shares(curves, description) }
    };
    view! { <Chart title=messages::chart_accuracy drawing files /> }
}

/// Throughput of each window, which reveals throttling.
#[component]
pub(super) fn RateChart(#[prop(into)] rates: Signal<Vec<(f64, f64)>>) -> impl IntoView {
    let drawing = move || {
        let points = rates.get();
        let latest = points.last().map(|point| text::rate(point.1));
        let description = latest.clone().unwrap_or_else(|| t!(chart_no_training).to_owned());
        Drawing::of_values(vec![training_curve(points, latest.unwrap_or_default())], description)
    };
    view! { <Chart title=messages::common_rate drawing /> }
}

pub(super) const SERIES: [&str; 8] =
    ["series s0", "series s1", "series s2", "series s3", "series s4", "series s5", "series s6", "series s7"];

#[component]
pub(super) fn AccuracyCurves(curves: Vec<NamedCurve>) -> impl IntoView {
    let drawing = move || Drawing::of_shares(series(&curves, true), ends_of(&curves, tenths));
    view! { <Chart title=messages::metric_accuracy drawing /> }
}

#[component]
pub(super) fn LossCurves(curves: Vec<NamedCurve>) -> impl IntoView {
    let drawing = move || Drawing::of_values(series(&curves, false), ends_of(&curves, |value| text::number(value, 3)));
    view! { <Chart title=messages::chart_loss drawing /> }
}

impl Drawing {
    /// Creates a chart from zero to the highest value.
    fn of_values(curves: Vec<Curve>, description: String) -> Self {
        let highest = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max);
        let mark = |axis: &Axis, value| text::number(value, axis.decimals);
        Self {
            y: Axis::covering(0.0, highest, 4),
            mark,
            curves,
            target: None,
            published: None,
            reached: None,
            description,
        }
    }

    /// Creates a chart from 0 to 100 %.
    fn of_shares(curves: Vec<Curve>, description: String) -> Self {
        let mark = |axis: &Axis, share: f64| text::number(share * 100.0, axis.decimals.saturating_sub(2)) + " %";
        Self { y: Axis::covering(0.0, 1.0, 5), mark, curves, target: None, published: None, reached: None, description }
    }
}

fn published_curve(points: Vec<(f64, f64)>) -> Curve {
    let title = t!(chart_published).to_owned();
    Curve { class: "published", name: "published".to_owned(), label: title.clone(), title, points, dots: false }
}

fn training_curve(points: Vec<(f64, f64)>, label: String) -> Curve {
    let title = t!(chart_training).to_owned();
    Curve { class: "training", name: "training".to_owned(), title, label, points, dots: false }
}

fn tenths(share: f64) -> String {
    text::number(share * 100.0, 1) + " %"
}

fn series(curves: &[NamedCurve], dots: bool) -> Vec<Curve> {
    let curve = |((name, points), class): (&NamedCurve, &&'static str)| Curve {
        class,
        name: name.clone(),
        title: title_of(name),
        label: title_of(name),
        points: points.clone(),
        dots,
    };
    curves.iter().zip(SERIES.iter().cycle()).map(curve).collect()
}

/// Describes the last point of each curve.
fn ends_of(curves: &[NamedCurve], value: impl Fn(f64) -> String) -> String {
    let end = |(name, points): &NamedCurve| {
        points.last().map(|last| format!("{}: {} ({} s)", title_of(name), value(last.1), text::number(last.0, 1)))
    };
    format!("{}.", curves.iter().filter_map(end).collect::<Vec<_>>().join("; "))
}

#[component]
fn Chart(
    title: Plain,
    drawing: impl Fn() -> Drawing + Send + Sync + 'static,
    #[prop(default = true)] files: bool,
) -> impl IntoView {
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
            {files.then(|| view! {
                <ChartFiles title place head=vec![t!(chart_curve), t!(chart_seconds), title.text()] lines csv />
            })}
        </figure>
    }
}

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

fn csv(title: Plain, drawing: &Drawing) -> String {
    let curves = drawing.curves.iter().map(|curve| (curve.name.as_str(), curve.points.as_slice()));
    charts::curves_csv(words::in_english(|| title.text()), curves)
}

fn draw(title: &'static str, drawing: &Drawing, width: f64) -> impl IntoView + use<> {
    let labels = labels(drawing);
    let longest = labels.iter().map(|label| label.text.chars().count()).max().unwrap_or(0) as f64 * LABEL_LETTER;
    // The names of backends are long, and a phone has no room for them next to the curves.
    let below = longest > width * MAX_LABEL_SHARE && labels.iter().any(|label| SERIES.contains(&label.class));
    let height = if below { HEIGHT + LEGEND_LINE * labels.len() as f64 } else { HEIGHT };
    let right = width - LABEL_GAP - if below { 0.0 } else { longest + LABEL_MARGIN };
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
            aria-label=format!("{title}. {}", drawing.description)
            width=width
            height=height
            viewBox=format!("0 0 {width} {height}")
        >
            <desc>{drawing.description.clone()}</desc>
            {marks.collect_view()}
            {times.collect_view()}
            {target}
            {published}
            {curves.collect_view()}
            {drawing.reached.map(|of| reached(of, drawing.target, &frame, &x, y))}
            {if below { legend_below(labels, &frame).into_any() } else { legend(labels, y, &frame).into_any() }}
        </svg>
    }
}

/// The mark of the moment when the run passed its target: "97 % after 13.6 s".
fn reached(
    (seconds, accuracy): (f64, f64),
    target: Option<f64>,
    frame: &Frame,
    x: &Axis,
    y: &Axis,
) -> impl IntoView + use<> {
    let (at, top) = (frame.x(x, seconds), frame.y(y, accuracy));
    let words =
        t!(chart_reached, target = text::whole_percent(target.unwrap_or(accuracy)), seconds = text::seconds(seconds));
    // On the side with more room, below the curves.
    let (anchor, place) = if at > (frame.left + frame.right) / 2.0 { ("end", at - 8.0) } else { ("start", at + 8.0) };
    view! {
        <line class="reached" x1=at x2=at y1=top y2=frame.bottom />
        <text class="label goal" x=place y=frame.bottom - 10.0 text-anchor=anchor>{words}</text>
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

struct Label {
    class: &'static str,
    text: String,
    value: f64,
}

fn labels(drawing: &Drawing) -> Vec<Label> {
    let end =
        |curve: &Curve| Some(Label { class: curve.class, text: curve.label.clone(), value: curve.points.last()?.1 });
    let target = |value| Label { class: "goal", text: t!(chart_target, value = text::whole_percent(value)), value };
    let published = |value| {
        let text = format!("{} {}", t!(chart_published), text::whole_percent(value));
        Label { class: "goal", text, value }
    };
    let lines = drawing.target.map(target).into_iter().chain(drawing.published.map(published));
    lines.chain(drawing.curves.iter().filter_map(end)).collect()
}

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

/// A line for each curve, with a sample of its dashes.
fn legend_below(labels: Vec<Label>, frame: &Frame) -> impl IntoView + use<> {
    let (left, names) = (frame.left, frame.left + LEGEND_SAMPLE + LABEL_GAP);
    let line = |(place, label): (usize, Label)| {
        let y = HEIGHT + LEGEND_LINE * place as f64;
        view! {
            <g class=label.class><path d=format!("M{left} {y}h{LEGEND_SAMPLE}") /></g>
            <text class=format!("label {}", label.class) x=names y=y + 4.0>{label.text}</text>
        }
    };
    labels.into_iter().enumerate().map(line).collect_view()
}

/// Watches the width of an element until dropped.
struct Watch {
    observer: ResizeObserver,
    _callback: Closure<dyn FnMut(js_sys::Array)>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Returns a signal with the width of an element on screen, pixels.
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

/// Produces the rows of a chart's table, or its file, on demand.
pub(super) type Make<T> = Arc<dyn Fn() -> T + Send + Sync>;

#[component]
pub(super) fn ChartFiles(
    title: Plain,
    place: NodeRef<html::Div>,
    /// Column headings.
    head: Vec<&'static str>,
    /// Cells of every row; the first one is the heading.
    lines: Make<Vec<Vec<String>>>,
    csv: Make<String>,
) -> impl IntoView {
    // Only an open table is rendered: it updates four times a second during a run.
    let open = RwSignal::new(false);
    let said = RwSignal::new(String::new());
    // File names do not depend on the language.
    let file = words::in_english(|| title.text()).to_lowercase().replace(' ', "-");
    let title = title.text();
    let save = move |ending: &str, kind: &str, text: Option<String>| {
        let text = text.ok_or_else(|| t!(chart_no_training).to_owned());
        if let Err(reason) = text.and_then(|text| platform::download(&format!("{file}.{ending}"), kind, &text)) {
            said.set(t!(common_not_saved, reason = reason));
        }
    };
    let save_picture = save.clone();
    let picture = move |_| {
        let html = place.get_untracked().map(|place| place.inner_html());
        save_picture("svg", "image/svg+xml", html.and_then(|html| charts::picture(&html)));
    };
    let table = move |_| save("csv", "text/csv;charset=utf-8", Some(untrack(|| csv())));
    let line = |cells: Vec<String>| {
        let mut cells = cells.into_iter();
        let name = cells.next().map(|name| view! { <th scope="row">{name}</th> });
        view! { <tr>{name}{cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}</tr> }
    };
    let rows = move || lines().into_iter().map(line).collect_view();
    view! {
        <details class="rates" on:toggle=move |_| open.update(|open| *open = !*open)>
            <summary aria-label=format!("{}: {title}", t!(chart_data))>{t!(chart_data)}</summary>
            <div class="row">
                <button class="button small" type="button" on:click=picture>"SVG"</button>
                <button class="button small" type="button" on:click=table>"CSV"</button>
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <Show when=move || open.get()>
                <div class="scroll data" role="region" aria-label=t!(common_scrollable, what = title) tabindex="0">
                    <table aria-label=format!("{}: {title}", t!(chart_data))>
                        <thead>
                            <tr>{head.iter().map(|of| view! { <th scope="col">{*of}</th> }).collect_view()}</tr>
                        </thead>
                        <tbody>{rows.clone()}</tbody>
                    </table>
                </div>
            </Show>
        </details>
    }
}
