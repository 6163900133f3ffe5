//! What the tables of the terminal share.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::model::{Report, SuiteReport};
use crate::render::screen::{Screen, Style};

/// The width from which a table has room for limits.
pub const WIDE: u16 = 76;

/// Rules above, below the header and at the end; none between rows.
pub fn plain_style(table: &mut Table, width: u16) {
    let rule = LineStyle::none().fill('─').junction('─');
    let style = TableStyle::new()
        .top_border(rule)
        .header_separator(rule)
        .bottom_border(rule);
    table
        .load_style(style)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
}

/// A table of this style without colours.
pub fn plain_table(width: u16) -> Table {
    let mut table = Table::new();
    plain_style(&mut table, width);
    table.force_no_tty();
    table
}

/// A cell whose text is at its right.
pub fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// The style of a table on this screen.
pub fn on_screen(table: &mut Table, screen: Screen) {
    plain_style(table, screen.columns);
    match screen.style {
        Style::Coloured => table.enforce_styling(),
        Style::Plain => table.force_no_tty(),
    };
}

/// The id of a suite, with its tier if the report has several.
pub fn suite_name(report: &Report, suite: &SuiteReport) -> String {
    match report.tiers.len() {
        1 => suite.id.to_string(),
        _ => format!("{} ({})", suite.id, suite.tier.as_str()),
    }
}
