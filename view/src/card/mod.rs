//! Pictures of results for link previews, as SVG.

mod layout;
mod pen;
mod words;

pub use layout::{SIZE, colour, curve_path, svg};
pub use pen::{LOGO, Letters, REGULAR, SEMI_BOLD};
pub use words::{Card, CardFigures, CardResult, CardWorkload, ShownDevice};

/// Card of the start page: its headline, and a falling loss curve.
pub const START: &str = include_str!("start.svg");
