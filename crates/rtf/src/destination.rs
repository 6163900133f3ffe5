//! Destinations: the purpose of groups, and what their ends leave behind.

use std::rc::Rc;

use super::charset::named;
use super::flow::Flow;
use super::header::normalized;
use super::reader::{Dest, PendingSymbol, RtfGroup, RtfReader};
use super::state::Props;
use super::{Bookmark, ParagraphPlace, words};

/// Destinations whose text is not part of the document; sorted.
pub const SKIPPED: &[&str] = &[
    "atnauthor",
    "atndate",
    "atnicn",
    "atnid",
    "atnparent",
    "atnref",
    "atntime",
    "atrfend",
    "atrfstart",
    "background",
    "colorschememapping",
    "datafield",
    "datastore",
    "defchp",
    "defpap",
    "falt",
    "filetbl",
    "formfield",
    "generator",
    "info",
    "latentstyles",
    "listname",
    "listpicture",
    "mmath",
    "mmathPr",
    "nonesttables",
    "nonshppict",
    "objclass",
    "objdata",
    "objname",
    "panose",
    "pgdsctbl",
    "pict",
    "pnseclvl",
    "pntxta",
    "pntxtb",
    "private",
    "revtbl",
    "rsidtbl",
    "rxe",
    "shprslt",
    "sn",
    "sp",
    "sv",
    "tc",
    "tcn",
    "template",
    "themedata",
    "userprops",
    "wgrffmtfilter",
    "xe",
    "xmlnstbl",
];

/// Destinations outside of the text whose content must not change unasked, with what they are.
const CONTENTS: [(&str, &str); 8] = [
    ("datafield", "data of a field"),
    ("formfield", "form field"),
    ("mmath", "formula"),
    ("objclass", "object"),
    ("objdata", "object"),
    ("objname", "object"),
    ("pict", "picture"),
    ("template", "template"),
];

/// Destinations marked as skippable whose text is part of the document.
const READ: &[&str] = &[
    "cs", "shppict", "result", "objattph", "fldrslt", "field", "object", "shp", "shpgrp",
];

/// The property of a drawing with the text of WordArt.
const WORD_ART: &str = "gtextUNICODE";

/// The most characters of the number of a paragraph; a longer one is a text.
const LONGEST_NUMBER: usize = 20;

/// The most words of such a number, such as "Article III".
const NUMBER_WORDS: usize = 2;

/// Whether a field leads to a place in the document. Word gives such places other names at each save.
fn is_internal(word: &str, instruction: &str) -> bool {
    matches!(word, "" | "REF" | "PAGEREF" | "NOTEREF" | "TOC")
        || (word == "HYPERLINK" && instruction.split(' ').nth(1) == Some("\\l"))
}

impl RtfReader<'_> {
    /// Handles a word that sets the destination of its group. It is ignored at the top level, where the rest of the document
    /// would be lost.
    pub fn destination(&mut self, name: &str, star: bool, start: usize) -> bool {
        if self.outer.len() < 2 {
            return false;
        }
        if self.group.dest == Dest::OneOfTwice {
            let around = self
                .outer
                .iter()
                .rev()
                .nth(1)
                .map_or(Dest::Skip, |group| group.dest);
            self.group.dest = if name == "ud" { around } else { Dest::Skip };
            return true;
        }
        match name {
            "fonttbl" => self.table(Dest::Fonts),
            "colortbl" | "stylesheet" | "listtable" | "listoverridetable" => {
                self.table(Dest::Table)
            }
            _ if matches!(self.group.dest, Dest::Fonts | Dest::Table) => {
                if star || SKIPPED.binary_search(&name).is_ok() {
                    self.group.dest = Dest::Skip;
                }
                return star;
            }
            "footnote" => self.begin_flow(ParagraphPlace::Footnote, start),
            "annotation" => self.begin_flow(ParagraphPlace::Annotation, start),
            "header" | "headerl" | "headerr" | "headerf" => {
                self.begin_flow(ParagraphPlace::Header, start)
            }
            "footer" | "footerl" | "footerr" | "footerf" => {
                self.begin_flow(ParagraphPlace::Footer, start)
            }
            // The line above the notes of a page, and what is there if they go on.
            "ftnsep" | "ftnsepc" | "ftncn" | "aftnsep" | "aftnsepc" | "aftncn" => {
                self.begin_separator(start)
            }
            "sp" if self.group.dest == Dest::Shape => self.group.dest = Dest::Property,
            "sn" if self.group.dest == Dest::Property => {
                self.property.clear();
                self.group.dest = Dest::PropertyName;
            }
            "sv" if self.group.dest == Dest::Property && self.property.trim() == WORD_ART => {
                self.begin_flow(ParagraphPlace::TextBox, start);
            }
            "shptxt" | "dptxbxtext" => self.begin_flow(ParagraphPlace::TextBox, start),
            "shpinst" | "do" => {
                self.mark("drawing", start);
                self.group.dest = Dest::Shape;
            }
            "fldinst" => self.collect(Dest::Field),
            "listtext" | "pntext" => {
                self.collect(Dest::Number);
                self.plain();
            }
            "bkmkstart" => self.collect(Dest::Begin),
            "bkmkend" => self.collect(Dest::End),
            "pn" => {
                self.group.owns_dest = true;
                self.group.dest = Dest::Numbering;
            }
            "nesttableprops" => self.group.dest = Dest::NestedRow,
            "upr" => self.group.dest = Dest::Twice,
            _ if let Some((_, kind)) = CONTENTS.iter().find(|(word, _)| *word == name) => {
                self.group.content = Some(kind);
                self.group.dest = Dest::Skip;
            }
            _ if SKIPPED.binary_search(&name).is_ok() => self.group.dest = Dest::Skip,
            _ if star && !READ.contains(&name) && words::find(name).is_none() => {
                self.group.dest = Dest::Skip
            }
            _ => return false,
        }
        true
    }

    fn table(&mut self, dest: Dest) {
        if !matches!(self.group.dest, Dest::Fonts | Dest::Table) {
            self.group.owns_table = Some(self.lexer.at);
            self.group.dest = dest;
        }
    }

    fn collect(&mut self, dest: Dest) {
        // Nested destinations belong to the outer one, above all in a field's instruction.
        if self.group.dest == Dest::Text {
            self.collected.clear();
            self.group.owns_dest = true;
            self.group.dest = dest;
        }
    }

    fn begin_separator(&mut self, start: usize) {
        let is_new = !self.group.owns_flow;
        self.begin_flow(ParagraphPlace::Footer, start);
        if let Some(flow) = self.flows.last_mut().filter(|_| is_new) {
            flow.is_separator = true;
        }
    }

    fn begin_flow(&mut self, place: ParagraphPlace, start: usize) {
        if self.group.owns_flow {
            return;
        }
        if matches!(place, ParagraphPlace::Header | ParagraphPlace::Footer) {
            if let Some(flow) = self.flows.last_mut() {
                flow.begin_later();
            }
        } else if place != ParagraphPlace::TextBox {
            self.mark(
                if place == ParagraphPlace::Footnote {
                    "note"
                } else {
                    "remark"
                },
                start,
            );
        }
        self.group.owns_flow = true;
        self.group.dest = Dest::Text;
        self.group.paras = Rc::new(Props::default());
        self.plain();
        self.flows.push(Flow::new(place));
    }

    /// Ends the innermost flow at a byte of the source.
    pub fn end_flow(&mut self, end: usize) {
        if self.flows.last().is_some_and(Flow::has_content) {
            self.end_paragraph(self.depth(), end);
        }
        if let (Some(mut flow), Some(last)) =
            (self.flows.pop(), self.gathered.paragraphs.last_mut())
        {
            last.signature.extend(flow.take_rest());
        }
    }

    /// Records a mark between the letters of the paragraph.
    pub fn mark(&mut self, name: &str, at: usize) {
        if self.group.dest == Dest::Text
            && !self.group.deleted
            && let Some(flow) = self.flows.last_mut()
        {
            flow.mark(name, at);
        }
    }

    /// Records something between the letters of the paragraph that has a content of its own.
    pub fn content(&mut self, kind: &str, source: &str, at: usize) {
        if self.group.dest == Dest::Text
            && !self.group.deleted
            && let Some(flow) = self.flows.last_mut()
        {
            flow.content(kind, source, at);
        }
    }

    /// Handles the end of a group that set its own destination; its brace is at `end`.
    pub fn end_destination(&mut self, inner: &RtfGroup, end: usize) {
        match inner.dest {
            Dest::Number if !self.group.deleted => {
                let number = self.collected.trim();
                if !number.is_empty()
                    && let Some(flow) = self.flows.last_mut()
                {
                    flow.touch(inner.start);
                    // A text that only old readers show.
                    if number.chars().count() > LONGEST_NUMBER
                        || number.split_whitespace().count() > NUMBER_WORDS
                    {
                        flow.content("number", number, inner.start);
                    }
                    flow.number = Some(number.to_owned());
                }
            }
            Dest::Field => {
                let word = self
                    .collected
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_ascii_uppercase();
                let instruction = self
                    .collected
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                if is_internal(&word, &instruction) {
                    self.mark(format!("field {word}").trim_end(), inner.start);
                } else {
                    self.content("field", &instruction, inner.start);
                }
                if word == "SYMBOL" {
                    let written = self.written;
                    self.group.pending =
                        named(&self.collected).map(|letter| PendingSymbol { letter, written });
                }
            }
            Dest::Begin => {
                let name = self.collected.trim().to_owned();
                self.names
                    .insert(name.clone(), self.document.bookmarks.len());
                self.document.bookmarks.push(Bookmark {
                    name,
                    source: end + 1..end + 1,
                });
            }
            Dest::End => {
                let begun = self.names.remove(self.collected.trim());
                if let Some(bookmark) = begun.and_then(|at| self.document.bookmarks.get_mut(at)) {
                    bookmark.source.end = inner.start.max(bookmark.source.start);
                }
            }
            Dest::Numbering => self.group.paras = Rc::clone(&inner.paras),
            _ => {}
        }
    }

    /// Keeps the source of a header table, from the word that named it to its closing brace.
    pub fn keep_table(&mut self, start: usize, begin: usize, end: usize) {
        let named = self.source.get(start..begin).unwrap_or_default();
        let source = normalized(self.source.get(begin..end).unwrap_or_default());
        let tables = &mut self.document.tables;
        let table = if contains(named, b"\\fonttbl") {
            &mut tables.fonts
        } else if contains(named, b"\\colortbl") {
            &mut tables.colours
        } else if contains(named, b"\\stylesheet") {
            &mut tables.styles
        } else {
            &mut tables.lists
        };
        if !table.is_empty() {
            table.push('\n');
        }
        table.push_str(&source);
    }
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}
