//! Renders documents of the repository as HTML fragments, which the page fetches on demand.
//!
//! The page includes the same list of documents (`app/documents.json`). The build fails if a link is dead or a document
//! does not have exactly one title.
//!
//! HTML in a document becomes text, headings link to themselves, a table of contents follows the title, and tables and
//! code scroll. The page's content security policy does not allow inline styles.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use serde::Deserialize;

/// Names of all fragments, for the service worker.
const CONTENTS: &str = "contents.json";

#[derive(Deserialize)]
struct SourceDocument {
    /// Name in URLs: `/docs/NAME`.
    name: String,
    /// Path relative to the root of the repository.
    file: PathBuf,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    headings: Vec<Heading>,
}

struct Library<'a> {
    top: &'a Path,
    documents: Vec<SourceDocument>,
    /// URL of the repository, if known.
    repository: Option<&'a str>,
}

/// Writes a fragment `NAME.html` for each document, and their list. The error has all problems of all documents.
pub(crate) fn write(top: &Path, list: &Path, repository: Option<&str>, out: &Path) -> Result<()> {
    let write = |name: &str, content: &[u8]| {
        let path = out.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    };
    let fragments = render_all(top, list, repository)?;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let names: Vec<String> = fragments.iter().map(|(document, _)| format!("{}.html", document.name)).collect();
    names.iter().zip(&fragments).try_for_each(|(name, (_, html))| write(name, html.as_bytes()))?;
    write(CONTENTS, &serde_json::to_vec(&names)?)
}

fn render_all(top: &Path, list: &Path, repository: Option<&str>) -> Result<Vec<(SourceDocument, String)>> {
    let read = |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    let mut documents: Vec<SourceDocument> =
        serde_json::from_str(&read(list)?).context("the list of documents cannot be read")?;
    for document in &mut documents {
        document.text = read(&top.join(&document.file))?;
        document.headings = headings(&document.text);
    }
    let (library, mut wrong) = (Library { top, documents, repository }, Vec::new());
    let fragments: Vec<_> = library.documents.iter().map(|document| render(&library, document, &mut wrong)).collect();
    anyhow::ensure!(wrong.is_empty(), "documents are wrong:\n{}", wrong.join("\n"));
    Ok(library.documents.into_iter().zip(fragments).collect())
}

/// Minimum number of sections of a document with a table of contents.
const MIN_SECTIONS: usize = 3;

fn events(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// Renders a document, and adds its problems to `wrong`.
fn render(library: &Library<'_>, document: &SourceDocument, wrong: &mut Vec<String>) -> String {
    let file = document.file.display();
    let titles = document.headings.iter().filter(|heading| heading.level == HeadingLevel::H1).count();
    if titles != 1 || document.headings.first().is_none_or(|first| first.level != HeadingLevel::H1) {
        wrong.push(format!("{file} has {titles} titles; it must begin with one, and have no other"));
    }
    let mut headings = document.headings.iter();
    // True in a link without a target. Markdown does not nest links.
    let mut in_plain_link = false;
    let raw = |text: String| Some(Event::Html(text.into()));
    let events = events(&document.text).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::HtmlBlock) => raw("<p>".to_owned()),
        Event::End(TagEnd::HtmlBlock) => raw("</p>\n".to_owned()),
        Event::Start(Tag::Heading { level, .. }) => {
            let id = &headings.next()?.id;
            let is_title = level == HeadingLevel::H1;
            let link = if is_title { String::new() } else { format!("<a class=\"self\" href=\"#{id}\">") };
            raw(format!("<{level} id=\"{id}\">{link}"))
        }
        Event::End(TagEnd::Heading(HeadingLevel::H1)) => raw(format!("</h1>\n{}", contents(&document.headings))),
        Event::End(TagEnd::Heading(level)) => raw(format!("</a></{level}>\n")),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let address = target(library, document, &dest_url).unwrap_or_else(|why| {
                wrong.push(format!("{file} links to {dest_url}: {why}"));
                None
            });
            in_plain_link = address.is_none();
            Some(Event::Start(Tag::Link { link_type, dest_url: address?.into(), title, id }))
        }
        Event::End(TagEnd::Link) if in_plain_link => {
            in_plain_link = false;
            None
        }
        Event::Start(Tag::Image { dest_url, .. }) => {
            wrong.push(format!("{file} shows the picture {dest_url}: the page has no pictures of documents yet"));
            None
        }
        Event::Start(Tag::CodeBlock(_)) => raw("<pre tabindex=\"0\"><code>".to_owned()),
        Event::End(TagEnd::CodeBlock) => raw("</code></pre>\n".to_owned()),
        other => Some(other),
    });
    let mut text = String::new();
    html::push_html(&mut text, events);
    with_scrolling_tables(text)
}

/// Returns the table of contents, if the document has enough sections.
fn contents(headings: &[Heading]) -> String {
    let sections: Vec<&Heading> = headings.iter().filter(|heading| heading.level == HeadingLevel::H2).collect();
    if sections.len() < MIN_SECTIONS {
        return String::new();
    }
    let mut list = "<nav class=\"contents\" aria-label=\"Contents\"><ul>\n".to_owned();
    for section in sections {
        list += &format!("<li><a href=\"#{}\">", section.id);
        html::push_html(&mut list, std::iter::once(Event::Text(section.text.as_str().into())));
        list += "</a></li>\n";
    }
    list + "</ul></nav>\n"
}

/// Lets tables scroll, and replaces the styles of their cells by classes. Texts have no `<`: they are escaped.
fn with_scrolling_tables(mut html: String) -> String {
    let scroll = "<div class=\"scroll\" role=\"region\" aria-label=\"Table, scrollable\" tabindex=\"0\"><table>";
    html = html.replace("<table>", scroll).replace("</table>", "</table></div>");
    for (cell, scope) in [("th", " scope=\"col\""), ("td", "")] {
        html = html.replace(&format!("<{cell}>"), &format!("<{cell}{scope}>"));
        for (side, class) in [("left", ""), ("center", " class=\"number\""), ("right", " class=\"number\"")] {
            let styled = format!("<{cell} style=\"text-align: {side}\">");
            html = html.replace(&styled, &format!("<{cell}{scope}{class}>"));
        }
    }
    html
}

struct Heading {
    level: HeadingLevel,
    text: String,
    /// Anchor, without the `#`.
    id: String,
}

fn headings(text: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut inside: Option<(HeadingLevel, String)> = None;
    for event in events(text) {
        match (event, &mut inside) {
            (Event::Start(Tag::Heading { level, .. }), _) => inside = Some((level, String::new())),
            (Event::Text(part) | Event::Code(part), Some((_, text))) => text.push_str(&part),
            (Event::SoftBreak, Some((_, text))) => text.push(' '),
            (Event::End(TagEnd::Heading(_)), _) => {
                if let Some((level, text)) = inside.take() {
                    let plain = id(&text);
                    // The second anchor of the same name ends in `-1`, the third in `-2`.
                    let times = seen.entry(plain.clone()).or_default();
                    let id = if *times == 0 { plain } else { format!("{plain}-{times}") };
                    *times += 1;
                    headings.push(Heading { level, text, id });
                }
            }
            _ => {}
        }
    }
    headings
}

/// Returns an anchor like GitHub's: lower case, hyphens for spaces, and only letters, digits, hyphens and underscores.
fn id(text: &str) -> String {
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// Resolves a link in `document`, or returns the reason it is dead. A file of a repository whose URL is unknown has no
/// address: the link becomes plain text.
fn target(library: &Library<'_>, document: &SourceDocument, link: &str) -> Result<Option<String>, String> {
    if let Some(id) = link.strip_prefix('#') {
        return check_anchor(document, id).map(|()| Some(link.to_owned()));
    }
    if ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
        return Ok(Some(link.to_owned()));
    }
    let (path, id) = link.split_once('#').map_or((link, None), |(path, id)| (path, Some(id)));
    let folder = document.file.parent().unwrap_or(Path::new(""));
    let (above, path) = relative_to_top(&folder.join(path));
    let in_repository = |place: &str| {
        let path = path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        Some(format!("{}/{place}{path}", library.repository?.trim_end_matches('/')))
    };
    match above {
        0 => {}
        // The URLs of files are REPOSITORY/blob/BRANCH/FILE, so `../../releases` in the root folder is a page of the host.
        2 => return Ok(in_repository("")),
        _ => return Err("it leads out of the repository".to_owned()),
    }
    if let Some(other) = library.documents.iter().find(|document| document.file == path) {
        id.map_or(Ok(()), |id| check_anchor(other, id))?;
        let anchor = id.map(|id| format!("#{id}")).unwrap_or_default();
        return Ok(Some(format!("/docs/{}{anchor}", other.name)));
    }
    let there = library.top.join(&path);
    if !there.exists() {
        return Err(format!("there is no {}", path.display()));
    }
    Ok(in_repository(if there.is_dir() { "tree/HEAD/" } else { "blob/HEAD/" }))
}

fn check_anchor(document: &SourceDocument, id: &str) -> Result<(), String> {
    let found = document.headings.iter().find(|heading| heading.id == id).map(|_| ());
    found.ok_or_else(|| format!("{} has no heading #{id}", document.file.display()))
}

/// Returns how many folders above the root a path starts, and the path without `.` and `..`.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn anchors_match_github() {
        let ids = |text: &str| headings(text).into_iter().map(|heading| heading.id).collect::<Vec<_>>();
        assert_eq!(ids("# Targets here, and why most are missed"), ["targets-here-and-why-most-are-missed"]);
        assert_eq!(ids("## 1. The `archive`\n\n## Limits\n\n## Limits\n"), ["1-the-archive", "limits", "limits-1"]);
        assert_eq!(ids("no heading\n\n```\n# a comment\n```\n"), [""; 0]);
    }

    const REPOSITORY: &str = "https://forge.example/owner/gradmark";

    fn render(files: &[(&str, &str)], repository: Option<&str>) -> Result<Vec<String>> {
        let top = tempfile::tempdir().unwrap();
        let mut list = Vec::new();
        for (path, text) in files {
            let place = top.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
            if let Some(name) = path.strip_prefix("docs/").and_then(|name| name.strip_suffix(".md")) {
                list.push(serde_json::json!({ "name": name.to_lowercase(), "file": path }));
            }
        }
        let list_file = top.path().join("documents.json");
        fs::write(&list_file, serde_json::to_vec(&list).unwrap()).unwrap();
        Ok(render_all(top.path(), &list_file, repository)?.into_iter().map(|(_, html)| html).collect())
    }

    fn html(text: &str) -> String {
        render(&[("docs/A.md", text)], Some(REPOSITORY)).unwrap().remove(0)
    }

    fn refusal(files: &[(&str, &str)]) -> String {
        render(files, Some(REPOSITORY)).unwrap_err().to_string()
    }

    #[test]
    fn every_document_of_this_repository_is_listed_and_valid() {
        let top = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let rendered = render_all(top, &top.join("app/documents.json"), Some(REPOSITORY)).unwrap();
        for (document, html) in &rendered {
            assert_eq!(html.matches("<h1").count(), 1, "{}", document.name);
            assert!(!html.contains("style="), "{}: the page's policy forbids them", document.name);
        }
        let listed: BTreeSet<PathBuf> = rendered.iter().map(|(document, _)| document.file.clone()).collect();
        let in_folder = |folder: &'static str| {
            let names = fs::read_dir(top.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_string_lossy().ends_with(".md")).map(move |name| Path::new(folder).join(name))
        };
        let there = in_folder("docs").chain(in_folder("docs/method"));
        assert_eq!(listed, there.collect::<BTreeSet<PathBuf>>());
        assert_eq!(listed.len(), rendered.len(), "no document is listed twice");
    }

    #[test]
    fn escapes_html_in_documents() {
        let html = html("# A\n\nHere <script>alert(1)</script> and\n\n<img src=x onerror=alert(1)>\n\n```\n<b>\n```\n");
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && html.contains("&lt;img src=x"), "{html}");
        assert!(html.contains("&lt;b&gt;"), "{html}");
        assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
    }

    #[test]
    fn links_lead_to_pages_sections_and_the_repository() {
        let files = [
            (
                "docs/A.md",
                "# A\n[b](B.md#two-words) [a](#m) [c](../Cargo.toml) [d](x/) [r](../../../releases)\n\n## M\n",
            ),
            ("docs/B.md", "# B\n[out](https://example.org/)\n\n## Two words\n"),
            ("docs/x/file.txt", ""),
            ("Cargo.toml", ""),
        ];
        let a = render(&files, Some(REPOSITORY)).unwrap().remove(0);
        for address in [
            "/docs/b#two-words".to_owned(),
            "#m".to_owned(),
            format!("{REPOSITORY}/blob/HEAD/Cargo.toml"),
            format!("{REPOSITORY}/tree/HEAD/docs/x"),
            format!("{REPOSITORY}/releases"),
        ] {
            assert!(a.contains(&format!("href=\"{address}\"")), "{address} in {a}");
        }
        let plain = render(&files, None).unwrap().remove(0);
        assert!(plain.contains("<p><a href=\"/docs/b#two-words\">b</a> <a href=\"#m\">a</a> c d r</p>"), "{plain}");
    }

    #[test]
    fn dead_links_second_titles_and_pictures_are_errors() {
        let refused =
            refusal(&[("docs/A.md", "# A\n[x](B.md) [y](#nothing) [z](../../../../etc)\n\n# Again\n\n![p](page.png)")]);
        for said in [
            "docs/A.md has 2 titles",
            "docs/A.md links to B.md: there is no docs/B.md",
            "docs/A.md links to #nothing: docs/A.md has no heading #nothing",
            "docs/A.md links to ../../../../etc: it leads out of the repository",
            "docs/A.md shows the picture page.png",
        ] {
            assert!(refused.contains(said), "{said}: {refused}");
        }
        assert!(refusal(&[("docs/A.md", "Without a title")]).contains("has 0 titles"));
        let other = refusal(&[("docs/A.md", "# A\n[x](B.md#gone)"), ("docs/B.md", "# B")]);
        assert!(other.contains("docs/A.md links to B.md#gone: docs/B.md has no heading #gone"), "{other}");
    }

    #[test]
    fn tables_and_code_scroll_and_sections_are_listed() {
        let html =
            html("# A\n\n| n | s |\n|---|--:|\n| `x` | 1 |\n\n## One & two\n\n## Two\n\n```sh\nls\n```\n\n## Three\n");
        for part in [
            r#"tabindex="0"><table><thead><tr><th scope="col">n</th><th scope="col" class="number">s</th>"#,
            "<td><code>x</code></td><td class=\"number\">1</td></tr>\n</tbody></table></div>",
            "<pre tabindex=\"0\"><code>ls\n</code></pre>",
            "<nav class=\"contents\" aria-label=\"Contents\"><ul>\n<li><a href=\"#one--two\">One &amp; two</a>",
            r##"<h2 id="one--two"><a class="self" href="#one--two">One &amp; two</a></h2>"##,
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn written_fragments_are_listed_in_contents_json() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("A.md"), "# A\n").unwrap();
        let list = top.path().join("documents.json");
        fs::write(&list, r#"[{ "name": "a", "file": "A.md", "title": "A page" }]"#).unwrap();
        let out = top.path().join("out");
        write(top.path(), &list, None, &out).unwrap();
        assert_eq!(fs::read_to_string(out.join("a.html")).unwrap(), "<h1 id=\"a\">A</h1>\n");
        assert_eq!(fs::read_to_string(out.join(CONTENTS)).unwrap(), r#"["a.html"]"#);
        fs::remove_file(top.path().join("A.md")).unwrap();
        let missing = write(top.path(), &list, None, &out).unwrap_err().to_string();
        assert!(missing.contains("cannot read") && missing.contains("A.md"), "{missing}");
    }
}
