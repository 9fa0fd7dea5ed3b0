use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::{Chapter, Circumstances, EXAMINATIONS, Finding, Severity, Verdict};

/// Version of the layout of [`Report`].
const SCHEMA_VERSION: u32 = 1;

/// Everything that the doctor found.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(super) schema_version: u32,
    pub(super) engine_version: &'static str,
    pub(super) commit: &'static str,
    pub(super) examined_unix_seconds: f64,
    pub(super) sections: Vec<Section>,
    pub(super) verdict: Verdict,
}

#[derive(Debug, Serialize)]
pub(super) struct Section {
    pub(super) name: Chapter,
    pub(super) findings: Vec<Finding>,
}

impl Report {
    /// Looks at everything, and says beforehand what it looks at.
    pub(crate) fn make(circumstances: &mut Circumstances<'_>) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        for examination in EXAMINATIONS {
            circumstances.say(examination.title);
            let findings = (examination.examine)(circumstances);
            match sections.last_mut() {
                Some(section) if section.name == examination.chapter => section.findings.extend(findings),
                _ => sections.push(Section { name: examination.chapter, findings }),
            }
        }
        sections.retain(|section| !section.findings.is_empty());
        circumstances.finish();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            schema_version: SCHEMA_VERSION,
            engine_version: env!("CARGO_PKG_VERSION"),
            commit: env!("GRADMARK_COMMIT"),
            // A clock that was set before 1970 tells nothing.
            examined_unix_seconds: now.map_or(0.0, |since| since.as_secs_f64()),
            sections,
            verdict: Verdict::of(circumstances),
        }
    }

    /// Whether anything at all can be trained as it was asked for.
    pub(crate) fn trains(&self) -> bool {
        self.verdict.trains
    }

    pub(crate) fn verdict(&self) -> &str {
        &self.verdict.sentence
    }

    pub(super) fn count(&self, severity: Severity) -> usize {
        let findings = self.sections.iter().flat_map(|section| &section.findings);
        findings.filter(|finding| finding.severity == severity).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examinations_of_a_chapter_follow_each_other() {
        let mut chapters: Vec<Chapter> = EXAMINATIONS.iter().map(|examination| examination.chapter).collect();
        chapters.dedup();
        for (place, chapter) in chapters.iter().enumerate() {
            assert!(!chapters[..place].contains(chapter), "{chapter:?} is there twice");
        }
    }
}
