//! Public moderation log.

use leptos::prelude::*;
use results::api::{ModerationEntry, ModerationLog, ModerationQuery};

use super::parts::{MAX_ROWS, listed, load_latest, show_more, table};
use crate::route::{LEADERBOARD, with_query};
use crate::words::leaderboard::deed;
use crate::{platform, t, text};

const ENTRIES: u32 = 50;

pub(super) fn moderation_page() -> impl IntoView {
    platform::set_title(t!(moderation_log));
    let limit = RwSignal::new(ENTRIES);
    let loaded = load_latest::<ModerationLog>(move || {
        with_query("/api/v1/moderation", &ModerationQuery { limit: Some(limit.get()), offset: None })
    });
    let has_more = move |log: &ModerationLog| limit.get() < MAX_ROWS && log.total > log.entries.len() as u64;
    let more = Memo::new(move |_| loaded.with(|loaded| matches!(loaded, Some(Ok(log)) if has_more(log))));
    view! {
        <section class="sheet" id="moderation">
            <h1>{t!(moderation_log)}</h1>
            <p class="lead small">{t!(moderation_explanation)}</p>
            {listed(loaded, entries)}
            {show_more(more, limit)}
            <div class="row"><a class="button quiet" href=LEADERBOARD>{t!(common_leaderboard)}</a></div>
        </section>
    }
}

fn entries(log: ModerationLog) -> AnyView {
    if log.entries.is_empty() {
        return view! { <p class="callout">{t!(moderation_nothing)}</p> }.into_any();
    }
    let titles = [t!(leaderboard_day), t!(moderation_what), t!(moderation_to_what), t!(moderation_why)];
    let heads = titles.map(|title| view! { <th scope="col">{title}</th> });
    let rows = log.entries.into_iter().map(row).collect_view();
    table("leaderboard narrow", t!(moderation_log), heads, view! { <tbody>{rows}</tbody> }).into_any()
}

fn row(entry: ModerationEntry) -> impl IntoView {
    let link = |address: String, id: &str| view! { <a href=address>{id.to_owned()}</a> };
    let id = entry.run_id.clone().unwrap_or_default();
    let subject = match (&entry.device_key, &entry.into_device_key) {
        (Some(from), Some(into)) => {
            let [from, into] = [from, into].map(|key| link(format!("/devices/{key}"), key));
            view! { {from}<span class="explain">{into}</span> }.into_any()
        }
        _ if entry.run_is_visible => link(format!("/runs/{id}"), &id).into_any(),
        _ => id.into_any(),
    };
    view! {
        <tr data-deed=entry.deed.name()>
            <td class="day">{text::day(entry.done_unix_seconds)}</td>
            <th scope="row">{deed(entry.deed, entry.tier)}</th>
            <td>{subject}</td>
            <td>{entry.reason.unwrap_or_else(|| "–".to_owned())}</td>
        </tr>
    }
}
