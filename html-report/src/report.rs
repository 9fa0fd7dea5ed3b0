//! A report as data: sections of text, tables, figures and findings.

use crate::csv::Sheet;
use crate::findings::{self, Finding};
use crate::gathered::Gathered;
use crate::input::Input;
use crate::plot::Figure;
use crate::{html, sections};

/// What there is to say about runs.
pub struct Report {
    pub(crate) title: String,
    /// What it is about, before everything else.
    pub(crate) lead: Vec<String>,
    pub(crate) sections: Vec<Section>,
    findings: Vec<Finding>,
}

pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// A part of a section.
pub(crate) enum Block {
    Heading(String),
    Text(String),
    /// Names with what they stand for.
    Pairs(Vec<(String, String)>),
    Findings(Vec<Finding>),
    Table(Table),
    Figures(Vec<Figure>),
}

/// Figures as people read them, with the same unrounded.
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    /// Each as long as the columns; the first cell says what the row is about.
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) sheet: Sheet,
    /// Whether it is only for those who want to know more.
    pub(crate) is_folded: bool,
}

pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) is_number: bool,
}

impl Column {
    pub(crate) fn text(title: &str) -> Self {
        Self { title: title.to_owned(), is_number: false }
    }

    pub(crate) fn number(title: &str) -> Self {
        Self { title: title.to_owned(), is_number: true }
    }
}

impl Report {
    /// Everything that these runs say.
    pub fn of(input: &Input) -> Self {
        let gathered = Gathered::of(input);
        let findings = findings::all(&gathered);
        Self {
            title: input.title.clone(),
            lead: sections::lead(&gathered),
            sections: sections::all(&gathered, &findings),
            findings,
        }
    }

    /// What the rules found, in the order of the report.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The whole as one file that needs no other.
    pub fn html(&self) -> String {
        html::page(self)
    }
}
