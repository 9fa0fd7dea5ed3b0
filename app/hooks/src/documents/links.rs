//! Links of documents, as the site has them.

use super::{Document, Library};
use std::path::{Component, Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Address(String),
    /// To a file of the repository, whose address is unknown: the link becomes plain text.
    Nowhere,
}

/// Target of a link in `document`, or the reason it is dead.
pub(super) fn target(library: &Library<'_>, document: &Document, link: &str) -> Result<Target, String> {
    if let Some(id) = link.strip_prefix('#') {
        return in_document(document, id).map(|()| Target::Address(link.to_owned()));
    }
    if ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
        return Ok(Target::Address(link.to_owned()));
    }
    let (path, id) = link.split_once('#').map_or((link, None), |(path, id)| (path, Some(id)));
    let folder = document.listed.file.parent().unwrap_or(Path::new(""));
    let (above, path) = relative_to_top(&folder.join(path));
    if above > 0 {
        return on_the_host(library, above, &path);
    }
    if let Some(other) = library.find(&path) {
        id.map_or(Ok(()), |id| in_document(other, id))?;
        let anchor = id.map(|id| format!("#{id}")).unwrap_or_default();
        return Ok(Target::Address(format!("/docs/{}{anchor}", other.listed.name)));
    }
    let there = library.top.join(&path);
    if !there.exists() {
        return Err(format!("there is no {}", path.display()));
    }
    let kind = if there.is_dir() { "tree" } else { "blob" };
    Ok(in_repository(library, &format!("{kind}/HEAD/{}", with_slashes(&path))))
}

fn in_document(document: &Document, id: &str) -> Result<(), String> {
    let has = document.headings.has(id);
    if has { Ok(()) } else { Err(format!("{} has no heading #{id}", document.listed.file.display())) }
}

/// Resolves links to other pages of the repository's host, such as `../../releases` from the top folder.
fn on_the_host(library: &Library<'_>, above: usize, path: &Path) -> Result<Target, String> {
    // Files are shown at REPOSITORY/blob/BRANCH/FILE.
    if above == 2 {
        Ok(in_repository(library, &with_slashes(path)))
    } else {
        Err("it leads out of the repository".to_owned())
    }
}

fn in_repository(library: &Library<'_>, place: &str) -> Target {
    library
        .repository
        .map_or(Target::Nowhere, |address| Target::Address(format!("{}/{place}", address.trim_end_matches('/'))))
}

/// Number of folders above the top at which a path begins, and the path without `.` and `..`.
fn relative_to_top(path: &Path) -> (usize, PathBuf) {
    let (mut above, mut inside) = (0, PathBuf::new());
    for component in path.components() {
        match component {
            Component::ParentDir if !inside.pop() => above += 1,
            Component::Normal(name) => inside.push(name),
            _ => {}
        }
    }
    (above, inside)
}

/// The path with slashes on every system.
fn with_slashes(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}
