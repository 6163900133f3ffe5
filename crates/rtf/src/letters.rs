//! Text, code page bytes and `\u`: everything that becomes letters of a paragraph.

use std::rc::Rc;
use std::str::from_utf8;

use super::FlawKind;
use super::charset::Page;
use super::reader::{Dest, RtfReader, Script};

/// Maximum length of collected numbers, names and instructions.
const LONGEST: usize = 4_096;

impl RtfReader<'_> {
    /// Handles a run of plain bytes.
    pub fn text(&mut self, bytes: &[u8], at: usize) {
        if self.group.dest == Dest::Fonts {
            self.font_name(bytes);
        }
        let (mut rest, mut at) = (bytes, at);
        while let Some((byte, after)) = rest.split_first() {
            // A pending byte may need a second one.
            let plain = if self.bytes.is_empty() {
                self.unpaged(rest)
            } else {
                ""
            };
            if plain.is_empty() {
                self.byte(*byte, at);
                rest = after;
                at += 1;
            } else {
                let kept = plain.get(self.skipped(plain)..).unwrap_or_default();
                self.letters(kept, at + plain.len() - kept.len());
                rest = rest.get(plain.len()..).unwrap_or_default();
                at += plain.len();
            }
        }
    }

    /// The leading part that does not depend on a code page.
    fn unpaged<'b>(&self, bytes: &'b [u8]) -> &'b str {
        if self.utf8
            && let Ok(text) = from_utf8(bytes)
        {
            return text;
        }
        let length = bytes
            .iter()
            .position(|byte| !byte.is_ascii())
            .unwrap_or(bytes.len());
        bytes
            .get(..length)
            .and_then(|bytes| from_utf8(bytes).ok())
            .unwrap_or_default()
    }

    /// Handles a name in the font table; the font "Symbol" is recognized by its name.
    fn font_name(&mut self, name: &[u8]) {
        if name.strip_suffix(b";").unwrap_or(name).trim_ascii() == b"Symbol" {
            self.greek.insert(self.table_font);
            // With a character set of letters, its bytes are letters.
            if matches!(self.pages.get(&self.table_font), None | Some(Page::Shapes)) {
                self.pages.insert(self.table_font, Page::Greek);
            }
        }
    }

    /// Number of leading bytes that are a fallback of `\u`.
    fn skipped(&mut self, text: &str) -> usize {
        let mut bytes = 0;
        for letter in text.chars().take(self.skip) {
            bytes += letter.len_utf8();
            self.skip -= 1;
        }
        bytes
    }

    /// Handles a byte, plain or escaped.
    pub fn byte(&mut self, byte: u8, at: usize) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.bytes.is_empty() {
            if byte < 0x80 {
                let letter = self.display_page().displayed(char::from(byte));
                self.put(letter.encode_utf8(&mut [0; 4]), at);
                return;
            }
            self.bytes_at = at;
        }
        self.bytes.push(byte);
        let page = self.font_page();
        if self
            .bytes
            .first()
            .is_none_or(|first| self.bytes.len() >= page.length(*first))
        {
            self.flush();
        }
    }

    /// Decodes and puts the pending bytes.
    pub fn flush(&mut self) {
        if !self.bytes.is_empty() {
            self.guess();
            let text = self.font_page().decode(&std::mem::take(&mut self.bytes));
            self.put(&text, self.bytes_at);
        }
    }

    /// The font that decodes bytes here.
    fn text_font(&self) -> i32 {
        let [main, far, right_to_left] = self.group.fonts;
        let font = match self.group.script {
            Script::Main => main,
            Script::Far => far.or(main),
            Script::RightToLeft => right_to_left.or(main),
        };
        font.unwrap_or(self.font)
    }

    /// The code page of that font.
    fn font_page(&self) -> Page {
        self.pages
            .get(&self.text_font())
            .copied()
            .unwrap_or(self.page)
    }

    /// The code page for letters here; names and instructions do not depend on the font.
    fn display_page(&self) -> Page {
        if self.shows() {
            self.font_page()
        } else {
            self.page
        }
    }

    /// Whether text here is part of the document.
    const fn shows(&self) -> bool {
        matches!(self.group.dest, Dest::Text | Dest::NestedRow | Dest::Number)
    }

    /// Reports an unknown code page once, when a letter is decoded with it.
    fn guess(&mut self) {
        if !self.shows() {
            return;
        }
        let font = self.text_font();
        let is_stated = self.pages.contains_key(&font) || self.unknown.contains_key(&Some(font));
        if let Some(at) = self.unknown.remove(&is_stated.then_some(font)) {
            self.flaw(at, FlawKind::UnknownCodePage);
        }
    }

    /// Handles `\u`.
    pub fn unicode(&mut self, value: i64, at: usize) {
        // Writers use signed 16-bit numbers; some write a whole code point beyond them.
        let code = match value {
            0x1_0000..=0x10_FFFF => u32::try_from(value).ok(),
            -0x8000..0x1_0000 => u32::try_from(value & 0xFFFF).ok(),
            _ => None,
        };
        let code = match (code, self.high) {
            (Some(low @ 0xDC00..0xE000), Some((high, start))) => {
                self.high = None;
                let pair = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                self.put_code(pair, start);
                None
            }
            (Some(high @ 0xD800..0xDC00), _) => {
                self.report_lost_half();
                self.high = Some((high, at));
                None
            }
            (Some(code), _) => Some(code),
            (None, _) => Some(u32::MAX),
        };
        if let Some(code) = code {
            self.put_code(code, at);
        }
        self.skip = self.group.fallback;
    }

    fn put_code(&mut self, code: u32, at: usize) {
        let page = if self.greek.contains(&self.text_font()) {
            Page::Greek
        } else {
            self.font_page()
        };
        let letter = page
            .private(code)
            .or_else(|| char::from_u32(code))
            .unwrap_or_else(|| {
                self.flaw(at, FlawKind::BadUnicode);
                char::REPLACEMENT_CHARACTER
            });
        // TextEdit writes `\line` as this character.
        let letter = if letter == '\u{2028}' { '\n' } else { letter };
        let mut buffer = [0; 4];
        self.put(letter.encode_utf8(&mut buffer), at);
    }

    /// Reports a first half of a surrogate pair without a second one.
    pub fn report_lost_half(&mut self) {
        if let Some((_, at)) = self.high.take() {
            self.flaw(at, FlawKind::BadUnicode);
            self.put("\u{FFFD}", at);
        }
    }

    /// Puts plain text whose bytes are unchanged in the source.
    fn letters(&mut self, text: &str, mut at: usize) {
        let page = self.display_page();
        if matches!(page, Page::Greek) {
            for (place, letter) in text.char_indices() {
                self.put(page.displayed(letter).encode_utf8(&mut [0; 4]), at + place);
            }
            return;
        }
        for run in text.split_inclusive(shapeless) {
            self.put_clean(run.trim_end_matches(shapeless), at);
            at += run.len();
        }
    }

    /// Puts the text of one escape, word or byte; invisible characters are left out.
    pub fn put(&mut self, text: &str, at: usize) {
        if !text.contains(shapeless) {
            self.put_clean(text, at);
        }
    }

    fn put_clean(&mut self, text: &str, at: usize) {
        if text.is_empty() {
            return;
        }
        self.report_lost_half();
        match self.group.dest {
            Dest::Text | Dest::NestedRow if self.group.deleted => {}
            // Text between the definitions of a nested row is ignored, unless the writer put the row itself there.
            Dest::NestedRow if text.trim().is_empty() && !self.has_content() => {}
            Dest::Text | Dest::NestedRow if self.group.hidden => {
                self.document.hidden += text.chars().filter(|char| !char.is_whitespace()).count();
            }
            Dest::Text | Dest::NestedRow => {
                let props = Rc::clone(&self.group.chars);
                self.written += 1;
                if let Some(flow) = self.flows.last_mut() {
                    flow.push(text, at, &props, &mut self.gathered);
                }
            }
            Dest::Number | Dest::Field | Dest::Begin | Dest::End => {
                let left = LONGEST.saturating_sub(self.collected.len());
                self.collected.extend(text.chars().take(left));
            }
            Dest::PropertyName => {
                let left = LONGEST.saturating_sub(self.property.len());
                self.property.extend(text.chars().take(left));
            }
            _ => {}
        }
    }
}

/// Whether a character is invisible and does not separate words: a soft hyphen or a control character.
fn shapeless(letter: char) -> bool {
    letter == '\u{AD}' || (letter < ' ' && letter != '\t' && letter != '\n')
}
