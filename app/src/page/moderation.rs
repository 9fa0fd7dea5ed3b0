//! What moderators did and why, for anyone to read.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ModerationEntry, ModerationLog, ModerationQuery};

use super::linked::{LINKS, linked};
use super::more::{MOST_ROWS, ShowMore};
use crate::moderation::{About, about, deed};
use crate::{platform, t, text};

/// Entries at first.
const ENTRIES: u32 = 50;

#[derive(Clone, Debug, PartialEq)]
enum Loaded {
    NotYet,
    Log(ModerationLog),
    Refused(String),
}

#[component]
pub(super) fn ModerationPage() -> impl IntoView {
    platform::set_title(t!(moderation_title));
    let limit = RwSignal::new(ENTRIES);
    let loaded = RwSignal::new(Loaded::NotYet);
    Effect::new(move |_| {
        let query = ModerationQuery { limit: Some(limit.get()), offset: None };
        spawn_local(async move {
            let answer = match platform::moderation(&query).await {
                Ok(log) => Loaded::Log(log),
                Err(refusal) => Loaded::Refused(t!(moderation_not_shown, reason = refusal.to_string())),
            };
            // The page may show something else by now.
            let _ = loaded.try_set(answer);
        });
    });
    let more =
        Memo::new(move |_| loaded.with(|loaded| matches!(loaded, Loaded::Log(log) if has_more(log, limit.get()))));
    view! {
        <section class="sheet" id="moderation">
            <h1>{t!(moderation_title)}</h1>
            <p class="lead small">
                {t!(moderation_explanation)}
            </p>
            {move || match loaded.get() {
                Loaded::NotYet => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
                Loaded::Refused(sentence) => view! { <p class="refusal">{sentence}</p> }.into_any(),
                Loaded::Log(log) => view! { <Entries log /> }.into_any(),
            }}
            <ShowMore more limit />
            <div class="row">
                <a class="button quiet" href="/#leaderboard">{t!(common_leaderboard)}</a>
            </div>
        </section>
    }
}

fn has_more(log: &ModerationLog, limit: u32) -> bool {
    limit < MOST_ROWS && log.total > log.entries.len() as u64
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
    let subject = match about(&entry) {
        About::Run { id, visible: true } => {
            let name = t!(moderation_run, id = id);
            view! { <a href=format!("/runs/{id}")>{name}</a> }.into_any()
        }
        About::Run { id, visible: false } => {
            view! { {t!(moderation_run, id = id)}<span class="explain">{t!(moderation_gone)}</span> }.into_any()
        }
        About::Devices { from, into } => view! {
            <a href=format!("/devices/{from}")>{from.clone()}</a>
            <span class="explain">
                {linked(&t!(moderation_and, device = LINKS[0]), [(format!("/devices/{into}"), into.clone())])}
            </span>
        }
        .into_any(),
    };
    view! {
        <tr data-deed=entry.deed.name()>
            <td class="day">{text::day(entry.done_unix_seconds)}</td>
            <th scope="row">{deed(&entry)}</th>
            <td>{subject}</td>
            <td>{entry.reason.unwrap_or_else(|| t!(moderation_no_reason).to_owned())}</td>
        </tr>
    }
}
