//! Reports on any number of runs, as one HTML file without dependencies: tables, plots, and computed findings.
//!
//! [`Report::of`] turns an [`Input`] into sections of tables, plots and findings, as data that tests can check, and
//! renders them, with plots as SVG and their values as CSV. The same input gives the same bytes. Nothing here does I/O
//! or reads a clock.
//!
//! Runs that differ only in their seed are a *group* ([`group`]), the unit of all tables, plots and findings. Published
//! results ([`published`]) have separate names and are never mixed with groups.

mod difference;
mod findings;
mod group;
mod html;
mod input;
mod kernels;
mod lines;
mod plot;
mod published;
mod sections;
mod table;
#[cfg(test)]
mod testing;

pub use findings::{Finding, Kind};
pub use html::is_own;
pub use input::{Input, ReportEntry, Study, Trouble};
pub use kernels::published_kernel_sizes;
pub use published::published_workloads;

pub struct Report {
    pub findings: Vec<Finding>,
    pub html: String,
}

impl Report {
    pub fn of(input: &Input) -> Self {
        let gathered = input::GatheredRuns::of(input);
        let findings = findings::all(&gathered);
        let html = html::page(&input.title, &sections::lead(&gathered), &sections::all(&gathered, &findings));
        Self { findings, html }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::report::testing::{MadeRun, input, study};
    use results::Outcome;

    /// Returns a report with a section of each kind, and device names that contain markup.
    fn example() -> String {
        let device = "<script>alert(1)</script> \"&'";
        let made = |batch: u32, seed| {
            let steps = 60_000 / u64::from(batch) * 2;
            let made = MadeRun::new("caffe-mnist").device(device).batch_size(batch).seed(seed).steps(steps);
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
        Report::of(&input).html
    }

    /// Returns the values of all attributes of this name.
    fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
        let start = format!(" {attribute}=\"");
        page.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
    }

    #[test]
    fn names_are_escaped_and_files_load_nothing() {
        let page = example();
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the name is shown");
        for part in ["<script", "<img", "onerror=alert(1)>", "@import"] {
            assert!(!page.contains(part), "`{part}` is markup");
        }
        for attribute in ["src", "srcset", "poster", "action", "xlink:href"] {
            assert_eq!(values(&page, attribute), [""; 0], "{attribute}");
        }
        let is_inside = |target: &&str| target.starts_with('#') || target.starts_with("data:text/csv;");
        assert!(values(&page, "href").iter().all(is_inside));
        assert!(page.split("url(").skip(1).all(|target| target.starts_with('#')));
    }

    #[test]
    fn links_have_targets_and_ids_are_unique() {
        let page = example();
        let ids = values(&page, "id");
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        let links = values(&page, "href").into_iter().filter_map(|target| target.strip_prefix('#'));
        let labels = ["aria-labelledby", "aria-describedby"].map(|attribute| values(&page, attribute)).concat();
        for target in links.chain(labels) {
            assert!(unique.contains(target), "#{target}");
        }
    }

    #[test]
    fn drawings_and_tables_are_described() {
        let page = example();
        let figures: Vec<&str> =
            page.split("<figure>").skip(1).map(|rest| rest.split("</figure>").next().unwrap()).collect();
        assert!(figures.len() >= 8, "{}", figures.len());
        assert_eq!(page.matches("<svg role=\"img\"").count(), figures.len());
        for figure in figures {
            for part in ["<desc ", "<title ", "<details", "data:text/csv", "download=\"", "<table"] {
                assert!(figure.contains(part), "{part} is missing in {}", &figure[..figure.len().min(300)]);
            }
        }
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
