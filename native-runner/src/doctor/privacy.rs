//! Removes names and folders of the user, so that a report can be published.

use std::env;

use serde_json::Value;
use sysinfo::System;

use crate::doctor::{Finding, Report, Section, Verdict};

/// Length below which a name is part of too many words to identify a person.
const MIN_NAME_LENGTH: usize = 3;

/// Replacements, in the order in which they are made.
#[derive(Debug, Default)]
pub(crate) struct Privacy {
    replaced: Vec<(String, &'static str)>,
}

impl Privacy {
    /// Returns replacements for the user's home folder, name and host.
    pub(crate) fn of_this_user() -> Self {
        let home = dirs::home_dir();
        let canonical = home.as_ref().and_then(|home| home.canonicalize().ok());
        let folder_name = home.as_ref().and_then(|home| Some(home.file_name()?.to_string_lossy().into_owned()));
        let variables = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| env::var(name).ok());
        let homes = canonical.into_iter().chain(home).map(|home| home.display().to_string());
        Self::of(homes, variables.chain(folder_name), System::host_name().ok())
    }

    fn of(homes: impl Iterator<Item = String>, users: impl Iterator<Item = String>, host: Option<String>) -> Self {
        // The root folder is no home.
        let homes = homes.filter(|home| home.len() > 1).map(|home| (home, "~"));
        let users = users.filter(|user| user.len() >= MIN_NAME_LENGTH);
        // Users have names that are words; in a path they are users.
        let users = users.flat_map(|user| [(format!("/{user}"), "/<user>"), (format!("\\{user}"), "\\<user>")]);
        let host =
            host.filter(|host| host.len() >= MIN_NAME_LENGTH && host != "localhost").map(|host| (host, "<host>"));
        Self { replaced: homes.chain(users).chain(host).collect() }
    }

    pub(crate) fn clean(&self, text: &str) -> String {
        self.replaced.iter().fold(text.to_owned(), |text, (name, instead)| replace_words(&text, name, instead))
    }

    fn clean_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.clean_value(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.clean(&name), self.clean_value(value))).collect()
            }
            other => other,
        }
    }

    pub(crate) fn clean_report(&self, report: Report) -> Report {
        let finding = |found: Finding| Finding {
            sentence: self.clean(&found.sentence),
            advice: found.advice.map(|advice| self.clean(&advice)),
            details: self.clean_value(found.details),
            ..found
        };
        let section =
            |section: Section| Section { findings: section.findings.into_iter().map(finding).collect(), ..section };
        let verdict = Verdict {
            sentence: self.clean(&report.verdict.sentence),
            command: report.verdict.command.map(|command| self.clean(&command)),
            ..report.verdict
        };
        Report { sections: report.sections.into_iter().map(section).collect(), verdict, ..report }
    }
}

/// Replaces `name` where it stands as separate words.
fn replace_words(text: &str, name: &str, instead: &str) -> String {
    let goes_on = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let mut cleaned = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let begins = !before.ends_with(|letter: char| goes_on(letter) || letter == '.');
        // A path in a path begins with its own slash.
        let begins = begins || instead.starts_with(['/', '\\']);
        let is_word = begins && !after.starts_with(goes_on);
        cleaned.push_str(before);
        cleaned.push_str(if is_word { instead } else { name });
        rest = after;
    }
    cleaned.push_str(rest);
    cleaned
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn privacy() -> Privacy {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>().into_iter();
        Privacy::of(owned(&["/home/ina", "/"]), owned(&["ina", "x"]), Some("tower".to_owned()))
    }

    #[test]
    fn home_user_and_host_are_replaced_as_whole_words() {
        for (told, kept) in [
            ("`/home/ina/data/a.bin` is missing", "`~/data/a.bin` is missing"),
            ("/home/ina", "~"),
            ("in /home/ina.", "in ~."),
            ("/home/ina2/x and /home/ina-b", "/home/ina2/x and /home/ina-b"),
            ("/srv/home/ina/x", "/srv/home/<user>/x"),
            ("/media/ina/disk", "/media/<user>/disk"),
            ("C:\\Users\\ina\\data", "C:\\Users\\<user>\\data"),
            ("http://tower:8080 at tower", "http://<host>:8080 at <host>"),
            ("towers in a china shop", "towers in a china shop"),
            ("/x/y", "/x/y"),
        ] {
            assert_eq!(privacy().clean(told), kept, "{told}");
        }
    }

    #[test]
    fn details_are_cleaned_however_deep_they_are() {
        let told = json!({ "files": [{ "/home/ina/a": "/home/ina/b" }], "count": 3 });
        assert_eq!(privacy().clean_value(told), json!({ "files": [{ "~/a": "~/b" }], "count": 3 }));
    }
}
