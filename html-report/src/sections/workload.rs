use results::InputMode;

use super::{costs, curves, groups, inputs, published, scatter, sweeps};
use crate::gathered::Gathered;
use crate::group::{Field, Group, is_alike};
use crate::report::{Block, Section};

/// One workload: its figures, plots, and what is published beside it.
pub(super) fn section(gathered: &Gathered<'_>, name: &str) -> Section {
    let groups = gathered.of_workload(name);
    let mut blocks = vec![Block::Text(common(&groups)), Block::Table(groups::table(name, &groups))];
    let mut titled = |title: &str, figures: Vec<crate::plot::Figure>| {
        if !figures.is_empty() {
            blocks.extend([Block::Heading(title.to_owned()), Block::Figures(figures)]);
        }
    };
    titled("How it learned", curves::figures(name, &groups));
    titled("Time against accuracy", scatter::figures(name, &groups));
    titled("What was varied", sweeps::figures(name, &groups));
    titled("Input", inputs::figures(name, &groups));
    titled("What it costs", costs::figures(name, &groups));
    blocks.extend(published::blocks(name, &groups));
    Section { title: name.to_owned(), blocks }
}

/// What is alike in all groups.
fn common(groups: &[&Group<'_>]) -> String {
    let Some(first) = groups.first() else { return String::new() };
    let alike = Field::ALL.into_iter().filter(|field| groups.iter().all(|group| is_alike(group, first, *field)));
    // That one device trained, and where its data lay, goes without saying.
    let goes_without_saying = |field: &Field| match field {
        Field::Devices => first.setup.devices == 1,
        Field::Input => first.setup.input == InputMode::Resident,
        _ => false,
    };
    let told = alike.filter(|field| !goes_without_saying(field));
    let words: Vec<String> = told.filter_map(|field| first.setup.words(field)).collect();
    if groups.len() == 1 {
        return format!("One group: {}.", words.join(" · "));
    }
    format!("All groups: {}.", words.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    #[test]
    fn what_all_groups_have_in_common_is_said_once() {
        let records = [64, 640].map(|batch| Made::new("caffe-mnist").batch_size(batch).record());
        let groups = groups(&records);
        let text = common(&groups.iter().collect::<Vec<_>>());
        assert_eq!(text, "All groups: burn-flex · f32 · on Some CPU · rate 0.01 · the suite's length.");
    }
}
