//! Code pages: which one a document or a font uses, and how its bytes become characters.

use encoding_rs::Encoding;

use super::pages::{PAGES, SYMBOL_HIGH, SYMBOL_LOW};

/// A code page.
#[derive(Debug, Clone, Copy)]
pub enum Page {
    /// An encoding of the Encoding Standard.
    Known(&'static Encoding),
    /// A table of the upper 128 bytes.
    Table(&'static str),
    /// A symbol font: a byte is a shape, not a letter.
    Shapes,
    /// The font "Symbol": Greek letters and mathematical signs.
    Greek,
}

impl Page {
    /// The default page of a document.
    pub const WESTERN: Self = Self::Known(encoding_rs::WINDOWS_1252);

    /// The page with this number (`\ansicpg`, `\cpg`); `None` if it is unknown.
    pub fn numbered(number: i64) -> Option<Self> {
        let encoding = match number {
            42 => return Some(Self::Shapes),
            0 | 819 | 1252 | 20127 | 28591 => encoding_rs::WINDOWS_1252,
            708 | 28596 => encoding_rs::ISO_8859_6,
            866 => encoding_rs::IBM866,
            874 => encoding_rs::WINDOWS_874,
            932 | 10001 => encoding_rs::SHIFT_JIS,
            936 | 54936 | 10008 => encoding_rs::GBK,
            949 | 10003 => encoding_rs::EUC_KR,
            950 | 10002 => encoding_rs::BIG5,
            1250 => encoding_rs::WINDOWS_1250,
            1251 => encoding_rs::WINDOWS_1251,
            1253 => encoding_rs::WINDOWS_1253,
            1254 => encoding_rs::WINDOWS_1254,
            1255 => encoding_rs::WINDOWS_1255,
            1256 => encoding_rs::WINDOWS_1256,
            1257 => encoding_rs::WINDOWS_1257,
            1258 => encoding_rs::WINDOWS_1258,
            10000 => encoding_rs::MACINTOSH,
            10007 | 10017 => encoding_rs::X_MAC_CYRILLIC,
            20866 => encoding_rs::KOI8_R,
            21866 => encoding_rs::KOI8_U,
            28592 => encoding_rs::ISO_8859_2,
            28595 => encoding_rs::ISO_8859_5,
            28597 => encoding_rs::ISO_8859_7,
            28605 => encoding_rs::ISO_8859_15,
            65001 => encoding_rs::UTF_8,
            _ => {
                let place = PAGES.binary_search_by_key(&number, |page| page.0).ok()?;
                return PAGES.get(place).map(|page| Self::Table(page.1));
            }
        };
        Some(Self::Known(encoding))
    }

    /// The page of a font's `\fcharset`; the inner `None` means the document's page.
    pub fn of_charset(charset: i64) -> Option<Option<Self>> {
        let number = match charset {
            // Word for Mac writes 256 for "default".
            1 | 256 => return Some(None),
            0 => 1252,
            2 => 42,
            77 => 10000,
            78 => 10001,
            79 => 10003,
            80 => 10008,
            81 => 10002,
            84 => 10004,
            85 => 10006,
            86 => 10081,
            88 => 10029,
            89 => 10007,
            128 => 932,
            129 => 949,
            134 => 936,
            136 => 950,
            161 => 1253,
            162 => 1254,
            163 => 1258,
            177 => 1255,
            178..=180 => 1256,
            186 => 1257,
            204 => 1251,
            222 => 874,
            238 => 1250,
            254 => 437,
            255 => 850,
            _ => return None,
        };
        Self::numbered(number).map(Some)
    }

    /// The length in bytes of the character that begins with this byte.
    pub fn length(self, first: u8) -> usize {
        let Self::Known(encoding) = self else {
            return 1;
        };
        if encoding == encoding_rs::UTF_8 {
            return match first {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => 1,
            };
        }
        let lead = if encoding == encoding_rs::SHIFT_JIS {
            matches!(first, 0x81..=0x9F | 0xE0..=0xFC)
        } else {
            !encoding.is_single_byte() && matches!(first, 0x81..=0xFE)
        };
        if lead { 2 } else { 1 }
    }

    pub fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Known(encoding) => match (encoding.decode_without_bom_handling(bytes), bytes) {
                // An invalid pair: a replacement character, and the second byte if it is an ASCII character by itself.
                ((_, true), [_, second]) if encoding != encoding_rs::UTF_8 => {
                    let ascii = matches!(second, 0..0x40 | 0x7F).then(|| char::from(*second));
                    std::iter::once(char::REPLACEMENT_CHARACTER)
                        .chain(ascii)
                        .collect()
                }
                ((text, _), _) => text.into_owned(),
            },
            Self::Table(table) => bytes.iter().map(|byte| upper(table, *byte)).collect(),
            Self::Shapes => bytes.iter().map(|byte| shape(*byte)).collect(),
            Self::Greek => bytes.iter().map(|byte| greek(*byte)).collect(),
        }
    }

    /// How an ASCII letter is displayed in this page; other characters stay unchanged.
    pub fn displayed(self, letter: char) -> char {
        match (self, u8::try_from(letter)) {
            (Self::Greek, Ok(byte @ 0..0x80)) => greek(byte),
            _ => letter,
        }
    }

    /// The character of a private-use code that represents a byte of a symbol font.
    pub fn private(self, code: u32) -> Option<char> {
        match (self, code) {
            (Self::Shapes, 0xF020..=0xF0FF) => u8::try_from(code - 0xF000).ok().map(shape),
            (Self::Greek, 0xF020..=0xF0FF) => u8::try_from(code - 0xF000).ok().map(greek),
            _ => None,
        }
    }
}

fn upper(table: &str, byte: u8) -> char {
    match byte.checked_sub(128) {
        None => char::from(byte),
        Some(place) => table
            .chars()
            .nth(usize::from(place))
            .unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// Common bullets; any other shape as the western character with the same code.
fn shape(byte: u8) -> char {
    match byte {
        0xB7 => '\u{2022}',
        0xA7 => '\u{25AA}',
        _ => encoding_rs::WINDOWS_1252
            .decode_without_bom_handling(&[byte])
            .0
            .chars()
            .next()
            .unwrap_or('\u{FFFD}'),
    }
}

/// A shape of the font "Symbol"; otherwise the western character with the same code.
fn greek(byte: u8) -> char {
    let [high, higher] = SYMBOL_HIGH;
    let (shapes, from) = match byte {
        0x20..=0x7E => (SYMBOL_LOW, 0x20),
        0xA0..=0xEF => (high, 0xA0),
        0xF1..=0xFE => (higher, 0xF1),
        _ => ("", 0),
    };
    shapes
        .chars()
        .nth(usize::from(byte - from))
        .unwrap_or_else(|| shape(byte))
}

/// The character of a field from Word's "Insert symbol": `SYMBOL 179 \f "Symbol" \s 12`.
pub fn named(instruction: &str) -> Option<char> {
    let number = instruction.split_whitespace().nth(1)?;
    let number = match number
        .strip_prefix("0x")
        .or_else(|| number.strip_prefix("0X"))
    {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let font = instruction
        .split_once("\\f")
        .map_or("", |(_, font)| font.trim_start().trim_start_matches('"'));
    let page = match font.split(['"', ' ']).next().unwrap_or_default() {
        "Symbol" => Page::Greek,
        "Wingdings" | "Webdings" | "ZapfDingbats" | "Monotype" => Page::Shapes,
        _ => Page::WESTERN,
    };
    match u8::try_from(number) {
        Ok(byte) => page.decode(&[byte]).chars().next(),
        Err(_) => page.private(number).or_else(|| char::from_u32(number)),
    }
}
