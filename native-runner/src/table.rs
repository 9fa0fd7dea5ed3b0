use console::{Alignment, Style, measure_text_width, pad_str, truncate_str};

use crate::screen::Screen;

const GAP: usize = 2;

/// Figures in columns under names, with what they are on the left.
pub(crate) struct Table {
    pub(crate) titles: Vec<String>,
    pub(crate) columns: Vec<Column>,
}

pub(crate) struct Column {
    /// May have several lines, such as a second one with the unit.
    pub(crate) name: String,
    /// As many as the table has titles.
    pub(crate) cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(String::as_str);
        cells.chain(self.name.lines()).map(measure_text_width).max().unwrap_or(0)
    }
}

impl Table {
    /// The lines of the table. Columns that do not fit beside each other follow below, under the same titles.
    pub(crate) fn lines(&self, screen: Screen, width: usize) -> Vec<String> {
        let title_width = self.titles.iter().map(|title| measure_text_width(title)).max().unwrap_or(0);
        let mut lines = Vec::new();
        let mut rest = self.columns.as_slice();
        while !rest.is_empty() {
            let (block, after) = rest.split_at(fitting(rest, width.saturating_sub(title_width)));
            if !lines.is_empty() {
                lines.push(String::new());
            }
            self.block(block, screen, width, title_width, &mut lines);
            rest = after;
        }
        lines
    }

    fn block(&self, columns: &[Column], screen: Screen, width: usize, title_width: usize, lines: &mut Vec<String>) {
        let figures: usize = columns.iter().map(|column| GAP + column.width()).sum();
        // On a very narrow screen the titles give way, never the figures.
        let title_width = title_width.min(width.saturating_sub(figures)).max(8);
        let row = |title: &str, cell: &dyn Fn(&Column) -> String| {
            let title = truncate_str(title, title_width, "…");
            let mut line = pad_str(&title, title_width, Alignment::Left, None).into_owned();
            for column in columns {
                line.push_str(&" ".repeat(GAP));
                line.push_str(&pad_str(&cell(column), column.width(), Alignment::Right, None));
            }
            line
        };
        let heads = columns.iter().map(|column| column.name.lines().count()).max().unwrap_or(0).max(1);
        for line in 0..heads {
            let head = |column: &Column| column.name.lines().nth(line).unwrap_or_default().to_owned();
            lines.push(row("", &|column| screen.paint(Style::new().bold(), head(column))));
        }
        lines.push(screen.paint(Style::new().dim(), "─".repeat(title_width + figures)));
        for (index, title) in self.titles.iter().enumerate() {
            lines.push(row(title, &|column| column.cells[index].clone()));
        }
    }
}

/// How many columns fit into `width`; at least one.
fn fitting(columns: &[Column], width: usize) -> usize {
    let mut used = 0;
    let fits = columns.iter().take_while(|column| {
        used += GAP + column.width();
        used <= width
    });
    fits.count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(width: usize) -> Vec<String> {
        let column =
            |name: &str, cells: [&str; 2]| Column { name: name.to_owned(), cells: cells.map(str::to_owned).to_vec() };
        let table = Table {
            titles: ["Throughput", "Accuracy"].map(str::to_owned).to_vec(),
            columns: vec![column("first", ["3412 samples/s", "97.61 %"]), column("second", ["12 samples/s", "–"])],
        };
        table.lines(Screen::Output, width).iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect()
    }

    #[test]
    fn figures_stand_under_their_names_aligned_to_the_right() {
        let expected = [
            "                     first        second",
            "────────────────────────────────────────",
            "Throughput  3412 samples/s  12 samples/s",
            "Accuracy           97.61 %             –",
        ];
        assert_eq!(lines(80), expected);
    }

    #[test]
    fn a_name_of_two_lines_makes_two_lines_of_names() {
        let column = Column { name: "time\ns".to_owned(), cells: vec!["1.25".to_owned()] };
        let other = Column { name: "word".to_owned(), cells: vec!["yes".to_owned()] };
        let table = Table { titles: vec!["Example".to_owned()], columns: vec![column, other] };
        let lines: Vec<String> = table.lines(Screen::Output, 80);
        let plain: Vec<String> = lines.iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect();
        assert_eq!(plain[0], "          time  word");
        assert_eq!(plain[1], "             s      ");
        assert_eq!(plain[3], "Example   1.25   yes");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below_and_titles_give_way() {
        let narrow = lines(24);
        assert_eq!(narrow[0], "                   first");
        assert_eq!(narrow[2], "Through…  3412 samples/s");
        assert_eq!(narrow[4], "");
        assert_eq!(narrow[7], "Throughput  12 samples/s");
        assert!(narrow.iter().all(|line| measure_text_width(line) <= 24), "{narrow:?}");
    }
}
