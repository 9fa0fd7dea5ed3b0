use maud::{Markup, html};

use super::slug;
use crate::csv::{Sheet, Value};
use crate::report::Table;

/// More rows than this are only in the CSV.
const MOST_ROWS: usize = 60;

/// A table of figures as people read them, with the same unrounded as CSV.
pub(super) fn table(table: &Table) -> Markup {
    let whole = html! {
        div class="scroll" role="region" tabindex="0" aria-label=(table.caption) {
            table {
                caption { (table.caption) }
                thead {
                    tr { @for column in &table.columns { th scope="col" class=[column.is_number.then_some("number")] { (column.title) } } }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (cell, column) in row.iter().zip(&table.columns).take(1) {
                                th scope="row" class=[column.is_number.then_some("number")] { (cell) }
                            }
                            @for (cell, column) in row.iter().zip(&table.columns).skip(1) {
                                td class=[column.is_number.then_some("number")] { (cell) }
                            }
                        }
                    }
                }
            }
        }
        (download(&table.sheet, &table.caption))
    };
    if table.is_folded {
        return html! { details class="folded" { summary { (table.caption) } (whole) } };
    }
    whole
}

/// A link that holds the whole sheet.
pub(super) fn download(sheet: &Sheet, name: &str) -> Markup {
    let name: String = slug(name).chars().take(60).collect();
    html! { p class="csv" { a download=(format!("{}.csv", name.trim_end_matches('-'))) href=(sheet.data_url()) { "Download as CSV" } } }
}

/// The first rows of a sheet.
pub(super) fn sheet(sheet: &Sheet, caption: &str) -> Markup {
    let left_out = sheet.rows.len().saturating_sub(MOST_ROWS);
    html! {
        div class="scroll" role="region" tabindex="0" aria-label=(format!("Values of: {caption}")) {
            table class="values" {
                caption { (caption) @if left_out > 0 { ", the first " (MOST_ROWS) " of " (sheet.rows.len()) " values" } }
                thead { tr { @for name in &sheet.columns { th scope="col" { (name) } } } }
                tbody {
                    @for row in sheet.rows.iter().take(MOST_ROWS) {
                        tr {
                            @for value in row.iter().take(1) { th scope="row" { (shown(value)) } }
                            @for value in row.iter().skip(1) { td class=[is_number(value).then_some("number")] { (shown(value)) } }
                        }
                    }
                }
            }
        }
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Number(_))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => {
            let decimals = if number.abs() >= 100.0 {
                1
            } else if number.abs() >= 1.0 {
                3
            } else {
                6
            };
            crate::text::trimmed(*number, decimals)
        }
        Value::Empty => String::new(),
    }
}
