//! SVG charts, drawn at their size on screen so that the text stays legible.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use results::{CurvePoint, Evaluation};
use wasm_bindgen::prelude::*;
use web_sys::{ResizeObserver, ResizeObserverEntry};

use super::parts::save;
use crate::charts::{self, ChartAxis, ChartFrame, NamedCurve, curve, spread};
use crate::live::Beside;
use crate::side_by_side::title_of;
use crate::words::{self, PlainText, messages};
use crate::{t, text};

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

impl Curve {
    /// Creates a curve of a run, whose name is also its class.
    fn of_run(name: &'static str, title: &str, label: String, points: Vec<(f64, f64)>) -> Self {
        Self { class: name, name: name.to_owned(), title: title.to_owned(), label, points, dots: name == TEST }
    }
}

/// Class of the curve whose points are evaluations.
const TEST: &str = "test";

struct ChartContent {
    y: ChartAxis,
    /// True for values shown in percent.
    is_share: bool,
    curves: Vec<Curve>,
    target: Option<f64>,
    published: Option<f64>,
    description: String,
}

pub(super) fn loss_chart(training: Signal<Vec<CurvePoint>>, files: bool) -> impl IntoView {
    let content = move || {
        let points = training.with(|training| curve(training, |point| point.loss));
        let loss = |value: f64| text::number(value, 3);
        let description = match (points.first(), points.last()) {
            (Some(first), Some(last)) => {
                t!(chart_loss_described, first = loss(first.1), last = loss(last.1), seconds = text::number(last.0, 1))
            }
            _ => t!(chart_no_training).to_owned(),
        };
        let label = points.last().map(|point| loss(point.1)).unwrap_or_default();
        let training = Curve::of_run("training", t!(chart_training), label, points);
        ChartContent::new(vec![training], description, false)
    };
    chart(messages::chart_loss, Arc::new(content), files)
}

/// Chart of accuracies. `files` is true to offer the data.
pub(super) fn accuracy_chart(
    training: Signal<Vec<CurvePoint>>,
    tests: Signal<Vec<Evaluation>>,
    target: Signal<Option<f64>>,
    published: Option<Memo<Option<Beside>>>,
    files: bool,
) -> impl IntoView {
    let content = move || {
        let points = training.with(|training| curve(training, |point| point.accuracy));
        let tested: Vec<_> = tests.with(|tests| tests.iter().map(|e| (e.training_seconds, e.accuracy)).collect());
        let label = |name: &str, points: &[(f64, f64)]| {
            points.last().map(|last| format!("{name} {}", tenths(last.1))).unwrap_or_default()
        };
        let (training_label, test_label) = (label(t!(chart_training), &points), label(t!(chart_test), &tested));
        let description = match (training_label.as_str(), test_label.as_str()) {
            ("", _) => t!(chart_no_training).to_owned(),
            (training, "") => training.to_owned(),
            (training, test) => format!("{training}, {test}"),
        };
        let beside = published.and_then(|published| published.get());
        let ends_at = beside.as_ref().filter(|beside| beside.learning.curve.is_none());
        let ends_at = ends_at.and_then(|beside| beside.learning.accuracy);
        let published = beside.map(|beside| beside.curve).filter(|curve| !curve.is_empty());
        let title = t!(chart_published);
        let published = published.map(|points| Curve::of_run("published", title, title.to_owned(), points));
        let training = Curve::of_run("training", t!(chart_training), training_label, points);
        let test = Curve::of_run(TEST, t!(chart_test), test_label, tested);
        let curves = published.into_iter().chain([training, test]).collect();
        ChartContent { published: ends_at, target: target.get(), ..ChartContent::new(curves, description, true) }
    };
    chart(messages::chart_accuracy, Arc::new(content), files)
}

/// Throughput of each window, which reveals throttling.
pub(super) fn rate_chart(points: Vec<(f64, f64)>) -> impl IntoView {
    let content = move || {
        let latest = points.last().map(|point| text::rate(point.1));
        let description = latest.clone().unwrap_or_else(|| t!(chart_no_training).to_owned());
        let training = Curve::of_run("training", t!(chart_training), latest.unwrap_or_default(), points.clone());
        ChartContent::new(vec![training], description, false)
    };
    chart(messages::common_rate, Arc::new(content), true)
}

pub(super) const SERIES: [&str; 8] =
    ["series s0", "series s1", "series s2", "series s3", "series s4", "series s5", "series s6", "series s7"];

pub(super) fn accuracy_curves(curves: Vec<NamedCurve>) -> impl IntoView {
    let content = move || ChartContent::new(series(&curves, true), ends_of(&curves, tenths), true);
    chart(messages::metric_accuracy, Arc::new(content), true)
}

pub(super) fn loss_curves(curves: Vec<NamedCurve>) -> impl IntoView {
    let loss = |value| text::number(value, 3);
    let content = move || ChartContent::new(series(&curves, false), ends_of(&curves, loss), false);
    chart(messages::chart_loss, Arc::new(content), true)
}

impl ChartContent {
    /// Creates a chart from 0 to 100 %, or from 0 to the highest value.
    fn new(curves: Vec<Curve>, description: String, is_share: bool) -> Self {
        let highest = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max);
        let y = if is_share { ChartAxis::covering(0.0, 1.0, 5) } else { ChartAxis::covering(0.0, highest, 4) };
        Self { y, is_share, curves, target: None, published: None, description }
    }

    /// Formats a value with `more` decimals than the ticks.
    fn mark(&self, value: f64, more: usize) -> String {
        let decimals = self.y.decimals + more;
        if self.is_share {
            return text::number(value * 100.0, decimals.saturating_sub(2)) + " %";
        }
        text::number(value, decimals)
    }
}

fn tenths(share: f64) -> String {
    text::number(share * 100.0, 1) + " %"
}

fn series(curves: &[NamedCurve], dots: bool) -> Vec<Curve> {
    let curve = |((name, points), class): (&NamedCurve, &&'static str)| {
        let title = title_of(name);
        Curve { class, name: name.clone(), label: title.clone(), title, points: points.clone(), dots }
    };
    curves.iter().zip(SERIES.iter().cycle()).map(curve).collect()
}

fn ends_of(curves: &[NamedCurve], value: fn(f64) -> String) -> String {
    let end = |(name, points): &NamedCurve| {
        points.last().map(|last| format!("{}: {} ({} s)", title_of(name), value(last.1), text::number(last.0, 1)))
    };
    format!("{}.", curves.iter().filter_map(end).collect::<Vec<_>>().join("; "))
}

fn chart(title: PlainText, content: Make<ChartContent>, files: bool) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let width = measured_width(place);
    let (of_table, of_file) = (content.clone(), content.clone());
    let lines = Arc::new(move || lines(&of_table()));
    let csv = Arc::new(move || {
        let content = of_file();
        let curves = content.curves.iter().map(|curve| (curve.name.as_str(), curve.points.as_slice()));
        charts::curves_csv(words::in_english(|| title.text()), curves)
    });
    let head = vec![t!(chart_curve), t!(chart_seconds), title.text()];
    view! {
        <figure class="chart">
            <figcaption>{title.text()}" "<small>{t!(chart_over_seconds)}</small></figcaption>
            <div node_ref=place>{move || draw(title.text(), &content(), width.get())}</div>
            {files.then(|| chart_files(title, place, head, lines, csv))}
        </figure>
    }
}

fn lines(content: &ChartContent) -> Vec<Vec<String>> {
    let of_curve = |curve: &Curve| {
        let line = |(x, y): &(f64, f64)| vec![curve.title.clone(), text::number(*x, 2), content.mark(*y, 3)];
        curve.points.iter().map(line).collect::<Vec<_>>()
    };
    content.curves.iter().flat_map(of_curve).collect()
}

fn draw(title: &'static str, content: &ChartContent, width: f64) -> impl IntoView + use<> {
    let labels = labels(content);
    let longest = labels.iter().map(|(_, text, _)| text.chars().count()).max().unwrap_or(0) as f64 * LABEL_LETTER;
    // The names of backends are long, and a phone has no room for them next to the curves.
    let below = longest > width * MAX_LABEL_SHARE && labels.iter().any(|(class, ..)| SERIES.contains(class));
    let height = if below { HEIGHT + LEGEND_LINE * labels.len() as f64 } else { HEIGHT };
    let right = width - LABEL_GAP - if below { 0.0 } else { longest + LABEL_MARGIN };
    let frame = ChartFrame { left: 52.0, right: right.max(80.0), top: 14.0, bottom: HEIGHT - 34.0 };
    let seconds = content.curves.iter().flat_map(|c| c.points.iter().map(|p| p.0)).fold(0.0, f64::max);
    let x = ChartAxis::spanning(0.0, seconds, if width < 420.0 { 3 } else { 5 });
    let y = &content.y;
    let times = x.ticks.iter().map(|&value| {
        let text = text::number(value, x.decimals);
        view! { <text class="mark-text" x=frame.x(&x, value) y=frame.bottom + 18.0 text-anchor="middle">{text}</text> }
    });
    let line = |class: &'static str, value: f64| {
        let place = frame.y(y, value);
        view! { <line class=class x1=frame.left x2=frame.right y1=place y2=place /> }
    };
    let target = content.target.map(|value| line("target", value));
    let published = content.published.map(|value| line("published", value));
    let curves = content.curves.iter().map(|curve| view! { <g class=curve.class>{path(curve, &frame, &x, y)}</g> });
    let reached = content.target.and_then(|target| {
        let mut tests = content.curves.iter().filter(|curve| curve.class == TEST).flat_map(|curve| &curve.points);
        let &(seconds, accuracy) = tests.find(|point| point.1 >= target)?;
        Some(reached(target, seconds, frame.x(&x, seconds), frame.y(y, accuracy), &frame))
    });
    view! {
        <svg
            role="img"
            aria-label=format!("{title}. {}", content.description)
            width=width
            height=height
            viewBox=format!("0 0 {width} {height}")
        >
            <desc>{content.description.clone()}</desc>
            {grid_rows(y, &frame, &|value| content.mark(value, 0))}
            {times.collect_view()}
            {target}
            {published}
            {curves.collect_view()}
            {reached}
            {if below { legend_below(labels, &frame).into_any() } else { legend(labels, y, &frame).into_any() }}
        </svg>
    }
}

/// Horizontal grid lines, with the ticks to the left of the frame.
pub(super) fn grid_rows(axis: &ChartAxis, frame: &ChartFrame, text: &dyn Fn(f64) -> String) -> impl IntoView + use<> {
    let row = |&value: &f64| {
        let (left, place) = (frame.left, frame.y(axis, value));
        view! {
            <line class="grid" x1=left x2=frame.right y1=place y2=place />
            <text class="mark-text" x=left - 8.0 y=place + 4.0 text-anchor="end">{text(value)}</text>
        }
    };
    axis.ticks.iter().map(row).collect_view()
}

/// The mark of the moment when the run passed its target: "97 % after 13.6 s".
fn reached(target: f64, seconds: f64, at: f64, top: f64, frame: &ChartFrame) -> impl IntoView + use<> {
    let words = t!(chart_reached, target = text::whole_percent(target), seconds = text::seconds(seconds));
    // On the side with more room, below the curves.
    let (anchor, place) = if at > (frame.left + frame.right) / 2.0 { ("end", at - 8.0) } else { ("start", at + 8.0) };
    view! {
        <line class="reached" x1=at x2=at y1=top y2=frame.bottom />
        <text class="label goal" x=place y=frame.bottom - 10.0 text-anchor=anchor>{words}</text>
    }
}

fn path(curve: &Curve, frame: &ChartFrame, x: &ChartAxis, y: &ChartAxis) -> impl IntoView + use<> {
    let dot = |&(px, py): &(f64, f64)| view! { <circle cx=frame.x(x, px) cy=frame.y(y, py) r="4" /> };
    let shown = if curve.dots { &curve.points[..] } else { &curve.points[curve.points.len().saturating_sub(1)..] };
    view! {
        <path d=frame.path(&curve.points, x, y) />
        {shown.iter().map(dot).collect_view()}
    }
}

/// Returns the class, text and value of each line and curve.
fn labels(content: &ChartContent) -> Vec<(&'static str, String, f64)> {
    let end = |curve: &Curve| Some((curve.class, curve.label.clone(), curve.points.last()?.1));
    let target = |value| ("goal", t!(chart_target, value = text::whole_percent(value)), value);
    let published = |value| ("goal", format!("{} {}", t!(chart_published), text::whole_percent(value)), value);
    let lines = content.target.map(target).into_iter().chain(content.published.map(published));
    lines.chain(content.curves.iter().filter_map(end)).collect()
}

fn legend(labels: Vec<(&'static str, String, f64)>, y: &ChartAxis, frame: &ChartFrame) -> impl IntoView + use<> {
    let mut heights: Vec<f64> = labels.iter().map(|(.., value)| frame.y(y, *value) + 4.0).collect();
    spread(&mut heights, 16.0, frame.top, frame.bottom);
    let place = frame.right + LABEL_GAP;
    let label = |((class, text, _), y)| view! { <text class=format!("label {class}") x=place y=y>{text}</text> };
    labels.into_iter().zip(heights).map(label).collect_view()
}

/// A line for each curve, with a sample of its dashes.
fn legend_below(labels: Vec<(&'static str, String, f64)>, frame: &ChartFrame) -> impl IntoView + use<> {
    let (left, names) = (frame.left, frame.left + LEGEND_SAMPLE + LABEL_GAP);
    let line = |(place, (class, text, _)): (usize, (&'static str, String, f64))| {
        let y = HEIGHT + LEGEND_LINE * place as f64;
        view! {
            <g class=class><path d=format!("M{left} {y}h{LEGEND_SAMPLE}") /></g>
            <text class=format!("label {class}") x=names y=y + 4.0>{text}</text>
        }
    };
    labels.into_iter().enumerate().map(line).collect_view()
}

/// Watches the width of an element until dropped.
struct WidthObserver {
    observer: ResizeObserver,
    _callback: Closure<dyn FnMut(js_sys::Array)>,
}

impl Drop for WidthObserver {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Returns a signal with the width of an element on screen, pixels.
pub(super) fn measured_width(place: NodeRef<html::Div>) -> ReadSignal<f64> {
    let (width, set_width) = signal(FIRST_WIDTH);
    let watch = StoredValue::new_local(None::<WidthObserver>);
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
            watch.set_value(Some(WidthObserver { observer, _callback: callback }));
        }
    });
    width
}

/// Produces the rows of a chart's table, or its file, on demand.
pub(super) type Make<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// Table of a chart and its files. The first cell of each row in `lines` is the heading.
pub(super) fn chart_files(
    title: PlainText,
    place: NodeRef<html::Div>,
    head: Vec<&'static str>,
    lines: Make<Vec<Vec<String>>>,
    csv: Make<String>,
) -> impl IntoView {
    // Only an open table is rendered: it updates four times a second during a run.
    let open = RwSignal::new(false);
    let said = RwSignal::new(String::new());
    // File names do not depend on the language.
    let file = words::in_english(|| title.text()).to_lowercase().replace(' ', "-");
    let title = title.text();
    let save = move |ending: &str, kind: &str, text: Option<String>| match text {
        Some(text) => save(&format!("{file}.{ending}"), kind, &text, said),
        None => said.set(t!(common_not_saved, reason = t!(chart_no_training))),
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
