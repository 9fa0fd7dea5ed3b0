//! Histograms of throughput, and scatter plots whose points link to results.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{Distribution, DistributionQuery, RunRow};

use super::chart::{ChartFiles, figure};
use super::parts::listed;
use crate::platform::{self, RequestError};
use crate::plots::{self, ScatterPoint, of_devices};
use crate::route::with_query;
use crate::t;
use crate::words::messages;

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
                let content = Arc::new(move || plots::histogram(&distribution, own));
                figure(caption, content, None, None).into_any()
            })}
        </details>
    }
}

/// Scatter plot of the listed results, if enough of them have both metrics.
pub(super) fn scatter(rows: &[RunRow]) -> Option<impl IntoView + use<>> {
    let (points, without) = plots::points(rows);
    plots::scatter(&points)?;
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
        csv: Arc::new(move || plots::points_csv(&csv)),
    };
    let caption = view! { {t!(common_rate)}" "<small>{t!(scatter_over)}</small> };
    figure(caption, Arc::new(move || plots::scatter(&points)), Some(t!(scatter_hint)), Some(files))
}
