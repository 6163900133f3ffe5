//! The formatting control words, and their effects.

use std::sync::LazyLock;

use self::FormatLevel::{Char, Para};
use self::WordEffect::{Choice, Clear, Keep, Side, Toggle, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatLevel {
    /// Characters.
    Char,
    /// A paragraph.
    Para,
}

/// How a word changes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordEffect {
    /// On, or off with the value 0.
    Toggle,
    /// A number; this default and 0 mean that the word is not set.
    Value(i32),
    /// A number for which 0 is also kept.
    Keep,
    /// One of a group: the last one applies; the value 0 clears the group.
    Choice(u16),
    /// Clears a group.
    Clear(u16),
    /// Selects the border for the following attributes.
    Side,
}

#[derive(Debug, Clone, Copy)]
pub struct FormattingWord {
    pub name: &'static str,
    pub level: FormatLevel,
    pub kind: WordEffect,
}

const ZERO: WordEffect = Value(0);
const UNDERLINE: u16 = 0;
const SCRIPT: u16 = 1;
const ALIGN: u16 = 2;
const WIDOW: u16 = 3;
const DIRECTION: u16 = 4;
const BULLET: u16 = 5;
const BULLET_FORM: u16 = 6;

/// Attributes of a border; they follow the word that selects its side.
pub const BORDER: &[&str] = &[
    "brdrart",
    "brdrbar",
    "brdrcf",
    "brdrdash",
    "brdrdashd",
    "brdrdashdd",
    "brdrdashdot",
    "brdrdashdotdot",
    "brdrdashsm",
    "brdrdb",
    "brdrdot",
    "brdremboss",
    "brdrengrave",
    "brdrframe",
    "brdrhair",
    "brdrinset",
    "brdrnil",
    "brdrnone",
    "brdroutset",
    "brdrs",
    "brdrsh",
    "brdrtbl",
    "brdrth",
    "brdrthtnlg",
    "brdrthtnmg",
    "brdrthtnsg",
    "brdrtnthlg",
    "brdrtnthmg",
    "brdrtnthsg",
    "brdrtnthtnlg",
    "brdrtnthtnmg",
    "brdrtnthtnsg",
    "brdrtriple",
    "brdrw",
    "brdrwavy",
    "brdrwavydb",
    "brsp",
];

/// All other formatting words, sorted by name.
pub static WORDS: LazyLock<Vec<FormattingWord>> = LazyLock::new(|| {
    let mut words: Vec<FormattingWord> = Vec::new();
    for &(level, kind, names) in BY_EFFECT {
        for name in names.split(' ') {
            words.push(FormattingWord { name, level, kind });
        }
    }
    words.sort_unstable_by_key(|word| word.name);
    words
});

/// Names with the same level and effect.
const BY_EFFECT: &[(FormatLevel, WordEffect, &str)] = &[
    (
        Char,
        Toggle,
        "ab acaps acccomma accdot ai ascaps astrike aul b caps deleted embo i impr outl revised scaps shad strike \
         striked v",
    ),
    (
        Char,
        ZERO,
        "acf af animtext cb cf chcbpat chcfpat chshdng cs dn expnd expndtw highlight kerning ulc up",
    ),
    (Char, Value(100), "charscalex"),
    (Char, Value(24), "afs fs"),
    (Char, Keep, "alang f lang langfe langfenp langnp"),
    (Char, Side, "chbrdr"),
    (Char, Choice(SCRIPT), "sub super"),
    (
        Char,
        Choice(UNDERLINE),
        "ul uld uldash uldashd uldashdd uldb ulhair ulhwave ulldash ulth ulthd ulthdash ulthdashd ulthdashdd \
         ulthldash ululdbwave ulw ulwave",
    ),
    (Char, Clear(SCRIPT), "nosupersub"),
    (Char, Clear(UNDERLINE), "ulnone"),
    (
        Para,
        Toggle,
        "contextualspace facenter fafixed fahang faroman favar intbl keep keepn noline nosnaplinegrid nowrap pagebb \
         phcol phmrg phpg pnb pvmrg pvpara pvpg saauto sbauto sbys",
    ),
    (
        Para,
        ZERO,
        "absh absw cbpat cfpat cufi culi curi dropcapli dropcapt faauto fi ilvl li lin lisa lisb ls pnf pnindent \
         pnlvl pnstart posx posy ri rin s sa sb shading sl slmult",
    ),
    (Para, Value(1), "itap"),
    (Para, Keep, "hyphpar level outlinelevel"),
    (Para, Side, "box brdrb brdrbtw brdrl brdrr brdrt"),
    (Para, Choice(ALIGN), "qc qd qj qk qr qt"),
    (Para, Choice(BULLET), "pnlvlblt pnlvlbody pnlvlcont"),
    (
        Para,
        Choice(BULLET_FORM),
        "pncard pndec pnlcltr pnlcrm pnord pnucltr pnucrm",
    ),
    (Para, Choice(DIRECTION), "rtlpar"),
    (Para, Choice(WIDOW), "widctlpar"),
    (Para, Clear(ALIGN), "ql"),
    (Para, Clear(DIRECTION), "ltrpar"),
    (Para, Clear(WIDOW), "nowidctlpar"),
];

/// A word of the table with its index.
pub fn find(name: &str) -> Option<(usize, FormattingWord)> {
    let place = WORDS.binary_search_by(|word| word.name.cmp(name)).ok()?;
    WORDS.get(place).map(|word| (place, *word))
}
