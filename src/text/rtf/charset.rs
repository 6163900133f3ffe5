//! Code pages: which one a document or a font names, and its bytes as characters.

use encoding_rs::Encoding;

/// How bytes become characters.
#[derive(Debug, Clone, Copy)]
pub enum Page {
    /// One of the Encoding Standard.
    Known(&'static Encoding),
    /// A table of the upper 128 bytes.
    Table(&'static str),
    /// A font of symbols: a byte is a shape, not a letter.
    Symbol,
}

impl Page {
    /// The page of a document that names none.
    pub const WESTERN: Self = Self::Known(encoding_rs::WINDOWS_1252);

    /// The page of a number (`\ansicpg`, `\cpg`).
    pub fn numbered(number: i64) -> Option<Self> {
        let encoding = match number {
            437 => return Some(Self::Table(PC_437)),
            850 | 858 => return Some(Self::Table(PC_850)),
            42 => return Some(Self::Symbol),
            0 | 1252 | 20127 => encoding_rs::WINDOWS_1252,
            866 => encoding_rs::IBM866,
            874 => encoding_rs::WINDOWS_874,
            932 | 10001 => encoding_rs::SHIFT_JIS,
            936 | 54936 | 10008 => encoding_rs::GBK,
            949 | 1361 | 10003 => encoding_rs::EUC_KR,
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
            10007 => encoding_rs::X_MAC_CYRILLIC,
            20866 => encoding_rs::KOI8_R,
            21866 => encoding_rs::KOI8_U,
            28592 => encoding_rs::ISO_8859_2,
            28591 => encoding_rs::WINDOWS_1252,
            28595 => encoding_rs::ISO_8859_5,
            28597 => encoding_rs::ISO_8859_7,
            28605 => encoding_rs::ISO_8859_15,
            65001 => encoding_rs::UTF_8,
            _ => return None,
        };
        Some(Self::Known(encoding))
    }

    /// The page of a font's `\fcharset`; the inner nothing is "as the document".
    pub fn of_charset(charset: i64) -> Option<Option<Self>> {
        let number = match charset {
            1 => return Some(None),
            0 => 1252,
            2 => 42,
            77 => 10000,
            128 => 932,
            129 | 130 => 949,
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

    /// How many bytes the character has that begins with this byte.
    pub fn length(self, first: u8) -> usize {
        let Self::Known(encoding) = self else { return 1 };
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

    /// The characters of some bytes.
    pub fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Known(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
            Self::Table(table) => bytes.iter().map(|byte| upper(table, *byte)).collect(),
            Self::Symbol => bytes.iter().map(|byte| symbol(*byte)).collect(),
        }
    }

    /// A character of the private area that stands for a byte of a symbol font.
    pub fn private(self, code: u32) -> Option<char> {
        match (self, code) {
            (Self::Symbol, 0xF020..=0xF0FF) => u8::try_from(code - 0xF000).ok().map(symbol),
            _ => None,
        }
    }
}

fn upper(table: &str, byte: u8) -> char {
    match byte.checked_sub(128) {
        None => char::from(byte),
        Some(place) => table.chars().nth(usize::from(place)).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// Bullets as people know them; any other shape as the western letter at its place.
fn symbol(byte: u8) -> char {
    match byte {
        0xB7 => '\u{2022}',
        0xA7 => '\u{25AA}',
        0..0x80 => char::from(byte),
        _ => encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next().unwrap_or('\u{FFFD}'),
    }
}

/// The upper half of code page 437.
const PC_437: &str = concat!(
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
    "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
);

/// The upper half of code page 850.
const PC_850: &str = concat!(
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐",
    "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
);
