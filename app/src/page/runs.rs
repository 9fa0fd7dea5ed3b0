//! Single runs, of whatever tier: what is asked for, and when.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ListRuns, RunList, RunSort};

use super::columns::ColumnChoice;
use super::leaderboard::Chosen;
use super::run_filters::{Filters, OneDevice};
use super::run_table::{First, RunTable};
use super::scatter::Scatter;
use crate::filters::columns::Columns;
use crate::filters::runs::order_inside;
use crate::{platform, t, text};

/// Rows at first, and how many more at a time.
const ROWS: u32 = 25;
const MORE_ROWS: u32 = 100;

#[derive(Clone, Debug, PartialEq)]
enum Loaded {
    NotYet,
    Rows(Listed),
    Refused(String),
}

/// The pages that have come so far.
#[derive(Clone, Debug, PartialEq)]
struct Listed {
    /// All their rows, and what the last one said beside its own.
    list: RunList,
    query: ListRuns,
    /// Whether the leaderboard looked at many results for the last page and did not find enough.
    looking: bool,
}

impl Listed {
    fn new(query: ListRuns, list: RunList) -> Self {
        let looking = is_looking(&list, query.limit);
        Self { list, query, looking }
    }

    fn add(&mut self, page: RunList) {
        self.looking = is_looking(&page, Some(MORE_ROWS));
        self.list.rows.extend(page.rows);
        self.list.next = page.next;
    }
}

fn is_looking(page: &RunList, limit: Option<u32>) -> bool {
    page.next.is_some() && limit.is_some_and(|limit| page.rows.len() < limit as usize)
}

#[component]
pub(super) fn Runs(chosen: Chosen, uploaded: RwSignal<Option<String>>) -> impl IntoView {
    let loaded = RwSignal::new(Loaded::NotYet);
    let request = StoredValue::new(0_u32);
    // Answers may overtake each other, or come when other tables are shown; only the last question counts.
    let ask = move |query: ListRuns, put: fn(&mut Loaded, ListRuns, RunList)| {
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let answer = platform::list(&query).await;
            if request.try_get_value() != Some(number) {
                return;
            }
            loaded.update(|loaded| match answer {
                Ok(list) => put(loaded, query, list),
                Err(refusal) => {
                    *loaded = Loaded::Refused(t!(leaderboard_results_not_shown, reason = refusal.to_string()))
                }
            });
        });
    };
    Effect::new(move |_| {
        uploaded.track();
        let query = ListRuns { limit: Some(ROWS), ..query(chosen) };
        ask(query, |loaded, query, list| *loaded = Loaded::Rows(Listed::new(query, list)));
    });
    let more = move |_| {
        let next = loaded.with_untracked(|loaded| match loaded {
            Loaded::Rows(listed) => Some(ListRuns {
                limit: Some(MORE_ROWS),
                cursor: Some(listed.list.next.clone()?),
                ..listed.query.clone()
            }),
            Loaded::NotYet | Loaded::Refused(_) => None,
        });
        if let Some(query) = next {
            ask(query, |loaded, _, page| {
                if let Loaded::Rows(listed) = loaded {
                    listed.add(page);
                }
            });
        }
    };
    // What the button does; nothing where there is no more. It stands beside what is loaded and not in it, so that it keeps
    // the keyboard's place.
    let title = Memo::new(move |_| {
        loaded.with(|loaded| match loaded {
            Loaded::Rows(Listed { list, looking, .. }) if list.next.is_some() => {
                Some(if *looking { t!(leaderboard_look_further) } else { t!(common_show_more) })
            }
            _ => None,
        })
    });
    view! {
        <Filters chosen />
        <OneDevice chosen />
        <ColumnChoice chosen=chosen.columns />
        {move || match loaded.get() {
            Loaded::NotYet => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
            Loaded::Refused(sentence) => view! { <p class="refusal">{sentence}</p> }.into_any(),
            Loaded::Rows(listed) => {
                let filtered = chosen.runs.with_untracked(|runs| runs.any());
                view! { <Shown listed filtered own=uploaded.get() columns=chosen.columns.get() /> }.into_any()
            }
        }}
        <Show when=move || title.get().is_some()>
            <div class="row">
                <button class="button quiet" type="button" on:click=more>{move || title.get()}</button>
            </div>
        </Show>
    }
}

/// What is asked for of the runs that are chosen.
pub(super) fn query(chosen: Chosen) -> ListRuns {
    chosen.runs.with(|runs| runs.query(chosen.network.get(), chosen.backend.get()))
}

#[component]
fn Shown(listed: Listed, filtered: bool, own: Option<String>, columns: Columns) -> impl IntoView {
    let Listed { list, query, looking } = listed;
    let results = text::results_listed(list.total, list.more_than_total);
    let of_network = query.workload.is_some();
    let by_default = if of_network { RunSort::Fastest } else { RunSort::Newest };
    let order = order_inside(query.sort.unwrap_or(by_default));
    let first = match (query.device.is_some(), of_network) {
        (true, _) => First::Network,
        (false, true) => First::Device,
        (false, false) => First::DeviceAndNetwork,
    };
    let nothing = if looking {
        t!(leaderboard_none_looked)
    } else if filtered || of_network {
        t!(leaderboard_none_filtered)
    } else {
        t!(leaderboard_none)
    };
    let counted = if looking && list.more_than_total {
        t!(leaderboard_so_far, results = t!(common_results, number = list.rows.len() as u64))
    } else {
        results
    };
    // Times to accuracy of different networks are to different accuracies.
    let scatter = of_network.then(|| view! { <Scatter rows=list.rows.clone() /> });
    view! {
        <p class="note" aria-live="polite">
            {t!(leaderboard_listed, counted = counted, order = order)}
        </p>
        {scatter}
        <RunTable rows=list.rows first label=t!(common_leaderboard) own nothing columns />
    }
}
