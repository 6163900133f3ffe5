//! A file's text with its name, for errors with positions.

use std::sync::OnceLock;

use crate::diag::{Code, Diagnostic, Point};
use crate::model::{InputLimit, RepoPath};

/// A text file with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Its name.
    pub file: RepoPath,
    /// Its text.
    pub text: String,
    lines: LineIndex,
}

/// Byte offsets of the line starts; built on first use, because a file with many cases needs every line.
#[derive(Debug, Clone, Default)]
struct LineIndex(OnceLock<Box<[usize]>>);

/// Always equal: the index derives from the text.
impl PartialEq for LineIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LineIndex {}

impl SourceText {
    /// Reads bytes as UTF-8 text without a byte order mark.
    ///
    /// # Errors
    /// The position of the first byte that is not UTF-8, or of the byte order mark.
    pub fn new(file: RepoPath, bytes: Vec<u8>) -> Result<Self, Diagnostic> {
        let text = String::from_utf8(bytes).map_err(|problem| not_utf8(&file, &problem))?;
        if text.starts_with('\u{feff}') {
            let what = "the file starts with a byte order mark";
            let problem = Diagnostic::of_file(&file, Code::BYTE_ORDER_MARK, what, "save it as UTF-8 without a BOM");
            return Err(problem.at(Point { line: 1, column: 1 }));
        }
        Ok(Self::from_text(file, text))
    }

    /// Wraps a text that is already valid UTF-8.
    pub fn from_text(file: RepoPath, text: String) -> Self {
        Self { file, text, lines: LineIndex::default() }
    }

    /// A problem at a byte offset of this text.
    pub fn problem(&self, offset: usize, code: Code, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        Diagnostic::of_file(&self.file, code, what, help).at(Point::of_offset(&self.text, offset))
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        let breaks = self.lines.0.get_or_init(|| memchr::memchr_iter(b'\n', self.text.as_bytes()).collect());
        let before = breaks.partition_point(|line_break| *line_break < offset);
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }
}

fn not_utf8(file: &RepoPath, problem: &std::string::FromUtf8Error) -> Diagnostic {
    let at = problem.utf8_error().valid_up_to();
    let bytes = problem.as_bytes();
    let before = String::from_utf8_lossy(&bytes[..at]);
    let what = format!("byte 0x{:02X} is not UTF-8", bytes.get(at).copied().unwrap_or_default());
    Diagnostic::of_file(file, Code::NOT_UTF8, what, "save the file as UTF-8").at(Point::of_offset(&before, at))
}

/// The problem of a file above its limit.
pub fn too_large(file: &RepoPath, limit: &InputLimit) -> Diagnostic {
    Diagnostic::of_file(file, Code::TOO_LARGE, format!("the file is larger than {limit}"), limit.help)
}
