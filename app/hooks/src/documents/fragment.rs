//! A document as HTML for the page.
//!
//! HTML in a document becomes text, headings link to themselves, a table of contents follows the title, and tables and code
//! scroll. The page's policy allows no styles in elements.

use super::headings::{Heading, Headings};
use super::links::{Target, target};
use super::{Document, Library};
use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Documents with fewer sections have no table of contents.
const MIN_SECTIONS: usize = 3;

/// Parses a document.
pub(super) fn events(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// Renders a document, and adds everything that is wrong with it to `wrong`.
pub(super) fn html(library: &Library<'_>, document: &Document, wrong: &mut Vec<String>) -> String {
    let file = document.listed.file.display();
    let titles = document.headings.titles();
    if titles != 1 || document.headings.0.first().is_none_or(|first| first.level != HeadingLevel::H1) {
        wrong.push(format!("{file} has {titles} titles; it must begin with one, and have no other"));
    }
    let mut writer = Writer { headings: document.headings.0.iter(), ..Writer::default() };
    for event in events(&document.text) {
        writer.take(event, document, &mut |link| {
            target(library, document, link).unwrap_or_else(|why| {
                wrong.push(format!("{file} links to {link}: {why}"));
                Target::Nowhere
            })
        });
    }
    if let Some(image) = writer.image {
        wrong.push(format!("{file} shows the picture {image}: the page has no pictures of documents yet"));
    }
    let mut text = String::new();
    html::push_html(&mut text, writer.events.into_iter());
    text
}

/// Turns Markdown events into HTML events.
#[derive(Default)]
struct Writer<'a> {
    events: Vec<Event<'a>>,
    headings: std::slice::Iter<'a, Heading>,
    /// Heading that is being written.
    heading: Option<&'a Heading>,
    /// For each open link, true if it leads somewhere.
    links: Vec<bool>,
    alignments: Vec<Alignment>,
    column: usize,
    in_head: bool,
    /// Address of a picture, which the page cannot show.
    image: Option<String>,
}

impl<'a> Writer<'a> {
    fn take(&mut self, event: Event<'a>, document: &'a Document, target: &mut impl FnMut(&str) -> Target) {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => self.events.push(Event::Text(text)),
            Event::Start(Tag::HtmlBlock) => self.write("<p>"),
            Event::End(TagEnd::HtmlBlock) => self.write("</p>\n"),
            Event::Start(Tag::Heading { .. }) => self.begin_heading(),
            Event::End(TagEnd::Heading(level)) => self.end_heading(level, &document.headings),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => match target(&dest_url) {
                Target::Address(address) => {
                    self.links.push(true);
                    self.events.push(Event::Start(Tag::Link { link_type, dest_url: address.into(), title, id }));
                }
                Target::Nowhere => self.links.push(false),
            },
            Event::End(TagEnd::Link) => {
                if self.links.pop() == Some(true) {
                    self.events.push(Event::End(TagEnd::Link));
                }
            }
            Event::Start(Tag::Image { dest_url, .. }) => self.image = Some(dest_url.into_string()),
            Event::Start(Tag::CodeBlock(_)) => self.write("<pre tabindex=\"0\"><code>"),
            Event::End(TagEnd::CodeBlock) => self.write("</code></pre>\n"),
            Event::Start(Tag::Table(alignments)) => self.begin_table(alignments),
            Event::Start(Tag::TableHead) => self.begin_row(true, "<thead><tr>"),
            Event::End(TagEnd::TableHead) => self.begin_row(false, "</tr></thead><tbody>\n"),
            Event::Start(Tag::TableRow) => self.begin_row(false, "<tr>"),
            Event::End(TagEnd::TableRow) => self.write("</tr>\n"),
            Event::Start(Tag::TableCell) => self.begin_cell(),
            Event::End(TagEnd::TableCell) => self.write(if self.in_head { "</th>" } else { "</td>" }),
            Event::End(TagEnd::Table) => self.write("</tbody></table></div>\n"),
            other => self.events.push(other),
        }
    }

    fn write(&mut self, html: impl Into<CowStr<'a>>) {
        self.events.push(Event::Html(html.into()));
    }

    fn begin_heading(&mut self) {
        self.heading = self.headings.next();
        if let Some(Heading { level, id, .. }) = self.heading {
            let link =
                if *level == HeadingLevel::H1 { String::new() } else { format!("<a class=\"self\" href=\"#{id}\">") };
            self.write(format!("<{level} id=\"{id}\">{link}"));
        }
    }

    fn end_heading(&mut self, level: HeadingLevel, headings: &'a Headings) {
        if level != HeadingLevel::H1 {
            return self.write(format!("</a></{level}>\n"));
        }
        self.write("</h1>\n");
        let sections: Vec<&Heading> = headings.0.iter().filter(|heading| heading.level == HeadingLevel::H2).collect();
        if sections.len() < MIN_SECTIONS {
            return;
        }
        self.write("<nav class=\"contents\" aria-label=\"Contents\"><ul>\n");
        for section in sections {
            self.write(format!("<li><a href=\"#{}\">", section.id));
            self.events.push(Event::Text(section.text.as_str().into()));
            self.write("</a></li>\n");
        }
        self.write("</ul></nav>\n");
    }

    fn begin_table(&mut self, alignments: Vec<Alignment>) {
        self.alignments = alignments;
        self.write("<div class=\"scroll\" role=\"region\" aria-label=\"Table, scrollable\" tabindex=\"0\"><table>");
    }

    fn begin_row(&mut self, in_head: bool, html: &'static str) {
        (self.in_head, self.column) = (in_head, 0);
        self.write(html);
    }

    fn begin_cell(&mut self) {
        let number = matches!(self.alignments.get(self.column), Some(Alignment::Right | Alignment::Center));
        self.column += 1;
        self.write(match (self.in_head, number) {
            (true, true) => "<th scope=\"col\" class=\"number\">",
            (true, false) => "<th scope=\"col\">",
            (false, true) => "<td class=\"number\">",
            (false, false) => "<td>",
        });
    }
}
