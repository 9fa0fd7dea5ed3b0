//! Headings of a document, with the anchors by which links reach them.

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) level: HeadingLevel,
    pub(super) text: String,
    /// Anchor, without the `#`.
    pub(super) id: String,
}

/// Headings of a document, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Headings(pub(super) Vec<Heading>);

impl Headings {
    pub(super) fn parse(text: &str) -> Self {
        let mut headings: Vec<Heading> = Vec::new();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut inside: Option<(HeadingLevel, String)> = None;
        for event in super::fragment::events(text) {
            match (event, &mut inside) {
                (Event::Start(Tag::Heading { level, .. }), _) => inside = Some((level, String::new())),
                (Event::Text(part) | Event::Code(part), Some((_, text))) => text.push_str(&part),
                (Event::SoftBreak, Some((_, text))) => text.push(' '),
                (Event::End(TagEnd::Heading(_)), _) => {
                    if let Some((level, text)) = inside.take() {
                        let id = unique(id(&text), &mut seen);
                        headings.push(Heading { level, text, id });
                    }
                }
                _ => {}
            }
        }
        Self(headings)
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|heading| heading.id == id)
    }

    /// Number of titles. A document has one.
    pub(super) fn titles(&self) -> usize {
        self.0.iter().filter(|heading| heading.level == HeadingLevel::H1).count()
    }
}

/// Anchor as GitHub makes it: lower case, hyphens for spaces, and only letters, digits, hyphens and underscores.
fn id(text: &str) -> String {
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The second of the same name ends in `-1`, the third in `-2`.
fn unique(id: String, seen: &mut BTreeMap<String, u32>) -> String {
    let times = seen.entry(id.clone()).or_default();
    let unique = if *times == 0 { id } else { format!("{id}-{times}") };
    *times += 1;
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_github() {
        let ids = |text: &str| Headings::parse(text).0.into_iter().map(|heading| heading.id).collect::<Vec<_>>();
        assert_eq!(ids("# Targets here, and why most are missed"), ["targets-here-and-why-most-are-missed"]);
        assert_eq!(ids("## 1. The `archive`\n\n## Limits\n\n## Limits\n"), ["1-the-archive", "limits", "limits-1"]);
        assert_eq!(ids("no heading\n\n```\n# a comment\n```\n"), [""; 0]);
    }
}
