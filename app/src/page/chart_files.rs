//! What a chart shows as a table, for those who cannot see it, and as files.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use crate::words::{self, Plain};
use crate::{chart_data, platform, t};

/// Makes the lines of a chart's table, or its file, when somebody wants them.
pub(super) type Make<T> = Arc<dyn Fn() -> T + Send + Sync>;

#[component]
pub(super) fn ChartFiles(
    title: Plain,
    /// Where the drawing is.
    place: NodeRef<html::Div>,
    /// What stands above the columns.
    head: Vec<&'static str>,
    /// The cells of every line; the first of them names it.
    lines: Make<Vec<Vec<String>>>,
    csv: Make<String>,
) -> impl IntoView {
    // A table that nobody looks at is not drawn, four times a second during a run.
    let open = RwSignal::new(false);
    let said = RwSignal::new(String::new());
    // Files are called alike in every language.
    let file = words::in_english(|| title.text()).to_lowercase().replace(' ', "-");
    let title = title.text();
    let save = move |ending: &str, kind: &str, text: Option<String>| {
        let text = text.ok_or_else(|| t!(chart_no_drawing).to_owned());
        if let Err(reason) = text.and_then(|text| platform::download_as(&format!("{file}.{ending}"), kind, &text)) {
            said.set(t!(common_not_saved, reason = reason));
        }
    };
    let save_picture = save.clone();
    let picture = move |_| {
        let html = place.get_untracked().map(|place| place.inner_html());
        save_picture("svg", "image/svg+xml", html.and_then(|html| chart_data::picture(&html)));
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
            <summary aria-label=t!(chart_data_of, chart = title)>{t!(chart_data)}</summary>
            <div class="row">
                <button class="button small" type="button" on:click=picture>"SVG"</button>
                <button class="button small" type="button" on:click=table>"CSV"</button>
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <Show when=move || open.get()>
                <div class="scroll data" role="region" aria-label=t!(common_scrollable, what = title) tabindex="0">
                    <table aria-label=t!(chart_data_label, chart = title)>
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
