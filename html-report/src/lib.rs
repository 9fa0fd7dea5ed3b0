//! Reports on any number of runs, as one HTML file without dependencies: tables, plots, and computed findings.
//!
//! [`Report::of`] creates a [`Report`] from an [`Input`]: sections of tables, plots and findings, as data that tests
//! can check. [`Report::html`] renders it, with plots as SVG and their values as CSV. The same input gives the same
//! bytes. Nothing here does I/O or reads a clock.
//!
//! Runs that differ only in their seed are a *group* ([`group`]), the unit of all tables, plots and findings. Published
//! results ([`published`]) have separate names and are never mixed with groups.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

mod difference;
mod draw;
mod finding;
mod findings;
mod group;
mod html;
mod input;
mod kernels;
mod lines;
mod plot;
mod published;
mod scale;
mod sections;
mod table;
#[cfg(test)]
mod testing;
mod text;

pub use finding::{Finding, Kind};
pub use html::is_own;
pub use input::{Entry, Input, Kernels, Study, Trouble};
pub use kernels::published_kernel_sizes;
pub use published::published_workloads;

/// Report on runs.
pub struct Report {
    document: html::Document,
    findings: Vec<Finding>,
}

impl Report {
    /// Creates the report of these runs.
    pub fn of(input: &Input) -> Self {
        let gathered = group::GatheredRuns::of(input);
        let findings = findings::all(&gathered);
        Self { document: sections::document(&gathered, &findings), findings }
    }

    /// Returns the findings, in the order of the report.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the whole report as one HTML file.
    pub fn html(&self) -> String {
        html::page(&self.document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, input, study};
    use results::Outcome;

    /// Returns a report with a section of each kind, and device names that contain markup.
    fn example() -> String {
        let device = "<script>alert(1)</script> \"&'";
        let made = |batch: u32, seed| {
            let steps = 60_000 / u64::from(batch) * 2;
            let made = Made::new("caffe-mnist").device(device).batch_size(batch).seed(seed).steps(steps);
            let made = made.trained_epochs(2).accuracies(&[0.9, 0.98]);
            made.cold_start([None, Some(2.0), None, None, Some(0.5)])
        };
        let mut input = input(vec![
            made(60, 1).record(),
            made(60, 2).record(),
            made(600, 1).record(),
            made(600, 2).threads(2).record(),
            made(60, 3).learning_rate(9.0).outcome(Outcome::Diverged { step: 3 }).record(),
        ]);
        input.title = "</title><script src=\"https://example.com/x.js\"></script>".to_owned();
        input.studies = vec![study()];
        input.studies[0].description = "<img src=x onerror=alert(1)>".to_owned();
        Report::of(&input).html()
    }

    #[test]
    fn markup_in_names_is_escaped() {
        let page = example();
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the name is shown");
        for part in ["<script", "<img", "onerror=alert(1)>"] {
            assert!(!page.contains(part), "`{part}` is markup");
        }
    }

    #[test]
    fn files_load_nothing() {
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
    fn links_have_targets_and_ids_are_unique() {
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
    fn drawings_have_descriptions_and_tables() {
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
    fn tables_have_captions_and_scopes() {
        let page = example();
        assert_eq!(page.matches("<table").count(), page.matches("<caption").count());
        assert!(page.contains("<th scope=\"col\"") && page.contains("<th scope=\"row\""));
    }

    #[test]
    fn reports_are_recognized_and_reproducible() {
        let page = example();
        assert!(is_own(page.as_bytes()) && !is_own(b"<!DOCTYPE html><title>mine</title>"));
        assert_eq!(page, example());
    }
}
