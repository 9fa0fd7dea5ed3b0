//! What a command found, in whatever form it is wanted: for people or for programs.
//!
//! A format is a file here and a line in [`FORMATS`]; a command makes a [`Report`] and takes `--format` by [`parser`].

mod csv;
mod json_lines;
mod markdown;
mod terminal;

use std::fmt::Debug;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::Value;

use crate::failure::Failure;
use crate::screen::Screen;
use crate::table::Table;

/// A form of a report.
pub(crate) trait Format: Debug + Sync {
    /// As it is typed.
    fn name(&self) -> &'static str;

    /// The report in this form, without a line end behind the last line.
    ///
    /// # Errors
    /// A value that the form cannot hold.
    fn text(&self, report: &Report, screen: Screen) -> Result<String, Failure>;
}

/// Every form. The first is the usual one.
pub(crate) const FORMATS: [&dyn Format; 4] =
    [&terminal::Terminal, &markdown::Markdown, &csv::Csv, &json_lines::JsonLines];

/// What `--format` takes.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static dyn Format> {
    let names = PossibleValuesParser::new(FORMATS.map(Format::name));
    names.map(|name| *FORMATS.iter().find(|format| format.name() == name).expect("only these names are taken"))
}

/// What a command found.
pub(crate) struct Report {
    /// The whole in a sentence.
    pub(crate) headline: Note,
    /// For people.
    pub(crate) sections: Vec<Section>,
    /// For programs.
    pub(crate) sheet: Sheet,
}

/// A table with what there is to say about it.
pub(crate) struct Section {
    pub(crate) title: String,
    /// What holds for the whole of it; may be empty.
    pub(crate) conditions: String,
    pub(crate) table: Option<Table>,
    pub(crate) notes: Vec<Note>,
    /// Whether it is only for those who want to know more.
    pub(crate) is_detail: bool,
}

pub(crate) struct Note {
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

/// What a note means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Good,
    Bad,
    /// Nobody knows.
    Open,
    /// Something to know before the figures are believed.
    Careful,
    Plain,
}

/// Values under names with their units, unrounded.
pub(crate) struct Sheet {
    pub(crate) columns: Vec<String>,
    /// Each as long as the names; `null` where there is no value.
    pub(crate) rows: Vec<Vec<Value>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::table::Column;

    fn report() -> Report {
        let column =
            |name: &str, cells: [&str; 2]| Column { name: name.to_owned(), cells: cells.map(str::to_owned).to_vec() };
        Report {
            headline: Note { mark: Mark::Bad, text: "One of two is slower.".to_owned() },
            sections: vec![
                Section {
                    title: "head against base".to_owned(),
                    conditions: "3 runs each".to_owned(),
                    table: Some(Table {
                        titles: vec!["a|b".to_owned(), "<script>".to_owned()],
                        columns: vec![column("ratio", ["0.9", "1.0"]), column("time\ns", ["1", "–"])],
                    }),
                    notes: vec![Note { mark: Mark::Open, text: "a_b *may* be slower".to_owned() }],
                    is_detail: false,
                },
                Section {
                    title: "More".to_owned(),
                    conditions: String::new(),
                    table: None,
                    notes: vec![Note { mark: Mark::Plain, text: "driver: 1 → 2".to_owned() }],
                    is_detail: true,
                },
            ],
            sheet: Sheet {
                columns: ["name", "ratio", "fails"].map(str::to_owned).to_vec(),
                rows: vec![
                    vec![json!("=a, \"b\""), json!(0.25), json!(true)],
                    vec![json!("c"), Value::Null, json!(false)],
                ],
            },
        }
    }

    fn text(name: &str) -> String {
        let format = FORMATS.iter().find(|format| format.name() == name).unwrap();
        console::strip_ansi_codes(&format.text(&report(), Screen::Output).unwrap()).into_owned()
    }

    #[test]
    fn a_terminal_shows_tables_and_notes_and_ends_with_the_headline() {
        let expected = "\
head against base  3 runs each

          ratio  time
                    s
─────────────────────
a|b         0.9     1
<script>    1.0     –

? a_b *may* be slower

More

  driver: 1 → 2

✗ One of two is slower.";
        let found: Vec<String> = text("table").lines().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(found.join("\n"), expected);
    }

    #[test]
    fn markdown_begins_with_the_headline_folds_details_and_shows_every_letter_as_it_is() {
        let expected = "\
### ❌ One of two is slower.

**head against base** · 3 runs each

| | ratio | time s |
|---|---:|---:|
| a\\|b | 0.9 | 1 |
| &lt;script&gt; | 1.0 | – |

- ❔ a\\_b \\*may\\* be slower

<details><summary>More</summary>

- driver: 1 → 2

</details>";
        assert_eq!(text("markdown"), expected);
    }

    #[test]
    fn programs_get_whole_numbers_and_what_is_absent_is_empty_or_null() {
        assert_eq!(text("csv"), "name,ratio,fails\n\"'=a, \"\"b\"\"\",0.25,true\nc,,false");
        let expected = "{\"name\":\"=a, \\\"b\\\"\",\"ratio\":0.25,\"fails\":true}\n{\"name\":\"c\",\"ratio\":null,\"fails\":false}";
        assert_eq!(text("json-lines"), expected);
    }
}
