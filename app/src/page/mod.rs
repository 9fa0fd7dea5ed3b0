//! Views of the page.

mod chart;
mod choices;
mod compare;
mod comparing;
mod delete;
mod device;
mod document;
mod draw;
mod language;
mod leaderboard;
mod moderation;
mod parts;
mod places;
mod report;
mod result;
mod run;
mod running;
mod runs;
mod side_by_side;
mod speedrun;
mod start;
mod state;
mod write;

use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::platform;
use crate::route::{COMPARE, LEADERBOARD, Route, SPEEDRUN, StoredKind, route};
use crate::t;

const KEEP_AFTER: Duration = Duration::from_secs(3);

/// Mounts the page in place of the text in index.html.
pub fn mount() {
    console_error_panic_hook::set_once();
    platform::show_theme(platform::theme());
    let root = platform::document().get_element_by_id("page").expect("index.html has the page's place");
    root.set_text_content(None);
    mount_to(root.unchecked_into(), || language::in_chosen_language(whole_page)).forget();
    // Wait until the page is visible: caching it for later must not delay it now.
    set_timeout(platform::keep_page, KEEP_AFTER);
}

fn whole_page() -> impl IntoView {
    // Default title, which most pages replace.
    platform::document().set_title(t!(start_page_title));
    let view = match route(&platform::path()) {
        Route::Start => start::start_page().into_any(),
        Route::Compare => compare::compare_page().into_any(),
        Route::Leaderboard => leaderboard::leaderboard_page().into_any(),
        Route::Speedrun => speedrun::speedrun_page().into_any(),
        Route::Devices => device::devices_page().into_any(),
        Route::File => result::file_page().into_any(),
        Route::SideBySide => side_by_side::side_by_side_page().into_any(),
        Route::Stored(StoredKind::Run, id) => result::result_page(id).into_any(),
        Route::Stored(StoredKind::Device, key) => device::device_page(key).into_any(),
        Route::Stored(StoredKind::Comparison, id) => compare::comparison_page(id).into_any(),
        Route::Moderation => moderation::moderation_page().into_any(),
        Route::Documents => document::documents_page().into_any(),
        Route::Document(name) => document::document_page(name).into_any(),
        Route::Delete(kind, id) => delete::delete_page(id, kind).into_any(),
        Route::Unknown => {
            platform::set_title(t!(common_nothing_here));
            let why = t!(common_nothing_here_why).to_owned();
            parts::notice(t!(common_nothing_here), why, "/", t!(common_to_start))
        }
    };
    let pages = [(COMPARE, t!(common_compare)), (LEADERBOARD, t!(common_leaderboard)), (SPEEDRUN, t!(speedrun_title))];
    view! {
        <a class="skip" href="#main">{t!(common_skip)}</a>
        <header class="top">
            <a class="brand" href="/">
                <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
                    <rect class="mark-ground" width="32" height="32" rx="8" />
                    <path class="mark-line" d="M7 7.5C9.5 20.5 14 23 25 24" />
                    <circle class="mark-point" cx="25" cy="24" r="2.6" />
                </svg>
                <span>"Gradmark"</span>
            </a>
            <nav aria-label=t!(common_pages)>
                {pages.map(|(address, title)| {
                    let current = (platform::path() == address).then_some("page");
                    view! { <a href=address aria-current=current>{title}</a> }
                })}
            </nav>
        </header>
        <main id="main" tabindex="-1">{view}</main>
        <footer class="bottom">
            <p>{t!(common_privacy)}</p>
            {document::footer_links()}
            <div class="choices">
                {language::language_choice()}
                {theme_choice()}
            </div>
            <p>{format!("Gradmark {}", env!("CARGO_PKG_VERSION"))}</p>
        </footer>
    }
}

fn theme_choice() -> impl IntoView {
    let choose = |theme| {
        platform::keep(platform::THEME_KEY, &theme);
        platform::show_theme(theme);
    };
    let titles = platform::THEMES.map(|(name, title)| (name, title.text().to_owned())).to_vec();
    view! { <div id="theme">{parts::select(t!(common_colours), titles, platform::theme(), choose)}</div> }
}
