//! Writes no file that goldgate would not read again.

use std::io;
use std::io::Write;

use crate::model::InputLimit;

/// The error of a file that goldgate would not read again.
pub(super) fn beyond(limit: &InputLimit) -> io::Error {
    io::Error::other(format!(
        "it is larger than {limit}, so goldgate could not read it again; {}",
        limit.help
    ))
}

/// Refuses to write more than a limit for reading.
pub(super) struct LimitedWriter<'a> {
    out: &'a mut dyn Write,
    limit: &'static InputLimit,
    written: usize,
}

impl<'a> LimitedWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write, limit: &'static InputLimit) -> Self {
        Self {
            out,
            limit,
            written: 0,
        }
    }
}

impl Write for LimitedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self {
            out,
            limit,
            written,
        } = self;
        if limit.is_exceeded_by(written.saturating_add(bytes.len())) {
            return Err(beyond(limit));
        }
        let count = out.write(bytes)?;
        *written += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
