//! Public moderation log.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ModerationEntry, ModerationLog, ModerationQuery};

use super::parts::{MAX_ROWS, ShowMore, answered, refusal};
use crate::platform::{self, Refusal};
use crate::route::{LEADERBOARD, with_query};
use crate::words::leaderboard::deed;
use crate::{t, text};

const ENTRIES: u32 = 50;

#[component]
pub(super) fn ModerationPage() -> impl IntoView {
    platform::set_title(t!(moderation_log));
    let limit = RwSignal::new(ENTRIES);
    let loaded = RwSignal::new(None::<Result<ModerationLog, Refusal>>);
    Effect::new(move |_| {
        let address = with_query("/api/v1/moderation", &ModerationQuery { limit: Some(limit.get()), offset: None });
        spawn_local(async move {
            let answer = platform::get(&address).await;
            // The view may be gone by now.
            drop(loaded.try_set(Some(answer)));
        });
    });
    let more = Memo::new(move |_| loaded.with(|loaded| matches!(loaded, Some(Ok(log)) if has_more(log, limit.get()))));
    view! {
        <section class="sheet" id="moderation">
            <h1>{t!(moderation_log)}</h1>
            <p class="lead small">{t!(moderation_explanation)}</p>
            {answered(
                loaded,
                |why| refusal(t!(leaderboard_not_shown, reason = why.to_string())),
                |log| view! { <Entries log /> }.into_any(),
            )}
            <ShowMore more limit />
            <div class="row">
                <a class="button quiet" href=LEADERBOARD>{t!(common_leaderboard)}</a>
            </div>
        </section>
    }
}

fn has_more(log: &ModerationLog, limit: u32) -> bool {
    limit < MAX_ROWS && log.total > log.entries.len() as u64
}

#[component]
fn Entries(log: ModerationLog) -> impl IntoView {
    if log.entries.is_empty() {
        return view! { <p class="callout">{t!(moderation_nothing)}</p> }.into_any();
    }
    view! {
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(moderation_log)) tabindex="0">
            <table class="leaderboard narrow" aria-label=t!(moderation_log)>
                <thead>
                    <tr>
                        <th scope="col">{t!(leaderboard_day)}</th>
                        <th scope="col">{t!(moderation_what)}</th>
                        <th scope="col">{t!(moderation_to_what)}</th>
                        <th scope="col">{t!(moderation_why)}</th>
                    </tr>
                </thead>
                <tbody>{log.entries.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(entry: ModerationEntry) -> impl IntoView {
    let subject = match (&entry.device_key, &entry.into_device_key) {
        (Some(from), Some(into)) => view! {
            <a href=format!("/devices/{from}")>{from.clone()}</a>
            <span class="explain"><a href=format!("/devices/{into}")>{into.clone()}</a></span>
        }
        .into_any(),
        _ => {
            let id = entry.run_id.clone().unwrap_or_default();
            if entry.run_is_visible {
                view! { <a href=format!("/runs/{id}")>{id.clone()}</a> }.into_any()
            } else {
                id.into_any()
            }
        }
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
