//! The machine's own list of package sources, read only to enable one more suite beside the one it already uses.

use std::fs;
use std::path::Path;

/// One source of Debian packages, from a one-line `.list` or a `.sources` stanza.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AptSource {
    pub uri: String,
    pub suites: Vec<String>,
    pub components: Vec<String>,
    /// The key file, where one is named. A key written into the stanza itself is not repeated.
    pub signed_by: Option<String>,
}

/// All sources below an `/etc/apt`. What cannot be read counts as absent: apt itself will complain in more detail.
pub(super) fn sources(etc_apt: &Path) -> Vec<AptSource> {
    let mut files = vec![etc_apt.join("sources.list")];
    if let Ok(entries) = fs::read_dir(etc_apt.join("sources.list.d")) {
        files.extend(entries.flatten().map(|entry| entry.path()));
    }
    files.sort();
    files
        .iter()
        .filter_map(|path| Some((path.extension()?.to_str()?.to_owned(), fs::read_to_string(path).ok()?)))
        .flat_map(|(extension, text)| match extension.as_str() {
            "list" => one_line_sources(&text),
            "sources" => stanza_sources(&text),
            _ => Vec::new(),
        })
        .collect()
}

/// `deb [signed-by=/key.gpg] uri suite component…`
fn one_line_sources(text: &str) -> Vec<AptSource> {
    text.lines().filter_map(one_line_source).collect()
}

fn one_line_source(line: &str) -> Option<AptSource> {
    let rest = line.split('#').next()?.trim().strip_prefix("deb ")?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(AptSource {
        uri: words.next()?,
        suites: vec![words.next()?],
        components: words.collect(),
        signed_by: options.split_whitespace().find_map(|option| option.strip_prefix("signed-by=")).map(str::to_owned),
    })
}

/// The deb822 form: paragraphs of `Field: words`, continued on lines that begin with a space.
fn stanza_sources(text: &str) -> Vec<AptSource> {
    text.split("\n\n").flat_map(stanza_source).collect()
}

fn stanza_source(stanza: &str) -> Vec<AptSource> {
    let mut fields: Vec<(String, Vec<String>)> = Vec::new();
    for line in stanza.lines().filter(|line| !line.starts_with('#')) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        if line.starts_with([' ', '\t']) {
            if let Some((_, values)) = fields.last_mut() {
                values.extend(words(line));
            }
        } else if let Some((name, values)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), words(values)));
        }
    }
    let field = |name: &str| {
        fields.iter().find(|(field, _)| field == name).map(|(_, values)| values.clone()).unwrap_or_default()
    };
    if !field("types").iter().any(|kind| kind == "deb") || field("enabled").iter().any(|value| value == "no") {
        return Vec::new();
    }
    let signed_by = field("signed-by").first().filter(|key| key.starts_with('/')).cloned();
    let source =
        |uri| AptSource { uri, suites: field("suites"), components: field("components"), signed_by: signed_by.clone() };
    field("uris").into_iter().map(source).collect()
}

/// Whether some source already offers the suite.
pub(super) fn offers(sources: &[AptSource], suite: &str) -> bool {
    sources.iter().any(|source| source.suites.iter().any(|offered| offered == suite))
}

/// The line that offers `codename-backports` from where the machine gets Debian itself.
pub(super) fn backports_line(sources: &[AptSource], codename: &str) -> Option<String> {
    let of_debian = |source: &&AptSource| {
        source.suites.iter().any(|suite| suite == codename) && source.components.iter().any(|part| part == "main")
    };
    // Other projects name their suites after Debian's releases too; Debian's own archive has Debian in its address.
    let source = sources
        .iter()
        .filter(of_debian)
        .find(|source| source.uri.contains("debian"))
        .or_else(|| sources.iter().find(of_debian))?;
    let key = source.signed_by.as_ref().map(|key| format!("[signed-by={key}] ")).unwrap_or_default();
    Some(format!("deb {key}{} {codename}-backports main", source.uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANZAS: &str = "Types: deb\n# a comment\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\nTypes: deb deb-src\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\nComponents: main\n\nTypes: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: bookworm-backports\nComponents: main\n";

    #[test]
    fn backports_come_from_where_the_machine_gets_debian_with_the_same_key() {
        let sources = stanza_sources(STANZAS);
        assert_eq!(sources.len(), 2, "a disabled source is none");
        assert!(!offers(&sources, "bookworm-backports"));
        assert_eq!(
            backports_line(&sources, "bookworm").unwrap(),
            "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian \
             bookworm-backports main"
        );
        assert_eq!(backports_line(&sources, "trixie"), None);
    }

    #[test]
    fn the_one_line_form_is_understood_and_other_projects_are_not_mistaken_for_debian() {
        let text = "# deb http://commented.example/debian bookworm main\n\
                    deb [arch=amd64 signed-by=/k.gpg] https://other.example/php bookworm main\n\
                    deb http://mirror.example/debian/ bookworm main contrib # ours\n\
                    deb-src http://mirror.example/debian/ bookworm main\n";
        let sources = one_line_sources(text);
        assert_eq!(sources.len(), 2);
        assert_eq!(sources[0].signed_by.as_deref(), Some("/k.gpg"));
        assert_eq!(
            backports_line(&sources, "bookworm").unwrap(),
            "deb http://mirror.example/debian/ bookworm-backports main"
        );
    }

    #[test]
    fn both_kinds_of_file_are_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sources.list.d")).unwrap();
        fs::write(folder.path().join("sources.list"), "deb http://a.example/debian bookworm-backports main\n").unwrap();
        fs::write(folder.path().join("sources.list.d/debian.sources"), STANZAS).unwrap();
        fs::write(folder.path().join("sources.list.d/old.list.save"), "deb http://b.example/debian x main\n").unwrap();
        let sources = sources(folder.path());
        assert_eq!(sources.len(), 3);
        assert!(offers(&sources, "bookworm-backports"));
    }

    #[test]
    fn a_key_written_into_the_stanza_is_not_taken_for_a_file() {
        let text = "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n";
        assert_eq!(stanza_sources(text)[0].signed_by, None);
    }
}
