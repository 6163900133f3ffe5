//! The code of a kind of problem, with its cause, an example and the fix.

use std::fmt;

/// A stable short name of a kind of problem, such as `unknown-key`, with what it means.
///
/// Each code is a constant, such as `Code::UNKNOWN_KEY`; the files of `codes` define them, each at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(&'static CodeText);

/// What a code means.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CodeText {
    pub(super) word: &'static str,
    pub(super) cause: &'static str,
    pub(super) example: &'static str,
    pub(super) fix: &'static str,
}

impl Code {
    pub(super) const fn new(text: &'static CodeText) -> Self {
        Self(text)
    }

    /// The code as a diagnostic shows it.
    pub fn as_str(self) -> &'static str {
        self.0.word
    }

    /// What it means, in one or two sentences.
    pub fn cause(self) -> &'static str {
        self.0.cause
    }

    /// A whole diagnostic with this code.
    pub fn example(self) -> &'static str {
        self.0.example
    }

    /// What to do, for a reader who does not know goldgate.
    pub fn fix(self) -> &'static str {
        self.0.fix
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Codes that belong together.
#[derive(Debug)]
pub struct CodeSection {
    /// Its heading in the documentation.
    pub title: &'static str,
    pub about: &'static str,
    pub codes: &'static [Code],
}

/// Defines the codes of a section: a constant of [`Code`] for each, and `SECTION` with all of them.
macro_rules! codes {
    ($title:literal, $about:literal;
        $($name:ident = $word:literal { cause: $cause:literal, example: $example:literal, fix: $fix:literal, })+
    ) => {
        impl Code {
            $(
                #[doc = $cause]
                pub const $name: Self =
                    Self::new(&CodeText { word: $word, cause: $cause, example: $example, fix: $fix });
            )+
        }

        /// The section of these codes.
        pub(super) const SECTION: CodeSection =
            CodeSection { title: $title, about: $about, codes: &[$(Code::$name),+] };
    };
}

pub(super) use codes;
