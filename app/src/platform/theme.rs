//! Light or dark, as somebody chose in this browser.

use serde::{Deserialize, Serialize};

use super::storage::{keep, kept};
use super::window;
use crate::t;

const KEY: &str = "gradmark.theme";
/// The style sheet goes by it.
const ATTRIBUTE: &str = "data-theme";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Theme {
    /// What the system likes.
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::System => t!(common_colours_system),
            Self::Light => t!(common_colours_light),
            Self::Dark => t!(common_colours_dark),
        }
    }
}

/// The one that was chosen; the system's in a browser that keeps nothing.
pub(crate) fn theme() -> Theme {
    kept(KEY).unwrap_or(Theme::System)
}

pub(crate) fn keep_theme(theme: Theme) {
    keep(KEY, &theme);
}

pub(crate) fn show_theme(theme: Theme) {
    let Some(root) = window().document().and_then(|document| document.document_element()) else { return };
    // An element takes every attribute of a plain name.
    drop(match theme {
        Theme::System => root.remove_attribute(ATTRIBUTE),
        chosen => root.set_attribute(ATTRIBUTE, chosen.name()),
    });
}
