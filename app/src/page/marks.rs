//! Small elements of device tables: chips, bars, and icons of vendors and clients.

use leptos::prelude::*;
use results::api::FigureOfDevice;
use results::{ClientKind, VENDORS};

use crate::own_runs::OwnRuns;
use crate::{t, text};

/// Word with its meaning as a tooltip.
pub(super) fn chip((word, meaning): (&'static str, &'static str)) -> impl IntoView {
    view! { <span class="tier" title=meaning>{word}</span> }
}

/// Bar for a value, with a line over its interval. Both are shares of the largest value in the table.
pub(super) fn bar(value: f64, interval: Option<(f64, f64)>) -> impl IntoView {
    let percent = |share: f64| format!("{:.2}%", 100.0 * share.clamp(0.0, 1.0));
    let line = interval.map(|(low, high)| view! { <line x1=percent(low) x2=percent(high) y1="4" y2="4" /> });
    view! {
        <svg class="rate-bar" aria-hidden="true" height="8">
            <rect width=percent(value) y="1" height="6" rx="2" />
            {line}
        </svg>
    }
}

/// SVG paths in a 12 × 12 view box, in the order of [`VENDORS`].
const OUTLINES: [&str; VENDORS.len()] = [
    "M6 1 11 11H1z",
    "M6 1a5 5 0 1 0 .01 0z",
    "M6 .5 11.5 4.6 9.4 11H2.6L.5 4.6z",
    "M4.5 1h3v3.5H11v3H7.5V11h-3V7.5H1v-3h3.5z",
    "M1.5 1.5h9v9h-9z",
    "M6 .5 11 3.2v5.6L6 11.5 1 8.8V3.2z",
    "M6 .5 11.5 6 6 11.5.5 6z",
    "M1 1h10L6 11z",
];

/// Icon and name of the vendor that the API reports or, without one, that the device's name contains.
pub(super) fn vendor(named: Option<&str>, device: &str) -> impl IntoView + use<> {
    let is_word_of = |vendor: &str| device.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == vendor);
    let place = VENDORS.iter().position(|vendor| named.map_or_else(|| is_word_of(vendor), |named| named == *vendor));
    place.map(|place| {
        view! {
            <span class="vendor">
                <svg class="shape" viewBox="0 0 12 12" aria-hidden="true"><path d=OUTLINES[place] /></svg>
                {VENDORS[place]}
            </span>
        }
    })
}

pub(super) fn client(kind: ClientKind) -> impl IntoView {
    let (outline, word) = match kind {
        ClientKind::Browser => ("M1 2h10v8H1zM1 4.5h10", t!(leaderboard_in_browser)),
        ClientKind::Native => ("M1.5 3l3 3-3 3M6 9.5h4.5", t!(leaderboard_native)),
    };
    view! {
        <span class="client">
            <svg class="outline" viewBox="0 0 12 12" aria-hidden="true"><path d=outline /></svg>
            {word}
        </span>
    }
}

/// Marks a device with a run from this browser.
pub(super) fn own(runs: &OwnRuns, best_run_id: &str, name: Option<&str>) -> Option<impl IntoView + use<>> {
    let is_own = runs.has_run(best_run_id) || name.is_some_and(|name| runs.has_device(name));
    is_own.then(|| view! { <span class="tier">{t!(leaderboard_you)}</span> })
}

/// Link to the best run of a device or network.
pub(super) fn best_run(of: &str, backend: &str, client: ClientKind, run_id: &str) -> impl IntoView + use<> {
    let label = format!("{}: {of}, {backend}, {}", t!(leaderboard_best), text::client(client));
    view! { <a href=format!("/runs/{run_id}") aria-label=label>{t!(leaderboard_best)}</a> }
}

/// Cell with the number of runs, and below it that of submitters.
pub(super) fn runs_and_submitters(figure: &FigureOfDevice) -> impl IntoView + use<> {
    let submitters = t!(common_submitters, number = figure.submitters);
    view! { <td class="number">{text::count(figure.runs)}<span class="explain">{submitters}</span></td> }
}
