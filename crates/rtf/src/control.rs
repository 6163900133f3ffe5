//! Control words and symbols: letters, paragraph ends, formatting, code pages of fonts.

use std::rc::Rc;

use super::charset::Page;
use super::reader::{BorderSide, Dest, RtfReader, Script};
use super::state::Props;
use super::table::TableRow;
use super::words::{BORDER, FormatLevel, WordEffect};
use super::{FlawKind, words};

/// The text of a control word that represents a character.
fn letter(name: &str) -> Option<&'static str> {
    Some(match name {
        "tab" => "\t",
        "line" | "lbr" => "\n",
        "bullet" => "\u{2022}",
        "endash" => "\u{2013}",
        "emdash" => "\u{2014}",
        "lquote" => "\u{2018}",
        "rquote" => "\u{2019}",
        "ldblquote" => "\u{201C}",
        "rdblquote" => "\u{201D}",
        "enspace" => "\u{2002}",
        "emspace" => "\u{2003}",
        "qmspace" => "\u{2005}",
        "zwj" => "\u{200D}",
        "zwnj" => "\u{200C}",
        _ => return None,
    })
}

impl RtfReader<'_> {
    pub fn symbol(&mut self, symbol: u8, at: usize) {
        let text = match symbol {
            b'\n' | b'\r' => {
                self.skip = 0;
                self.report_lost_half();
                return self.paragraph_word(at);
            }
            b'~' => "\u{A0}",
            b'_' => "\u{2011}",
            b'\t' => "\t",
            b'{' => "{",
            b'}' => "}",
            b'\\' => "\\",
            b'-' | b'|' | b':' | b'*' => "",
            0x80.. => return self.byte(symbol, at),
            _ if self.group.dest == Dest::Skip => "",
            _ => return self.flaw(at, FlawKind::UnknownSymbol),
        };
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.put(text, at);
        }
    }

    pub fn word(&mut self, name: &str, value: Option<i64>, start: usize) {
        let star = std::mem::take(&mut self.group.star);
        if self.group.dest == Dest::Skip {
            return;
        }
        if let Some(text) = letter(name) {
            // Only a word that is a letter can be the fallback of `\u`; other words keep their effect.
            if self.skip > 0 {
                self.skip -= 1;
            } else {
                self.put(text, start);
            }
            return;
        }
        self.skip = 0;
        if !matches!(name, "u" | "uc") {
            self.report_lost_half();
        }
        // Most words format; check for a destination only if one does not.
        let reads = matches!(
            self.group.dest,
            Dest::Text | Dest::Number | Dest::NestedRow | Dest::Numbering
        );
        if let Some((place, word)) = words::find(name)
            && reads
        {
            self.set(place, word, value);
            self.touch_text(start);
            return;
        }
        if self.destination(name, star, start) || self.document_word(name, value, start) {
            return;
        }
        if self.group.dest == Dest::Fonts {
            self.font_word(name, value, start);
        } else if reads && !self.format(name, value, start) {
            self.structure(name, start);
        }
    }

    fn document_word(&mut self, name: &str, value: Option<i64>, start: usize) -> bool {
        let page = match name {
            "u" => {
                self.unicode(value.unwrap_or(0), start);
                return true;
            }
            "uc" => {
                self.group.fallback = usize::try_from(value.unwrap_or(1)).unwrap_or(0);
                return true;
            }
            "deff" => {
                self.font = clamp(value);
                return true;
            }
            "ansi" => Some(Page::WESTERN),
            "mac" => Page::numbered(10_000),
            "pc" => Page::numbered(437),
            "pca" => Page::numbered(850),
            "ansicpg" => Page::numbered(value.unwrap_or(0)),
            _ => return false,
        };
        self.unknown.remove(&None);
        self.page = page.unwrap_or_else(|| {
            self.unknown.insert(None, start);
            Page::WESTERN
        });
        true
    }

    fn font_word(&mut self, name: &str, value: Option<i64>, start: usize) {
        let page = match name {
            "f" => {
                self.table_font = clamp(value);
                return;
            }
            "fcharset" => Page::of_charset(value.unwrap_or(0)),
            "cpg" => Page::numbered(value.unwrap_or(0)).map(Some),
            _ => return,
        };
        match page {
            Some(Some(page)) => {
                self.unknown.remove(&Some(self.table_font));
                self.pages.insert(self.table_font, page);
            }
            Some(None) => {}
            None => {
                self.unknown.insert(Some(self.table_font), start);
            }
        }
    }

    /// Applies a formatting word; returns whether it was one.
    fn format(&mut self, name: &str, value: Option<i64>, start: usize) -> bool {
        match name {
            "plain" => self.plain(),
            "pard" => {
                self.group.paras = Rc::new(Props::default());
                self.tab.clear();
            }
            "loch" | "hich" | "ltrch" => self.group.script = Script::Main,
            "dbch" => self.group.script = Script::Far,
            "rtlch" => self.group.script = Script::RightToLeft,
            "tqr" | "tqc" | "tqdec" | "tldot" | "tlmdot" | "tlhyph" | "tlul" | "tlth" | "tleq" => {
                if self.tab.len() < 20 {
                    self.tab.push('\\');
                    self.tab.push_str(name);
                }
            }
            "tx" | "tb" => {
                if name == "tb" {
                    self.tab.push_str("\\tb");
                }
                let kind = std::mem::take(&mut self.tab);
                Rc::make_mut(&mut self.group.paras).tab(value.unwrap_or(0), &kind);
            }
            _ if TableRow::knows(name) => {
                if name.starts_with("clbrdr") || name.starts_with("trbrdr") {
                    self.side = BorderSide::Row;
                }
                self.row().add(name, value);
            }
            _ => return self.border(name, value),
        }
        self.touch_text(start);
        true
    }

    fn set(&mut self, place: usize, word: words::FormattingWord, value: Option<i64>) {
        let on = value != Some(0);
        match word.name {
            "v" => self.group.hidden = on,
            "deleted" => self.group.deleted = on,
            "f" => {
                let [main, ..] = &mut self.group.fonts;
                *main = Some(clamp(value));
            }
            "af" => match (self.group.script, &mut self.group.fonts) {
                (Script::Far, [_, far, _]) => *far = Some(clamp(value)),
                (Script::RightToLeft, [.., right_to_left]) => *right_to_left = Some(clamp(value)),
                _ => {}
            },
            _ => {}
        }
        if word.kind == WordEffect::Side {
            self.side = BorderSide::Of(word.level, place);
        }
        let font = self.font;
        Rc::make_mut(self.props(word.level)).apply(place, word, value, font);
    }

    fn border(&mut self, name: &str, value: Option<i64>) -> bool {
        let Ok(attribute) = BORDER.binary_search(&name) else {
            if name.starts_with("pgbrdr") {
                self.side = BorderSide::None;
            }
            return false;
        };
        match self.side {
            BorderSide::None => {}
            BorderSide::Of(level, side) => {
                Rc::make_mut(self.props(level)).border(side, attribute, value)
            }
            BorderSide::Row => self.row().add(name, value),
        }
        true
    }

    const fn props(&mut self, level: FormatLevel) -> &mut Rc<Props> {
        match level {
            FormatLevel::Char => &mut self.group.chars,
            FormatLevel::Para => &mut self.group.paras,
        }
    }

    const fn row(&mut self) -> &mut TableRow {
        let [outer, nested] = &mut self.rows;
        if matches!(self.group.dest, Dest::NestedRow) {
            nested
        } else {
            outer
        }
    }

    /// `\plain`: resets character formatting.
    pub fn plain(&mut self) {
        self.group.chars = Rc::new(Props::default());
        self.group.hidden = false;
        self.group.deleted = false;
        self.group.fonts = [None; 3];
        self.group.script = Script::Main;
    }

    /// Handles a word that ends something, or is a mark between letters.
    fn structure(&mut self, name: &str, start: usize) {
        match name {
            _ if self.group.dest == Dest::Text => {}
            // Some writers put the row itself where only its definition belongs.
            "nestrow" | "nestcell" if self.group.dest == Dest::NestedRow => {}
            "par" if self.group.dest == Dest::NestedRow && self.has_content() => {}
            _ => return,
        }
        match name {
            "par" => self.paragraph_word(start),
            "cell" | "nestcell" => {
                self.touch(start);
                self.end_paragraph(
                    if name == "cell" {
                        1
                    } else {
                        self.depth().max(2)
                    },
                    self.lexer.at,
                );
                self.end_cell();
            }
            "row" | "nestrow" => self.end_row(name == "nestrow"),
            "sect" => {
                if self.has_content() {
                    self.end_paragraph(self.depth(), start);
                }
                self.mark("section", start);
            }
            "page" | "column" => self.mark(name, start),
            _ => {}
        }
    }

    fn end_row(&mut self, nested: bool) {
        if self.has_content() {
            self.end_paragraph(if nested { self.depth().max(2) } else { 1 }, self.lexer.at);
            self.end_cell();
        }
        let [outer, inner] = &mut self.rows;
        let row = if nested { inner.name() } else { outer.name() };
        if let Some(flow) = self.flows.last_mut() {
            flow.end_row(nested, &row, &mut self.gathered);
        }
    }

    /// Whether the paragraph has content that must be ended.
    pub fn has_content(&self) -> bool {
        self.flows
            .last()
            .is_some_and(super::flow::Flow::has_content)
    }

    fn end_cell(&mut self) {
        if let Some(flow) = self.flows.last_mut() {
            flow.end_cell();
        }
    }

    /// Records formatting as a possible beginning of a paragraph.
    fn touch_text(&mut self, at: usize) {
        if self.group.dest == Dest::Text {
            self.touch(at);
        }
    }

    fn touch(&mut self, at: usize) {
        if let Some(flow) = self.flows.last_mut() {
            flow.touch(at);
        }
    }

    /// Ends a paragraph; a deleted paragraph end does not count.
    fn paragraph_word(&mut self, start: usize) {
        if matches!(self.group.dest, Dest::Text | Dest::NestedRow) && !self.group.deleted {
            self.touch(start);
            self.end_paragraph(self.depth(), self.lexer.at);
        }
    }

    /// The table nesting depth of the paragraph; 0 outside of tables.
    pub fn depth(&self) -> u8 {
        match (self.paragraph_value("intbl"), self.paragraph_value("itap")) {
            (None, None) => 0,
            (_, deep) => u8::try_from(deep.unwrap_or(1)).unwrap_or(u8::MAX).max(1),
        }
    }

    fn paragraph_value(&self, word: &str) -> Option<i32> {
        let (place, _) = words::find(word)?;
        self.group.paras.get(place)
    }

    /// Ends the paragraph at a byte of the source; `depth` is its table nesting depth.
    pub fn end_paragraph(&mut self, depth: u8, end: usize) {
        let props = Rc::clone(&self.group.paras);
        self.written += 1;
        if let Some(flow) = self.flows.last_mut() {
            flow.end(end, depth, &props, &mut self.gathered);
        }
    }
}

fn clamp(value: Option<i64>) -> i32 {
    i32::try_from(value.unwrap_or(0)).unwrap_or(i32::MAX)
}
