//! Result files from a disk, shown as a run's own page shows it; nothing leaves the browser.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::RunRecord;

use super::json::ExactJson;
use super::language::kept;
use super::report::{Overview, Particulars};
use crate::{platform, t, text};

#[component]
pub(super) fn FilePage() -> impl IntoView {
    platform::set_title(t!(result_file_title));
    let shown = kept("files", || RwSignal::new(Vec::<(String, Result<RunRecord, String>)>::new()));
    let read = move |files: Vec<gloo_file::File>| {
        spawn_local(async move {
            let mut read = Vec::new();
            for (name, text) in platform::texts_of(&files).await {
                let record = text.and_then(|text| {
                    serde_json::from_str(&text).map_err(|error| t!(result_no_result, error = error.to_string()))
                });
                read.push((name, record));
            }
            drop(shown.try_set(read));
        });
    };
    let chosen = move |event: leptos::ev::Event| read(platform::files_of(&event));
    let dropped = move |event: leptos::ev::DragEvent| {
        event.prevent_default();
        read(platform::files_of(&event));
    };
    view! {
        <section
            class="sheet drop"
            aria-labelledby="file-title"
            on:dragover=move |event: leptos::ev::DragEvent| event.prevent_default()
            on:drop=dropped
        >
            <h1 id="file-title">{t!(result_file_title)}</h1>
            <p class="lead small">
                {t!(result_file_explanation)}
            </p>
            <label class="claim">
                <span>{t!(result_files)}</span>
                <input type="file" multiple accept=".json,application/json" on:change=chosen />
            </label>
        </section>
        <div role="status" aria-live="polite">
            {move || shown.get().into_iter().map(|(name, record)| view! { <Shown name record /> }).collect_view()}
        </div>
    }
}

#[component]
fn Shown(name: String, record: Result<RunRecord, String>) -> impl IntoView {
    match record {
        Ok(record) => {
            let device = text::device_name(&record.device.adapter, record.device.claimed_name.as_deref());
            let json = serde_json::to_string_pretty(&record).expect("every record can be written as JSON");
            let shown_as = name.clone();
            let origin = t!(result_of_file, name = name);
            view! {
                <section class="sheet" data-file=shown_as>
                    <h2>{device}</h2>
                    <p class="note">{origin}</p>
                    <Overview record=record.clone() />
                    <Particulars record />
                    <ExactJson json=Signal::stored(json) file=name />
                </section>
            }
            .into_any()
        }
        Err(reason) => {
            view! { <p class="refusal">{t!(result_file_not_shown, name = name, reason = reason)}</p> }.into_any()
        }
    }
}
