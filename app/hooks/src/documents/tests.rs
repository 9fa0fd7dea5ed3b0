use super::*;
use std::collections::BTreeSet;

const REPOSITORY: &str = "https://forge.example/somebody/gradmark";

/// Renders the documents of a repository with these files, those in `docs/`.
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
    let library = Library::open(top.path(), &list_file, repository)?;
    library.fragments()
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
    let library = Library::open(top, &top.join("app/documents.json"), Some(REPOSITORY)).unwrap();
    let fragments = library.fragments().unwrap();
    for (document, html) in library.documents.iter().zip(&fragments) {
        assert_eq!(html.matches("<h1").count(), 1, "{}", document.listed.name);
        assert!(!html.contains("style="), "{}: the page's policy allows no styles in elements", document.listed.name);
    }
    let listed: BTreeSet<PathBuf> = library.documents.iter().map(|document| document.listed.file.clone()).collect();
    let there = fs::read_dir(top.join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let there = there.filter(|name| name.to_string_lossy().ends_with(".md")).map(|name| Path::new("docs").join(name));
    assert_eq!(listed, there.collect::<BTreeSet<PathBuf>>());
    assert_eq!(listed.len(), library.documents.len(), "no document is listed twice");
}

#[test]
fn html_in_a_document_becomes_text() {
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
            "# A\n[b](B.md#two-words) [a](#more) [c](../Cargo.toml) [d](x/) [r](../../../releases)\n\n## More\n",
        ),
        ("docs/B.md", "# B\n[out](https://example.org/)\n\n## Two words\n"),
        ("docs/x/file.txt", ""),
        ("Cargo.toml", ""),
    ];
    let a = render(&files, Some(REPOSITORY)).unwrap().remove(0);
    for address in [
        "/docs/b#two-words".to_owned(),
        "#more".to_owned(),
        format!("{REPOSITORY}/blob/HEAD/Cargo.toml"),
        format!("{REPOSITORY}/tree/HEAD/docs/x"),
        format!("{REPOSITORY}/releases"),
    ] {
        assert!(a.contains(&format!("href=\"{address}\"")), "{address} in {a}");
    }
    let without_address = render(&files, None).unwrap().remove(0);
    assert!(
        without_address.contains("<p><a href=\"/docs/b#two-words\">b</a> <a href=\"#more\">a</a> c d r</p>"),
        "{without_address}"
    );
}

#[test]
fn dead_links_second_titles_and_pictures_are_errors_with_the_file() {
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
    assert!(html.contains(
        "tabindex=\"0\"><table><thead><tr><th scope=\"col\">n</th><th scope=\"col\" class=\"number\">s</th>"
    ));
    assert!(html.contains("<td><code>x</code></td><td class=\"number\">1</td></tr>\n</tbody></table></div>"), "{html}");
    assert!(html.contains("<pre tabindex=\"0\"><code>ls\n</code></pre>"), "{html}");
    assert!(
        html.contains(
            "<nav class=\"contents\" aria-label=\"Contents\"><ul>\n<li><a href=\"#one--two\">One &amp; two</a>"
        )
    );
    assert!(html.contains("<h2 id=\"one--two\"><a class=\"self\" href=\"#one--two\">One &amp; two</a></h2>"), "{html}");
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
