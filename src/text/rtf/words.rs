//! The formatting control words, and their effects.

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

const fn c(name: &'static str, kind: WordEffect) -> FormattingWord {
    FormattingWord { name, level: FormatLevel::Char, kind }
}

const fn p(name: &'static str, kind: WordEffect) -> FormattingWord {
    FormattingWord { name, level: FormatLevel::Para, kind }
}

const ZERO: WordEffect = WordEffect::Value(0);
const UNDERLINE: u16 = 0;
const SCRIPT: u16 = 1;
const ALIGN: u16 = 2;
const WIDOW: u16 = 3;
const DIRECTION: u16 = 4;
const BULLET: u16 = 5;
const BULLET_FORM: u16 = 6;

/// Attributes of a border; they follow the word that selects its side.
pub const BORDER: &[&str] = &[
    "brdrart", "brdrbar", "brdrcf", "brdrdash", "brdrdashd", "brdrdashdd", "brdrdashdot", "brdrdashdotdot",
    "brdrdashsm", "brdrdb", "brdrdot", "brdremboss", "brdrengrave", "brdrframe", "brdrhair", "brdrinset", "brdrnil",
    "brdrnone", "brdroutset", "brdrs", "brdrsh", "brdrtbl", "brdrth", "brdrthtnlg", "brdrthtnmg", "brdrthtnsg",
    "brdrtnthlg", "brdrtnthmg", "brdrtnthsg", "brdrtnthtnlg", "brdrtnthtnmg", "brdrtnthtnsg", "brdrtriple", "brdrw",
    "brdrwavy", "brdrwavydb", "brsp",
];

/// All other formatting words, sorted by name.
pub const WORDS: &[FormattingWord] = &[
    c("ab", WordEffect::Toggle),
    p("absh", ZERO),
    p("absw", ZERO),
    c("acaps", WordEffect::Toggle),
    c("acccomma", WordEffect::Toggle),
    c("accdot", WordEffect::Toggle),
    c("acf", ZERO),
    c("af", ZERO),
    c("afs", WordEffect::Value(24)),
    c("ai", WordEffect::Toggle),
    c("alang", WordEffect::Keep),
    c("animtext", ZERO),
    c("ascaps", WordEffect::Toggle),
    c("astrike", WordEffect::Toggle),
    c("aul", WordEffect::Toggle),
    c("b", WordEffect::Toggle),
    p("box", WordEffect::Side),
    p("brdrb", WordEffect::Side),
    p("brdrbtw", WordEffect::Side),
    p("brdrl", WordEffect::Side),
    p("brdrr", WordEffect::Side),
    p("brdrt", WordEffect::Side),
    c("caps", WordEffect::Toggle),
    c("cb", ZERO),
    p("cbpat", ZERO),
    c("cf", ZERO),
    p("cfpat", ZERO),
    c("charscalex", WordEffect::Value(100)),
    c("chbrdr", WordEffect::Side),
    c("chcbpat", ZERO),
    c("chcfpat", ZERO),
    c("chshdng", ZERO),
    p("contextualspace", WordEffect::Toggle),
    c("cs", ZERO),
    p("cufi", ZERO),
    p("culi", ZERO),
    p("curi", ZERO),
    c("deleted", WordEffect::Toggle),
    c("dn", ZERO),
    p("dropcapli", ZERO),
    p("dropcapt", ZERO),
    c("embo", WordEffect::Toggle),
    c("expnd", ZERO),
    c("expndtw", ZERO),
    c("f", WordEffect::Keep),
    p("faauto", ZERO),
    p("facenter", WordEffect::Toggle),
    p("fafixed", WordEffect::Toggle),
    p("fahang", WordEffect::Toggle),
    p("faroman", WordEffect::Toggle),
    p("favar", WordEffect::Toggle),
    p("fi", ZERO),
    c("fs", WordEffect::Value(24)),
    c("highlight", ZERO),
    p("hyphpar", WordEffect::Keep),
    c("i", WordEffect::Toggle),
    p("ilvl", ZERO),
    c("impr", WordEffect::Toggle),
    p("intbl", WordEffect::Toggle),
    p("itap", WordEffect::Value(1)),
    p("keep", WordEffect::Toggle),
    p("keepn", WordEffect::Toggle),
    c("kerning", ZERO),
    c("lang", WordEffect::Keep),
    c("langfe", WordEffect::Keep),
    c("langfenp", WordEffect::Keep),
    c("langnp", WordEffect::Keep),
    p("level", WordEffect::Keep),
    p("li", ZERO),
    p("lin", ZERO),
    p("lisa", ZERO),
    p("lisb", ZERO),
    p("ls", ZERO),
    p("ltrpar", WordEffect::Clear(DIRECTION)),
    p("noline", WordEffect::Toggle),
    p("nosnaplinegrid", WordEffect::Toggle),
    c("nosupersub", WordEffect::Clear(SCRIPT)),
    p("nowidctlpar", WordEffect::Clear(WIDOW)),
    p("nowrap", WordEffect::Toggle),
    c("outl", WordEffect::Toggle),
    p("outlinelevel", WordEffect::Keep),
    p("pagebb", WordEffect::Toggle),
    p("phcol", WordEffect::Toggle),
    p("phmrg", WordEffect::Toggle),
    p("phpg", WordEffect::Toggle),
    p("pnb", WordEffect::Toggle),
    p("pncard", WordEffect::Choice(BULLET_FORM)),
    p("pndec", WordEffect::Choice(BULLET_FORM)),
    p("pnf", ZERO),
    p("pnindent", ZERO),
    p("pnlcltr", WordEffect::Choice(BULLET_FORM)),
    p("pnlcrm", WordEffect::Choice(BULLET_FORM)),
    p("pnlvl", ZERO),
    p("pnlvlblt", WordEffect::Choice(BULLET)),
    p("pnlvlbody", WordEffect::Choice(BULLET)),
    p("pnlvlcont", WordEffect::Choice(BULLET)),
    p("pnord", WordEffect::Choice(BULLET_FORM)),
    p("pnstart", ZERO),
    p("pnucltr", WordEffect::Choice(BULLET_FORM)),
    p("pnucrm", WordEffect::Choice(BULLET_FORM)),
    p("posx", ZERO),
    p("posy", ZERO),
    p("pvmrg", WordEffect::Toggle),
    p("pvpara", WordEffect::Toggle),
    p("pvpg", WordEffect::Toggle),
    p("qc", WordEffect::Choice(ALIGN)),
    p("qd", WordEffect::Choice(ALIGN)),
    p("qj", WordEffect::Choice(ALIGN)),
    p("qk", WordEffect::Choice(ALIGN)),
    p("ql", WordEffect::Clear(ALIGN)),
    p("qr", WordEffect::Choice(ALIGN)),
    p("qt", WordEffect::Choice(ALIGN)),
    c("revised", WordEffect::Toggle),
    p("ri", ZERO),
    p("rin", ZERO),
    p("rtlpar", WordEffect::Choice(DIRECTION)),
    p("s", ZERO),
    p("sa", ZERO),
    p("saauto", WordEffect::Toggle),
    p("sb", ZERO),
    p("sbauto", WordEffect::Toggle),
    p("sbys", WordEffect::Toggle),
    c("scaps", WordEffect::Toggle),
    c("shad", WordEffect::Toggle),
    p("shading", ZERO),
    p("sl", ZERO),
    p("slmult", ZERO),
    c("strike", WordEffect::Toggle),
    c("striked", WordEffect::Toggle),
    c("sub", WordEffect::Choice(SCRIPT)),
    c("super", WordEffect::Choice(SCRIPT)),
    c("ul", WordEffect::Choice(UNDERLINE)),
    c("ulc", ZERO),
    c("uld", WordEffect::Choice(UNDERLINE)),
    c("uldash", WordEffect::Choice(UNDERLINE)),
    c("uldashd", WordEffect::Choice(UNDERLINE)),
    c("uldashdd", WordEffect::Choice(UNDERLINE)),
    c("uldb", WordEffect::Choice(UNDERLINE)),
    c("ulhair", WordEffect::Choice(UNDERLINE)),
    c("ulhwave", WordEffect::Choice(UNDERLINE)),
    c("ulldash", WordEffect::Choice(UNDERLINE)),
    c("ulnone", WordEffect::Clear(UNDERLINE)),
    c("ulth", WordEffect::Choice(UNDERLINE)),
    c("ulthd", WordEffect::Choice(UNDERLINE)),
    c("ulthdash", WordEffect::Choice(UNDERLINE)),
    c("ulthdashd", WordEffect::Choice(UNDERLINE)),
    c("ulthdashdd", WordEffect::Choice(UNDERLINE)),
    c("ulthldash", WordEffect::Choice(UNDERLINE)),
    c("ululdbwave", WordEffect::Choice(UNDERLINE)),
    c("ulw", WordEffect::Choice(UNDERLINE)),
    c("ulwave", WordEffect::Choice(UNDERLINE)),
    c("up", ZERO),
    c("v", WordEffect::Toggle),
    p("widctlpar", WordEffect::Choice(WIDOW)),
];

/// A word of the table with its index.
pub fn find(name: &str) -> Option<(usize, FormattingWord)> {
    let place = WORDS.binary_search_by(|word| word.name.cmp(name)).ok()?;
    WORDS.get(place).map(|word| (place, *word))
}
