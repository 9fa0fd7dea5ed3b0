//! What is chosen on the leaderboard as a file.

use leptos::prelude::*;
use results::api::ListRuns;
use results::open_data::ExportFormat;

use super::leaderboard::Chosen;
use super::{places, runs};
use crate::documents::document;
use crate::filters::Shown;
use crate::{queries, t};

const FORMATS: [(ExportFormat, &str); 3] =
    [(ExportFormat::Csv, "CSV"), (ExportFormat::Parquet, "Parquet"), (ExportFormat::Jsonl, "JSON Lines")];

/// The runs that are chosen, or those that the places of devices come from.
fn query(chosen: Chosen) -> ListRuns {
    match chosen.shown.get() {
        Shown::Runs => runs::query(chosen),
        Shown::Devices => places::runs_behind(chosen),
    }
}

#[component]
pub(super) fn Exports(chosen: Chosen) -> impl IntoView {
    let link = move |(format, title): (ExportFormat, &'static str)| {
        view! { <li><a href=move || queries::export(format, &query(chosen)) data-format=format.name()>{title}</a></li> }
    };
    let what = move || match chosen.shown.get() {
        Shown::Runs => t!(exports_of_runs),
        Shown::Devices => t!(exports_of_devices),
    };
    let about = document("open-data").map(|document| {
        view! { <li><a href=document.path()>{document.title()}</a></li> }
    });
    view! {
        <nav class="exports" aria-label=t!(exports_label)>
            <p class="note">{what}</p>
            <ul>
                {FORMATS.map(link).collect_view()}
                {about}
            </ul>
        </nav>
    }
}
