//! Report as one HTML file, with no scripts, no external resources, and all text escaped.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report::findings::Finding;
use crate::report::plot::Figure;
use crate::report::table::{Table, briefly, data_url};
use crate::table::{Sheet, SheetCell};

const STYLE: &str = include_str!("style.css");
/// Name of the generator in the file. A file with this name may be overwritten.
const GENERATOR: &str = "Gradmark native-runner report";
/// Number of bytes at the beginning of a file that contain the generator.
const HEAD_BYTES: usize = 2000;
/// Policy that limits the damage of escaping errors: no scripts, and no external resources.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns true if the file is a report from this program.
pub fn is_own(file: &[u8]) -> bool {
    let head = &file[..file.len().min(HEAD_BYTES)];
    String::from_utf8_lossy(head).contains(&format!("content=\"{GENERATOR}\""))
}

pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) blocks: Vec<ReportBlock>,
}

impl Section {
    pub(crate) fn new(title: &str, blocks: Vec<ReportBlock>) -> Self {
        Self { title: title.to_owned(), blocks }
    }
}

pub(crate) enum ReportBlock {
    Heading(&'static str),
    Text(String),
    /// Terms with their descriptions.
    Pairs(Vec<(&'static str, String)>),
    Findings(Vec<Finding>),
    Table(Table),
    Figures(Vec<Figure>),
}

/// Returns the report; `lead` has the paragraphs before the sections.
pub(crate) fn page(title: &str, lead: &[String], sections: &[Section]) -> String {
    let mut figures = 0;
    let contents: Vec<Markup> = sections.iter().map(|section| section_of(section, &mut figures)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(GENERATOR);
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Gradmark" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the report" }
                header {
                    p class="mark" { "Gradmark · report" }
                    h1 { (title) }
                    @for text in lead { p { (text) } }
                }
                nav aria-label="Contents" {
                    h2 { "Contents" }
                    ol { @for section in sections { li { a href=(format!("#{}", id(&section.title))) { (section.title) } } } }
                }
                main id="main" tabindex="-1" { @for content in contents { (content) } }
                footer { p { "Made by " code { "native-runner report" } ". The file is self-contained." } }
            }
        }
    };
    page.into_string()
}

fn section_of(section: &Section, figures: &mut usize) -> Markup {
    let id = id(&section.title);
    let heading = format!("{id}-heading");
    html! {
        section id=(id) aria-labelledby=(heading) {
            h2 id=(heading) { (section.title) }
            @for block in &section.blocks { (block_of(block, figures)) }
        }
    }
}

fn block_of(block: &ReportBlock, figures: &mut usize) -> Markup {
    match block {
        ReportBlock::Heading(text) => html! { h3 { (text) } },
        ReportBlock::Text(text) => html! { p { (text) } },
        ReportBlock::Pairs(pairs) => html! {
            dl { @for (name, text) in pairs { dt id=(format!("rule-{}", slug(name))) { (name) } dd { (text) } } }
        },
        ReportBlock::Findings(findings) => {
            html! { ul class="findings" { @for found in findings { (finding(found)) } } }
        }
        ReportBlock::Table(table) => table_of(table),
        ReportBlock::Figures(all) => html! {
            div class="figures" {
                @for figure in all {
                    @let number = { *figures += 1; *figures };
                    (figure_of(figure, &format!("figure-{number}")))
                }
            }
        },
    }
}

fn finding(found: &Finding) -> Markup {
    html! {
        li class=(found.kind.name()) {
            p { strong class="kind" { (found.kind.name()) } " " (found.text) }
            @if !found.numbers.is_empty() {
                details {
                    summary { "Details" }
                    ul { @for line in &found.numbers { li { (line) } } }
                    p class="by" { "Rule: " a href=(format!("#rule-{}", slug(found.rule))) { (found.rule) } }
                }
            }
        }
    }
}

fn id(title: &str) -> String {
    format!("section-{}", slug(title))
}

/// Replaces all characters except letters and digits with hyphens.
fn slug(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    text.chars().map(plain).collect()
}

/// Width of a figure in user units; it scales with the page.
const FIGURE_WIDTH: f64 = 460.0;
/// Largest number of rows of a sheet to show.
const MAX_SHOWN_ROWS: usize = 60;

/// Renders a table. Each head and cell says if it is a number.
fn grid(class: &str, caption: &str, heads: &[(&str, bool)], rows: impl Iterator<Item = Vec<(String, bool)>>) -> Markup {
    let class_of = |is_number: bool| is_number.then_some("number");
    html! {
        div class="scroll" role="region" tabindex="0" aria-label=(caption) {
            table class=[Some(class).filter(|class| !class.is_empty())] {
                caption { (caption) }
                thead { tr { @for (title, is_number) in heads { th scope="col" class=[class_of(*is_number)] { (title) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (place, (cell, is_number)) in row.iter().enumerate() {
                                @if place == 0 { th scope="row" class=[class_of(*is_number)] { (cell) } }
                                @else { td class=[class_of(*is_number)] { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn table_of(table: &Table) -> Markup {
    let heads = &table.heads;
    let cells = |row: &Vec<String>| row.iter().cloned().zip(heads.iter().map(|head| head.1)).collect();
    let whole = html! {
        (grid("", &table.caption, heads, table.rows.iter().map(cells)))
        (download(&table.sheet, &table.caption))
    };
    html! {
        @if table.is_folded { details class="folded" { summary { (table.caption) } (whole) } } @else { (whole) }
    }
}

fn download(sheet: &Sheet, name: &str) -> Markup {
    let name: String = slug(name).chars().take(60).collect();
    html! { p class="csv" { a download=(format!("{}.csv", name.trim_end_matches('-'))) href=(data_url(sheet)) { "Download as CSV" } } }
}

fn sheet_of(sheet: &Sheet, title: &str) -> Markup {
    let rest = match sheet.rows.len() {
        ..=MAX_SHOWN_ROWS => String::new(),
        rows => format!(", the first {MAX_SHOWN_ROWS} of {rows} values"),
    };
    let heads: Vec<(&str, bool)> = sheet.columns.iter().map(|name| (name.as_str(), false)).collect();
    let cell = |cell: &SheetCell| (briefly(cell), matches!(cell, SheetCell::Number(_) | SheetCell::Whole(_)));
    let rows = sheet.rows.iter().take(MAX_SHOWN_ROWS).map(|row| row.iter().map(cell).collect());
    grid("values", &format!("Values of: {title}{rest}"), &heads, rows)
}

fn figure_of(figure: &Figure, id: &str) -> Markup {
    let values = figure.sheet();
    let (height, content) = figure.chart.draw(FIGURE_WIDTH, id);
    let (title, description) = (format!("{id}-title"), format!("{id}-description"));
    let view_box = format!("0 0 {FIGURE_WIDTH} {height}");
    html! {
        figure {
            figcaption { strong { (figure.title) } span { (figure.note) } }
            svg role="img" viewBox=(view_box) aria-labelledby=(title) aria-describedby=(description) {
                title id=(title) { (figure.title) }
                desc id=(description) { (figure.description()) }
                (content)
            }
            details {
                summary { "Values" }
                (sheet_of(&values, &figure.title))
                (download(&values, &figure.title))
            }
        }
    }
}
