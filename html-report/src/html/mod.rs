//! A report as one HTML file: no script, nothing from elsewhere, and everything in it escaped.

mod figure;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::findings::{Finding, Kind};
use crate::report::{Block, Report, Section};

const STYLE: &str = include_str!("style.css");
/// Says whose file it is, so that it may be written anew.
const GENERATOR: &str = "Gradmark native-runner report";
/// The beginning of a file holds what says whose it is.
const HEAD_BYTES: usize = 2000;
/// Should anything ever slip through the escaping: nothing may run, and nothing be loaded.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Whether a file is a report that was written here.
pub fn is_own(file: &[u8]) -> bool {
    let head = &file[..file.len().min(HEAD_BYTES)];
    String::from_utf8_lossy(head).contains(&format!("content=\"{GENERATOR}\""))
}

/// The whole file.
pub(crate) fn page(report: &Report) -> String {
    let mut figures = 0;
    let sections: Vec<Markup> = report.sections.iter().map(|section| section_of(section, &mut figures)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(GENERATOR);
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (report.title) " · Gradmark" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the report" }
                header {
                    p class="mark" { "Gradmark · report" }
                    h1 { (report.title) }
                    @for text in &report.lead { p { (text) } }
                }
                nav aria-label="Contents" {
                    h2 { "Contents" }
                    ol { @for section in &report.sections { li { a href=(format!("#{}", id(&section.title))) { (section.title) } } } }
                }
                main id="main" tabindex="-1" { @for section in sections { (section) } }
                footer { p { "Made by " code { "native-runner report" } ". The file needs nothing else and can be sent as it is." } }
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

fn block_of(block: &Block, figures: &mut usize) -> Markup {
    match block {
        Block::Heading(text) => html! { h3 { (text) } },
        Block::Text(text) => html! { p { (text) } },
        Block::Pairs(pairs) => html! {
            dl { @for (name, text) in pairs { dt id=(format!("rule-{}", slug(name))) { (name) } dd { (text) } } }
        },
        Block::Findings(findings) => html! { ul class="findings" { @for found in findings { (finding(found)) } } },
        Block::Table(table) => table::table(table),
        Block::Figures(all) => html! {
            div class="figures" {
                @for figure in all {
                    @let number = { *figures += 1; *figures };
                    (figure::figure(figure, &format!("figure-{number}")))
                }
            }
        },
    }
}

fn finding(found: &Finding) -> Markup {
    let class = match found.kind {
        Kind::Caution => "caution",
        Kind::Difference => "difference",
        Kind::Tie => "tie",
        Kind::Undecided => "undecided",
        Kind::Figure => "plain",
        Kind::Published => "beside",
    };
    html! {
        li class=(class) {
            p { strong class="kind" { (found.kind.name()) } " " (found.text) }
            @if !found.numbers.is_empty() {
                details {
                    summary { "The numbers behind it" }
                    ul { @for line in &found.numbers { li { (line) } } }
                    p class="by" { "Rule: " a href=(format!("#rule-{}", slug(found.rule))) { (found.rule) } }
                }
            }
        }
    }
}

/// Where a section can be jumped to.
fn id(title: &str) -> String {
    format!("section-{}", slug(title))
}

/// Small letters and digits, with a hyphen for everything else.
fn slug(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Study;
    use crate::testing::{Made, input};
    use results::Outcome;

    /// A report with a section of every kind, of devices whose names are mark-up.
    fn example() -> String {
        let device = "<script>alert(1)</script> \"&'";
        let made = |batch: u32, seed| {
            let made = Made::new("caffe-mnist")
                .device(device)
                .batch_size(batch)
                .seed(seed)
                .steps(60_000 / u64::from(batch) * 2);
            made.non_standard(&["2 epochs"]).accuracies(&[0.9, 0.98]).cold_start([
                None,
                Some(2.0),
                None,
                None,
                Some(0.5),
            ])
        };
        let mut input = input(vec![
            made(60, 1).record(),
            made(60, 2).record(),
            made(600, 1).record(),
            made(600, 2).threads(2).record(),
            made(60, 3).learning_rate(9.0).outcome(Outcome::Diverged { step: 3 }).record(),
        ]);
        input.title = "</title><script src=\"https://example.com/x.js\"></script>".to_owned();
        input.studies = vec![Study {
            name: "s".to_owned(),
            title: "S".to_owned(),
            description: "<img src=x onerror=alert(1)>".to_owned(),
            repeats: None,
            differs: None,
            measures_kernels: false,
            scale: 0.5,
            planned_cells: 5,
            finished_cells: 5,
        }];
        Report::of(&input).html()
    }

    #[test]
    fn whatever_names_hold_is_text() {
        let page = example();
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the name is shown");
        for part in ["<script", "<img", "onerror=alert(1)>"] {
            assert!(!page.contains(part), "`{part}` is mark-up");
        }
    }

    #[test]
    fn the_file_needs_nothing_from_elsewhere() {
        let page = example();
        for attribute in ["src=\"", "srcset=\"", "poster=\"", "action=\"", "xlink:href=\""] {
            assert!(!page.contains(attribute), "{attribute}");
        }
        for (place, _) in page.match_indices("href=\"") {
            let target = &page[place + 6..];
            assert!(target.starts_with('#') || target.starts_with("data:text/csv;"), "{}", &target[..40]);
        }
        assert!(
            !page.contains("@import")
                && page.match_indices("url(").all(|(place, _)| page[place..].starts_with("url(#"))
        );
    }

    #[test]
    fn every_link_inside_leads_somewhere_and_no_name_is_given_twice() {
        let page = example();
        let ids: Vec<&str> =
            page.match_indices(" id=\"").map(|(place, _)| page[place + 5..].split('"').next().unwrap()).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for (place, _) in page.match_indices("href=\"#") {
            let target = page[place + 7..].split('"').next().unwrap();
            assert!(ids.contains(&target), "#{target}");
        }
        for attribute in ["aria-labelledby=\"", "aria-describedby=\""] {
            for (place, _) in page.match_indices(attribute) {
                let target = page[place + attribute.len()..].split('"').next().unwrap();
                assert!(ids.contains(&target), "{attribute}{target}");
            }
        }
    }

    #[test]
    fn every_drawing_has_words_and_a_table_with_its_csv() {
        let page = example();
        let drawings = page.matches("<svg role=\"img\"").count();
        assert!(drawings >= 8, "{drawings}");
        assert_eq!(page.matches("<figure").count(), drawings);
        let figures: Vec<&str> =
            page.split("<figure").skip(1).map(|rest| rest.split("</figure>").next().unwrap()).collect();
        for figure in figures {
            for part in ["<desc ", "<title ", "<details", "data:text/csv", "download=\"", "<table"] {
                assert!(figure.contains(part), "{part} is missing in {}", &figure[..figure.len().min(300)]);
            }
        }
    }

    #[test]
    fn tables_have_captions_and_say_what_their_heads_are_of() {
        let page = example();
        assert_eq!(page.matches("<table").count(), page.matches("<caption").count());
        assert!(page.contains("<th scope=\"col\"") && page.contains("<th scope=\"row\""));
    }

    #[test]
    fn a_report_knows_its_own_file_and_is_the_same_each_time() {
        let page = example();
        assert!(is_own(page.as_bytes()) && !is_own(b"<!DOCTYPE html><title>mine</title>"));
        assert_eq!(page, example());
    }
}
