//! Views of the page.
#![expect(unreachable_pub, reason = "Leptos' component macro writes `pub` whatever the component's own visibility is")]

mod chart;
mod choices;
mod compare;
mod comparing;
mod delete;
mod device;
mod devices;
mod document;
mod draw;
mod language;
mod leaderboard;
mod marks;
mod miniature;
mod moderation;
mod parts;
mod places;
mod plots;
mod report;
mod result;
mod run;
mod running;
mod runs;
mod share;
mod side_by_side;
mod start;
mod state;

use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::route::{COMPARE, LEADERBOARD, Route, route};
use crate::{platform, t};

const KEEP_AFTER: Duration = Duration::from_secs(3);

/// Mounts the page in place of the text in index.html.
pub fn mount() {
    console_error_panic_hook::set_once();
    platform::show_theme(platform::theme());
    let document = platform::window().document().expect("a window has a document");
    let root = document.get_element_by_id("page").expect("index.html has the page's place");
    root.set_text_content(None);
    mount_to(root.unchecked_into(), || language::in_chosen_language(Page)).forget();
    // Wait until the page is visible: caching it for later must not delay it now.
    set_timeout(platform::keep_page, KEEP_AFTER);
}

#[component]
fn Page() -> impl IntoView {
    // Default title, which most pages replace.
    platform::set_whole_title(t!(start_page_title));
    let view = match route(&platform::path()) {
        Route::Start => start::Start().into_any(),
        Route::Compare => compare::ComparePage().into_any(),
        Route::Leaderboard => leaderboard::LeaderboardPage().into_any(),
        Route::Devices => devices::DevicesPage().into_any(),
        Route::File => result::FilePage().into_any(),
        Route::SideBySide => side_by_side::SideBySidePage().into_any(),
        Route::Result { run_id } => view! { <result::ResultPage run_id /> }.into_any(),
        Route::Device { key } => view! { <device::DevicePage key /> }.into_any(),
        Route::Comparison { id } => view! { <compare::ComparisonPage id /> }.into_any(),
        Route::DeleteComparison { id } => {
            view! { <delete::DeletePage id thing=delete::Thing::Comparison /> }.into_any()
        }
        Route::Moderation => moderation::ModerationPage().into_any(),
        Route::Documents => document::DocumentsPage().into_any(),
        Route::Document { name } => view! { <document::DocumentPage name /> }.into_any(),
        Route::Delete { run_id } => view! { <delete::DeletePage id=run_id thing=delete::Thing::Run /> }.into_any(),
        Route::Unknown => view! { <Unknown /> }.into_any(),
    };
    view! {
        <a class="skip" href="#main">{t!(common_skip)}</a>
        <header class="top">
            <a class="brand" href="/">
                <Mark />
                <span>"Gradmark"</span>
            </a>
            <nav aria-label=t!(common_pages)>
                {[(COMPARE, t!(common_compare)), (LEADERBOARD, t!(common_leaderboard))].map(|(address, title)| {
                    let current = (platform::path() == address).then_some("page");
                    view! { <a href=address aria-current=current>{title}</a> }
                })}
            </nav>
        </header>
        <main id="main" tabindex="-1">{view}</main>
        <footer class="bottom">
            <p>{t!(common_privacy)}</p>
            <document::FooterLinks />
            <div class="choices">
                <language::LanguageChoice />
                <language::ThemeChoice />
            </div>
            <p>{format!("Gradmark {}", env!("CARGO_PKG_VERSION"))}</p>
        </footer>
    }
}

#[component]
fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
            <rect class="mark-ground" width="32" height="32" rx="8" />
            <path class="mark-line" d="M7 7.5C9.5 20.5 14 23 25 24" />
            <circle class="mark-point" cx="25" cy="24" r="2.6" />
        </svg>
    }
}

#[component]
fn Unknown() -> impl IntoView {
    platform::set_title(t!(common_nothing_here));
    view! {
        <section class="sheet narrow">
            <h1>{t!(common_nothing_here)}</h1>
            <p>{t!(common_nothing_here_why)}</p>
            <p><a class="button quiet" href="/">{t!(common_to_start)}</a></p>
        </section>
    }
}
