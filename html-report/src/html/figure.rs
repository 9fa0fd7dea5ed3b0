use maud::{Markup, html};

use super::table::{download, sheet};
use crate::plot::{Figure, bars, draw};

/// A drawing with its caption, its values and their CSV.
pub(super) fn figure(figure: &Figure, id: &str) -> Markup {
    let description = figure.description();
    let values = figure.sheet();
    html! {
        figure {
            figcaption { strong { (figure.title()) } span { (figure.note()) } }
            @match figure {
                Figure::Plot(plot) => (draw::draw(plot, id, &description)),
                Figure::Bars(bars) => (bars::draw(bars, id, &description)),
            }
            details {
                summary { "Values" }
                (sheet(&values, figure.title()))
                (download(&values, figure.title()))
            }
        }
    }
}
