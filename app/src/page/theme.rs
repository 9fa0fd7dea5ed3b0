//! Light or dark.

use leptos::prelude::*;

use super::select::select;
use crate::platform::{self, Theme};
use crate::t;

/// What the system likes, unless somebody chooses; remembered in this browser.
#[component]
pub(super) fn ThemeChoice() -> impl IntoView {
    let chosen = RwSignal::new(platform::theme());
    Effect::new(move |before: Option<Theme>| {
        let now = chosen.get();
        if before.is_some_and(|before| before != now) {
            platform::keep_theme(now);
            platform::show_theme(now);
        }
        now
    });
    let titles = Theme::ALL.map(|theme| (theme, theme.title().to_owned())).to_vec();
    view! { <div id="theme">{select(t!(common_colours), titles, chosen)}</div> }
}
