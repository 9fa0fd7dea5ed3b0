//! SVG charts, drawn at their size on screen so that the text stays legible.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{Distribution, DistributionQuery, RunRow};
use results::{CurvePoint, Evaluation};
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, ResizeObserver, ResizeObserverEntry};

use super::parts::{listed, save, table};
use crate::charts::{self, ChartContent, ScatterPoint, of_devices};
use crate::live::Beside;
use crate::platform::{self, RequestError};
use crate::route::with_query;
use crate::side_by_side::NamedCurve;
use crate::t;
use crate::words::{self, PlainText, messages};

/// Width before the first measurement, pixels.
const FIRST_WIDTH: f64 = 480.0;

/// Function that makes a part of a chart on demand.
type Make<T> = Arc<dyn Fn() -> T + Send + Sync>;

pub(super) fn loss_chart(training: Signal<Vec<CurvePoint>>, files: bool) -> impl IntoView {
    let content = move || training.with(|training| ChartContent::loss(training));
    curves(messages::chart_loss, Arc::new(content), files)
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
        let beside = published.and_then(|published| published.get());
        training
            .with(|training| tests.with(|tests| ChartContent::accuracy(training, tests, target.get(), beside.as_ref())))
    };
    curves(messages::chart_accuracy, Arc::new(content), files)
}

/// Chart of the losses that the goal is about. `files` is true to offer the data.
pub(super) fn test_loss_chart(
    training: Signal<Vec<CurvePoint>>,
    tests: Signal<Vec<Evaluation>>,
    target: f64,
    is_text: bool,
    files: bool,
) -> impl IntoView {
    let content =
        move || training.with(|training| tests.with(|tests| ChartContent::test_loss(training, tests, target, is_text)));
    curves(ChartContent::title_of_losses(is_text), Arc::new(content), files)
}

pub(super) fn rate_chart(points: Vec<(f64, f64)>) -> impl IntoView {
    curves(messages::common_rate, Arc::new(move || ChartContent::rate(&points)), true)
}

pub(super) fn backend_curves(title: PlainText, all: Vec<NamedCurve>, is_share: bool) -> impl IntoView {
    curves(title, Arc::new(move || ChartContent::of_backends(title, &all, is_share)), true)
}

fn curves(title: PlainText, content: Make<ChartContent>, files: bool) -> impl IntoView {
    let (of_table, of_file) = (content.clone(), content.clone());
    let files = files.then(|| ChartFiles {
        title,
        head: vec![t!(chart_curve), t!(chart_seconds), title.text()],
        rows: Arc::new(move || of_table().rows()),
        csv: Arc::new(move || of_file().csv(words::in_english(|| title.text()))),
    });
    let caption = view! { {title.text()}" "<small>{t!(chart_over_seconds)}</small> };
    figure(caption, Arc::new(move || Some(content())), None, files)
}

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
            {listed(loaded, move |distribution| {
                let caption = view! { {of_devices(&distribution)}" "<small>{t!(standing_bins)}</small> };
                let content = Arc::new(move || charts::histogram(&distribution, own));
                figure(caption, content, None, None).into_any()
            })}
        </details>
    }
}

/// Scatter plot of the listed results, if enough of them have both metrics.
pub(super) fn scatter(rows: &[RunRow]) -> Option<impl IntoView + use<>> {
    let (points, without) = charts::points(rows);
    charts::scatter(&points)?;
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
    let points = Arc::new(points);
    let (lines, csv) = (points.clone(), points.clone());
    let files = ChartFiles {
        title: messages::scatter_title,
        head: vec![t!(leaderboard_device), t!(common_backend), t!(metric_seconds_to_target), t!(common_rate)],
        rows: Arc::new(move || lines.iter().map(ScatterPoint::cells).collect()),
        csv: Arc::new(move || charts::points_csv(&csv)),
    };
    let caption = view! { {t!(common_rate)}" "<small>{t!(scatter_over)}</small> };
    figure(caption, Arc::new(move || charts::scatter(&points)), Some(t!(scatter_hint)), Some(files))
}

/// Figure that is drawn again when the content or the width changes. A hint is replaced by the name of the link that
/// the pointer or the keyboard reaches.
fn figure(
    caption: impl IntoView,
    content: Make<Option<ChartContent>>,
    hint: Option<&'static str>,
    files: Option<ChartFiles>,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let width = measured_width(place);
    let pointed = RwSignal::new(None::<String>);
    let point_at = move |element: Element| {
        if let Ok(Some(link)) = element.closest("a.point") {
            pointed.set(link.get_attribute("aria-label"));
        }
    };
    let drawn = content.clone();
    let drawn = Memo::new(move |_| {
        let drawn = drawn().map(|ChartContent { plot, label, .. }| {
            let (height, svg) = plot.draw(width.get());
            (plot.role(), label, height, svg.into_string())
        });
        drawn.unwrap_or_default()
    });
    let height = move || drawn.with(|drawn| drawn.2);
    let inner_html = move || {
        keep_focus();
        drawn.with(|drawn| drawn.3.clone())
    };
    let svg = move || content().map(|of| of.plot.svg(width.get(), &of.label)).unwrap_or_default();
    view! {
        <figure class="chart">
            <figcaption>{caption}</figcaption>
            <div
                node_ref=place
                on:mouseover=move |event| point_at(event_target(&event))
                on:focusin=move |event| point_at(event_target(&event))
            >
                <svg
                    role=move || drawn.with(|drawn| drawn.0)
                    aria-label=move || drawn.with(|drawn| drawn.1.clone())
                    width=width
                    height=height
                    viewBox=move || format!("0 0 {} {}", width.get(), height())
                    inner_html=inner_html
                ></svg>
            </div>
            {hint.map(|hint| view! {
                <p class="note pointed">{move || pointed.get().unwrap_or_else(|| hint.to_owned())}</p>
            })}
            {files.map(|files| chart_files(files, Arc::new(svg)))}
        </figure>
    }
}

/// Keeps the keyboard focus on a link that is about to be drawn again.
fn keep_focus() {
    let focused = document().query_selector("a.point:focus").ok().flatten();
    let Some(address) = focused.and_then(|link| link.get_attribute("href")) else { return };
    request_animation_frame(move || {
        if let Ok(Some(link)) = document().query_selector(&format!("a.point[href='{address}']")) {
            drop(link.unchecked_into::<HtmlElement>().focus());
        }
    });
}

/// Returns a signal with the width of an element on screen, pixels.
fn measured_width(place: NodeRef<html::Div>) -> ReadSignal<f64> {
    let (width, set_width) = signal(FIRST_WIDTH);
    Effect::new(move |_| {
        let Some(element) = place.get() else { return };
        let callback = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
            let entry: ResizeObserverEntry = entries.get(0).unchecked_into();
            let now = entry.content_rect().width().floor();
            if now > 0.0 && width.try_get_untracked().is_some_and(|before| before != now) {
                set_width.set(now);
            }
        });
        // The browser drops the observer and the callback with the element.
        if let Ok(observer) = ResizeObserver::new(callback.into_js_value().unchecked_ref()) {
            observer.observe(&element);
        }
    });
    width
}

/// Table and CSV of a chart. The first cell of each row is the heading.
struct ChartFiles {
    title: PlainText,
    head: Vec<&'static str>,
    rows: Make<Vec<Vec<String>>>,
    csv: Make<String>,
}

fn chart_files(ChartFiles { title, head, rows, csv }: ChartFiles, svg: Make<String>) -> impl IntoView {
    // Only an open table is rendered: it updates four times a second during a run.
    let open = RwSignal::new(false);
    let said = RwSignal::new(String::new());
    // File names do not depend on the language.
    let file = words::in_english(|| title.text()).to_lowercase().replace(' ', "-");
    let save = move |ending: &str, kind: &str, text: &str| save(&format!("{file}.{ending}"), kind, text, said);
    let save_picture = save.clone();
    let picture = move |_| save_picture("svg", "image/svg+xml", &charts::picture(&untrack(|| svg())));
    let save_csv = move |_| save("csv", "text/csv;charset=utf-8", &untrack(|| csv()));
    let line = |cells: Vec<String>| {
        let mut cells = cells.into_iter();
        let name = cells.next().map(|name| view! { <th scope="row">{name}</th> });
        view! { <tr>{name}{cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}</tr> }
    };
    let rows = move || rows().into_iter().map(line).collect_view();
    let heads = move || head.iter().map(|of| view! { <th scope="col">{*of}</th> }).collect_view();
    let label = format!("{}: {}", t!(chart_data), title.text());
    view! {
        <details class="rates" on:toggle=move |_| open.update(|open| *open = !*open)>
            <summary aria-label=label.clone()>{t!(chart_data)}</summary>
            <div class="row">
                <button class="button small" type="button" on:click=picture>"SVG"</button>
                <button class="button small" type="button" on:click=save_csv>"CSV"</button>
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <Show when=move || open.get()>
                {table("", label.clone(), heads(), view! { <tbody>{rows.clone()}</tbody> })}
            </Show>
        </details>
    }
}
