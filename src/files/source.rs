//! A file's text with its name, for errors with positions.

use std::sync::{Arc, OnceLock};

use crate::diag::{Code, Diagnostic, Point};
use crate::model::{InputLimit, RepoPath};

/// The first line of a Git LFS pointer (git-lfs, docs/spec.md).
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// Whether a file is a Git LFS pointer: its content was not fetched.
pub fn is_lfs_pointer(bytes: &[u8]) -> bool {
    bytes.starts_with(LFS_POINTER)
}

fn not_fetched(file: &RepoPath) -> Diagnostic {
    let description = "this is a Git LFS pointer, not the file itself";
    let help = "get the file with `git lfs pull` (`lfs: true` of actions/checkout); a golden file that changes cannot be in Git LFS, because \
                the base commit's content is not fetched from it";
    Diagnostic::of_file(file, Code::LFS_POINTER, description, help).at(Point { line: 1, column: 1 })
}

/// A text file with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Its name.
    pub file: RepoPath,
    /// Its text; what was made of it, if it has an origin.
    pub text: String,
    positions: PositionIndex,
    origin: Option<TextOrigin>,
}

/// The text that another one was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextOrigin {
    original: Arc<SourceText>,
    /// Sorted by where they start.
    pieces: Box<[OriginPiece]>,
}

/// A piece of a text that was made of another one: where it starts in both, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginPiece {
    pub start: usize,
    pub original: usize,
    pub change: PieceChange,
}

/// What became of a piece of an original text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceChange {
    /// Every byte has a byte of its own.
    Copied,
    /// It was written in another way: all of it has the position where it starts.
    Rewritten,
}

/// Built on first use, because a file with many problems needs many positions and most files need none.
#[derive(Debug, Clone, Default)]
struct PositionIndex {
    /// The byte offset of each line break.
    breaks: OnceLock<Box<[usize]>>,
    /// The number of characters before each block of the text; a file may be one long line.
    characters: OnceLock<Box<[usize]>>,
}

/// The bytes of a block of a text, for the number of characters before it.
const BLOCK: usize = 1024;

/// Always equal: the index derives from the text.
impl PartialEq for PositionIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PositionIndex {}

impl SourceText {
    /// Reads bytes as UTF-8 text, without the byte order mark that it may start with.
    ///
    /// # Errors
    /// The position of the first byte that is not UTF-8, or the file is a Git LFS pointer.
    pub fn new(file: RepoPath, bytes: Vec<u8>) -> Result<Self, Diagnostic> {
        if is_lfs_pointer(&bytes) {
            return Err(not_fetched(&file));
        }
        let text = String::from_utf8(bytes).map_err(|problem| not_utf8(&file, &problem))?;
        // Windows programs put a byte order mark before UTF-8. It is not part of the text.
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Ok(Self::from_text(file, text))
    }

    /// Wraps a text that is already valid UTF-8.
    pub fn from_text(file: RepoPath, text: String) -> Self {
        Self {
            file,
            text,
            positions: PositionIndex::default(),
            origin: None,
        }
    }

    /// A text that was made of another one, with the positions of that one. The pieces are in the order of the text.
    pub fn from_pieces(original: Arc<Self>, text: String, pieces: Vec<OriginPiece>) -> Self {
        let file = original.file.clone();
        let origin = Some(TextOrigin {
            original,
            pieces: pieces.into(),
        });
        Self {
            file,
            text,
            positions: PositionIndex::default(),
            origin,
        }
    }

    /// A text of the same length as a part of this one that starts at `start`.
    pub fn part(self: &Arc<Self>, start: usize, text: String) -> Self {
        let piece = OriginPiece {
            start: 0,
            original: start,
            change: PieceChange::Copied,
        };
        Self::from_pieces(self.clone(), text, vec![piece])
    }

    /// A problem at a byte offset of this text.
    pub fn problem(
        &self,
        offset: usize,
        code: Code,
        description: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::of_file(&self.file, code, description, help).at(self.point(offset))
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        match &self.origin {
            Some(origin) => origin.original.line(origin.offset(offset)),
            None => from_one(self.breaks_before(offset).len()),
        }
    }

    /// The position of a byte offset; an offset past the end means the end.
    pub fn point(&self, offset: usize) -> Point {
        let offset = offset.min(self.text.len());
        if let Some(origin) = &self.origin {
            return origin.original.point(origin.offset(offset));
        }
        let breaks = self.breaks_before(offset);
        let line_start = breaks.last().map_or(0, |line_break| line_break + 1);
        let column = self.characters_before(offset) - self.characters_before(line_start);
        Point {
            line: from_one(breaks.len()),
            column: from_one(column),
        }
    }

    fn breaks_before(&self, offset: usize) -> &[usize] {
        let breaks = self
            .positions
            .breaks
            .get_or_init(|| memchr::memchr_iter(b'\n', self.text.as_bytes()).collect());
        &breaks[..breaks.partition_point(|line_break| *line_break < offset)]
    }

    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let block = offset / BLOCK;
        let counts = self
            .positions
            .characters
            .get_or_init(|| characters_before_blocks(bytes));
        counts[block] + characters(&bytes[block * BLOCK..offset])
    }
}

impl TextOrigin {
    fn offset(&self, offset: usize) -> usize {
        let next = self.pieces.partition_point(|piece| piece.start <= offset);
        let Some(piece) = self.pieces.get(next.saturating_sub(1)) else {
            return 0;
        };
        match piece.change {
            PieceChange::Copied => piece.original + offset.saturating_sub(piece.start),
            PieceChange::Rewritten => piece.original,
        }
    }
}

/// The number of characters before each block of a text, and that of the whole text.
fn characters_before_blocks(bytes: &[u8]) -> Box<[usize]> {
    let mut counts = vec![0];
    let mut sum = 0;
    for block in bytes.chunks(BLOCK) {
        sum += characters(block);
        counts.push(sum);
    }
    counts.into()
}

/// The number of characters that start in a part of a text: continuation bytes of UTF-8 do not count.
fn characters(part: &[u8]) -> usize {
    part.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

fn from_one(zero_based: usize) -> u32 {
    u32::try_from(zero_based)
        .unwrap_or(u32::MAX)
        .saturating_add(1)
}

fn not_utf8(file: &RepoPath, problem: &std::string::FromUtf8Error) -> Diagnostic {
    let at = problem.utf8_error().valid_up_to();
    let bytes = problem.as_bytes();
    let valid = String::from_utf8_lossy(&bytes[..at]);
    let description = format!(
        "byte 0x{:02X} is not UTF-8",
        bytes.get(at).copied().unwrap_or_default()
    );
    Diagnostic::of_file(file, Code::NOT_UTF8, description, "save the file as UTF-8")
        .at(SourceText::from_text(file.clone(), valid.into_owned()).point(at))
}

pub fn too_large(file: &RepoPath, limit: &InputLimit) -> Diagnostic {
    Diagnostic::of_file(
        file,
        Code::TOO_LARGE,
        format!("the file is larger than {limit}"),
        limit.help,
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::any;
    use proptest::sample::Index;
    use proptest::{prop_assert_eq, prop_assume, proptest};

    use super::{BLOCK, OriginPiece, PieceChange, Point, SourceText};
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("a.json"), text.to_owned())
    }

    #[test]
    fn a_position_counts_lines_and_characters_from_one() {
        let source = source("ab\ncäd\n");
        assert_eq!(source.point(0), Point { line: 1, column: 1 });
        assert_eq!(source.point(3), Point { line: 2, column: 1 });
        assert_eq!(source.point(6), Point { line: 2, column: 3 });
        assert_eq!(source.point(99), Point { line: 3, column: 1 });
    }

    #[test]
    fn a_text_that_was_made_of_another_has_its_positions() {
        let piece = |start, original, change| OriginPiece {
            start,
            original,
            change,
        };
        let pieces = vec![
            piece(0, 0, PieceChange::Rewritten),
            piece(3, 6, PieceChange::Copied),
        ];
        let made = Arc::new(SourceText::from_pieces(
            Arc::new(source("ab\ncd\nefg")),
            "abcefg".to_owned(),
            pieces,
        ));
        assert_eq!(
            (made.point(2), made.point(4)),
            (Point { line: 1, column: 1 }, Point { line: 3, column: 2 })
        );
        let part = made.part(3, " fg".to_owned());
        assert_eq!(
            (part.point(1), part.line(1)),
            (Point { line: 3, column: 2 }, 3)
        );
    }

    #[test]
    fn the_end_of_a_text_of_whole_blocks_has_a_position() {
        let source = source(&"a".repeat(2 * BLOCK));
        assert_eq!(
            source.point(2 * BLOCK),
            Point {
                line: 1,
                column: 2 * 1024 + 1
            }
        );
    }

    proptest! {
        #[test]
        fn a_position_is_the_one_that_counting_from_the_start_gives(
            text in "([a-cäö€\n]{0,40}){0,90}",
            at in any::<Index>(),
        ) {
            let offset = at.index(text.len() + 1);
            prop_assume!(text.is_char_boundary(offset));
            let before = &text[..offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let point = source(&text).point(offset);
            prop_assert_eq!((point.line as usize, point.column as usize), (line, column));
        }
    }
}
