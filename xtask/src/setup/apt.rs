//! The line that enables one more suite of Debian's beside those that a machine already uses.

use super::machine::answer;
use crate::files::files_below;
use std::fs;
use std::path::{Path, PathBuf};

/// The line that offers Debian 12's backports from where a machine with this `/etc/apt` gets Debian 12 itself, signed
/// by the same key. None is needed where they are offered already, and none can be told where apt knows no Debian 12.
pub(super) fn backports_line(etc_apt: &Path) -> Option<String> {
    // What `apt-get update` would fetch: apt reads its sources itself, and knows them before any list was fetched.
    let option = format!("Dir::Etc={}", etc_apt.display());
    let fetched = answer("apt-get", &["update", "--print-uris", "-o", &option])?;
    let offering =
        |part: &'static str| fetched.lines().filter_map(move |line| Some(line.strip_prefix('\'')?.split_once(part)?.0));
    if offering("/dists/bookworm-backports/main/binary-").next().is_some() {
        return None;
    }
    // Other projects name their suites after Debian's releases, too; Debian's own archive has Debian in its address.
    let address = offering("/dists/bookworm/main/binary-").min_by_key(|address| !address.contains("debian"))?;
    let key = key_of(address, etc_apt).map(|key| format!("[signed-by={key}] ")).unwrap_or_default();
    Some(format!("deb {key}{address} bookworm-backports main"))
}

/// The key file that is named beside an address: apt does not tell it.
fn key_of(address: &str, etc_apt: &Path) -> Option<String> {
    // apt writes some addresses with fewer slashes than they were given.
    let place = address.split_once(':')?.1.trim_start_matches('/');
    let key_in = |file: &PathBuf| {
        // One line of a `.list`, or one paragraph of a `.sources`.
        let end = if file.extension()? == "sources" { "\n\n" } else { "\n" };
        let text = fs::read_to_string(file).ok()?;
        let text: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let is_of_place = |word: &str| word.trim_end_matches('/').ends_with(place);
        let text = text.join("\n");
        let source = text.split(end).find(|source| source.split_whitespace().any(is_of_place))?;
        let key = &source[source.to_ascii_lowercase().find("signed-by")? + "signed-by".len()..];
        let key = key.trim_start_matches([' ', ':', '=']).split([' ', ']', '\n']).next()?;
        // A key can also be written into the paragraph itself.
        key.starts_with('/').then(|| key.to_owned())
    };
    let places = ["sources.list", "sources.list.d"].map(|place| etc_apt.join(place));
    places.iter().filter_map(|place| files_below(place).ok()).flatten().find_map(|file| key_in(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANZAS: &str = "Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\n\
                           Components: main\n\n# a comment\nTypes: deb\n# another\nURIs: http://mirror.example/debian\nSuites: bookworm \
                           bookworm-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n\
                           Types: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: bookworm-backports\n\
                           Components: main\n";

    /// The line for an `/etc/apt` of these files, as the real apt understands them; nothing to see where there is none.
    fn line(files: &[(&str, &str)]) -> Option<Option<String>> {
        if answer("apt-get", &["--version"]).is_none() {
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("SKIPPED: this machine has no apt");
            }
            return None;
        }
        let etc_apt = tempfile::tempdir().unwrap();
        fs::create_dir(etc_apt.path().join("sources.list.d")).unwrap();
        for (file, text) in files {
            fs::write(etc_apt.path().join(file), text).unwrap();
        }
        Some(backports_line(etc_apt.path()))
    }

    #[test]
    fn backports_come_from_where_the_machine_gets_debian_with_the_same_key() {
        let Some(line) = line(&[("sources.list.d/debian.sources", STANZAS)]) else { return };
        let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
        let expected = format!("deb [signed-by={key}] http://mirror.example/debian bookworm-backports main");
        assert_eq!(line, Some(expected));
    }

    #[test]
    fn the_one_line_form_is_understood_and_other_projects_are_not_mistaken_for_debian() {
        let text = "# deb http://commented.example/debian bookworm main\n\
                    deb [signed-by=/php.gpg] https://other.example/php bookworm main\n\
                    deb [signed-by=/box.gpg] https://other.example/linux/debian bookworm stable\n\
                    deb-src [signed-by=/source.gpg] http://mirror.example/src/debian/ bookworm main\n\
                    deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian/ bookworm main contrib # ours\n";
        let Some(line) = line(&[("sources.list", text)]) else { return };
        let expected = "deb [signed-by=/k.gpg] http://mirror.example/debian bookworm-backports main";
        assert_eq!(line.as_deref(), Some(expected));
    }

    #[test]
    fn backports_that_are_there_already_and_another_release_need_no_line() {
        for suites in ["bookworm bookworm-backports", "trixie"] {
            let text = STANZAS.replace("bookworm bookworm-updates", suites);
            let Some(line) = line(&[("sources.list.d/debian.sources", &text)]) else { return };
            assert_eq!(line, None, "{suites}");
        }
    }

    #[test]
    fn a_key_written_into_the_paragraph_is_not_taken_for_a_file() {
        let text = "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\nSigned-By:\n \
                    -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY BLOCK-----\n";
        let Some(line) = line(&[("sources.list.d/debian.sources", text)]) else { return };
        assert_eq!(line.as_deref(), Some("deb http://mirror.example/debian bookworm-backports main"));
    }
}
