use crate::csv::{Sheet, Value};
use crate::findings::cautions;
use crate::gathered::Gathered;
use crate::report::{Block, Column, Section, Table};

/// What has no figures, and why.
pub(super) fn section(gathered: &Gathered<'_>) -> Option<Section> {
    let troubles = cautions::troubles(gathered);
    if troubles.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(&["run", "ending", "reason"]);
    sheet.rows = troubles
        .iter()
        .map(|(what, trouble)| {
            vec![Value::from(what.as_str()), Value::from(trouble.kind.as_str()), Value::from(trouble.reason.as_str())]
        })
        .collect();
    let rows = troubles.into_iter().map(|(what, trouble)| vec![what, trouble.kind, trouble.reason]).collect();
    let columns = ["Run", "Ended", "Why"].into_iter().map(Column::text).collect();
    let caption = "Runs without figures. A run that diverged is an answer about its settings; the others are failures."
        .to_owned();
    let table = Table { caption, columns, rows, sheet, is_folded: false };
    Some(Section { title: "Without figures".to_owned(), blocks: vec![Block::Table(table)] })
}
