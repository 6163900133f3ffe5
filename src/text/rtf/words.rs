//! The control words that format, and what each does to the state.

/// What a word formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Characters.
    Char,
    /// A paragraph.
    Para,
}

/// How a word changes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On, or off with a 0.
    Toggle,
    /// A number; this one, and 0, is what holds without the word.
    Value(i32),
    /// A number that counts also where it is 0.
    Keep,
    /// One of a group: the last one holds, with a 0 none.
    Choice(u16),
    /// None of a group.
    Clear(u16),
    /// Names the border that the attributes after it are about.
    Side,
}

/// A formatting word.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    pub name: &'static str,
    pub level: Level,
    pub kind: Kind,
}

const fn c(name: &'static str, kind: Kind) -> Word {
    Word { name, level: Level::Char, kind }
}

const fn p(name: &'static str, kind: Kind) -> Word {
    Word { name, level: Level::Para, kind }
}

const ZERO: Kind = Kind::Value(0);
const UNDERLINE: u16 = 0;
const SCRIPT: u16 = 1;
const ALIGN: u16 = 2;
const WIDOW: u16 = 3;
const DIRECTION: u16 = 4;
const BULLET: u16 = 5;
const BULLET_FORM: u16 = 6;

/// Attributes of a border; they follow the word that names its side.
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

/// All others, sorted by name.
pub const WORDS: &[Word] = &[
    c("ab", Kind::Toggle),
    p("absh", ZERO),
    p("absw", ZERO),
    c("acaps", Kind::Toggle),
    c("acccomma", Kind::Toggle),
    c("accdot", Kind::Toggle),
    c("acf", ZERO),
    c("af", ZERO),
    c("afs", Kind::Value(24)),
    c("ai", Kind::Toggle),
    c("alang", Kind::Keep),
    c("animtext", ZERO),
    c("ascaps", Kind::Toggle),
    c("astrike", Kind::Toggle),
    c("aul", Kind::Toggle),
    c("b", Kind::Toggle),
    p("box", Kind::Side),
    p("brdrb", Kind::Side),
    p("brdrbtw", Kind::Side),
    p("brdrl", Kind::Side),
    p("brdrr", Kind::Side),
    p("brdrt", Kind::Side),
    c("caps", Kind::Toggle),
    c("cb", ZERO),
    p("cbpat", ZERO),
    c("cf", ZERO),
    p("cfpat", ZERO),
    c("charscalex", Kind::Value(100)),
    c("chbrdr", Kind::Side),
    c("chcbpat", ZERO),
    c("chcfpat", ZERO),
    c("chshdng", ZERO),
    p("contextualspace", Kind::Toggle),
    c("cs", ZERO),
    p("cufi", ZERO),
    p("culi", ZERO),
    p("curi", ZERO),
    c("deleted", Kind::Toggle),
    c("dn", ZERO),
    p("dropcapli", ZERO),
    p("dropcapt", ZERO),
    c("embo", Kind::Toggle),
    c("expnd", ZERO),
    c("expndtw", ZERO),
    c("f", Kind::Keep),
    p("faauto", ZERO),
    p("facenter", Kind::Toggle),
    p("fafixed", Kind::Toggle),
    p("fahang", Kind::Toggle),
    p("faroman", Kind::Toggle),
    p("favar", Kind::Toggle),
    p("fi", ZERO),
    c("fs", Kind::Value(24)),
    c("highlight", ZERO),
    p("hyphpar", Kind::Keep),
    c("i", Kind::Toggle),
    p("ilvl", ZERO),
    c("impr", Kind::Toggle),
    p("intbl", Kind::Toggle),
    p("itap", Kind::Value(1)),
    p("keep", Kind::Toggle),
    p("keepn", Kind::Toggle),
    c("kerning", ZERO),
    c("lang", Kind::Keep),
    c("langfe", Kind::Keep),
    c("langfenp", Kind::Keep),
    c("langnp", Kind::Keep),
    p("level", Kind::Keep),
    p("li", ZERO),
    p("lin", ZERO),
    p("lisa", ZERO),
    p("lisb", ZERO),
    p("ls", ZERO),
    p("ltrpar", Kind::Clear(DIRECTION)),
    p("noline", Kind::Toggle),
    p("nosnaplinegrid", Kind::Toggle),
    c("nosupersub", Kind::Clear(SCRIPT)),
    p("nowidctlpar", Kind::Clear(WIDOW)),
    p("nowrap", Kind::Toggle),
    c("outl", Kind::Toggle),
    p("outlinelevel", Kind::Keep),
    p("pagebb", Kind::Toggle),
    p("phcol", Kind::Toggle),
    p("phmrg", Kind::Toggle),
    p("phpg", Kind::Toggle),
    p("pnb", Kind::Toggle),
    p("pncard", Kind::Choice(BULLET_FORM)),
    p("pndec", Kind::Choice(BULLET_FORM)),
    p("pnf", ZERO),
    p("pnindent", ZERO),
    p("pnlcltr", Kind::Choice(BULLET_FORM)),
    p("pnlcrm", Kind::Choice(BULLET_FORM)),
    p("pnlvl", ZERO),
    p("pnlvlblt", Kind::Choice(BULLET)),
    p("pnlvlbody", Kind::Choice(BULLET)),
    p("pnlvlcont", Kind::Choice(BULLET)),
    p("pnord", Kind::Choice(BULLET_FORM)),
    p("pnstart", ZERO),
    p("pnucltr", Kind::Choice(BULLET_FORM)),
    p("pnucrm", Kind::Choice(BULLET_FORM)),
    p("posx", ZERO),
    p("posy", ZERO),
    p("pvmrg", Kind::Toggle),
    p("pvpara", Kind::Toggle),
    p("pvpg", Kind::Toggle),
    p("qc", Kind::Choice(ALIGN)),
    p("qd", Kind::Choice(ALIGN)),
    p("qj", Kind::Choice(ALIGN)),
    p("qk", Kind::Choice(ALIGN)),
    p("ql", Kind::Clear(ALIGN)),
    p("qr", Kind::Choice(ALIGN)),
    p("qt", Kind::Choice(ALIGN)),
    c("revised", Kind::Toggle),
    p("ri", ZERO),
    p("rin", ZERO),
    p("rtlpar", Kind::Choice(DIRECTION)),
    p("s", ZERO),
    p("sa", ZERO),
    p("saauto", Kind::Toggle),
    p("sb", ZERO),
    p("sbauto", Kind::Toggle),
    p("sbys", Kind::Toggle),
    c("scaps", Kind::Toggle),
    c("shad", Kind::Toggle),
    p("shading", ZERO),
    p("sl", ZERO),
    p("slmult", ZERO),
    c("strike", Kind::Toggle),
    c("striked", Kind::Toggle),
    c("sub", Kind::Choice(SCRIPT)),
    c("super", Kind::Choice(SCRIPT)),
    c("ul", Kind::Choice(UNDERLINE)),
    c("ulc", ZERO),
    c("uld", Kind::Choice(UNDERLINE)),
    c("uldash", Kind::Choice(UNDERLINE)),
    c("uldashd", Kind::Choice(UNDERLINE)),
    c("uldashdd", Kind::Choice(UNDERLINE)),
    c("uldb", Kind::Choice(UNDERLINE)),
    c("ulhair", Kind::Choice(UNDERLINE)),
    c("ulhwave", Kind::Choice(UNDERLINE)),
    c("ulldash", Kind::Choice(UNDERLINE)),
    c("ulnone", Kind::Clear(UNDERLINE)),
    c("ulth", Kind::Choice(UNDERLINE)),
    c("ulthd", Kind::Choice(UNDERLINE)),
    c("ulthdash", Kind::Choice(UNDERLINE)),
    c("ulthdashd", Kind::Choice(UNDERLINE)),
    c("ulthdashdd", Kind::Choice(UNDERLINE)),
    c("ulthldash", Kind::Choice(UNDERLINE)),
    c("ululdbwave", Kind::Choice(UNDERLINE)),
    c("ulw", Kind::Choice(UNDERLINE)),
    c("ulwave", Kind::Choice(UNDERLINE)),
    c("up", ZERO),
    c("v", Kind::Toggle),
    p("widctlpar", Kind::Choice(WIDOW)),
];

/// The place of a word in the table.
pub fn find(name: &str) -> Option<(usize, Word)> {
    let place = WORDS.binary_search_by(|word| word.name.cmp(name)).ok()?;
    WORDS.get(place).map(|word| (place, *word))
}
