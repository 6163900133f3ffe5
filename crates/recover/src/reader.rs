//! Reads one object or array as leniently as layer 2 allows, in one pass and without recursion.

use std::ops::ControlFlow;

use serde_json::Value;

use super::Anchor;
use super::cursor::{BareWord, Cursor};
use super::frame::{Frame, loses};
use super::steps::visit;

/// The depth limit of `serde_json`, so that both layers reject the same inputs.
pub const MAX_DEPTH: usize = 127;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// At the closing bracket.
    Whole,
    /// At the end of the text.
    Cut,
    /// At an unexpected token.
    Broken,
}

pub(super) struct ReadRegion {
    /// Everything that was complete.
    pub(super) value: Option<Value>,
    pub(super) ending: Ending,
    /// The byte offset after the last byte read.
    pub(super) end: usize,
    /// Whether at least one key or element was read, so that this is JSON and not a bracket in prose.
    pub(super) begun: bool,
    /// If an object of the list was open at the end and cannot be kept: the number of complete elements before it.
    pub(super) lost: Option<usize>,
    /// Number of open objects and arrays at the end.
    pub(super) open: usize,
}

/// Reads the object or array whose opening bracket is at `start`.
pub(super) fn read_container(text: &str, start: usize, anchor: Option<Anchor<'_>>) -> ReadRegion {
    let mut reader = TextReader {
        cursor: Cursor::new(text, start),
        anchor,
        frames: Vec::new(),
        pending: None,
        expected: ExpectedToken::Value,
        begun: false,
    };
    loop {
        match reader.step() {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(stop) => return reader.stopped(stop),
        }
    }
}

enum ExpectedToken {
    /// A key, an element, or the closing bracket: after an opening bracket or a comma.
    Entry,
    /// A value: after a colon.
    Value,
    /// A comma or the closing bracket: after a value.
    Comma,
}

enum ReadStop {
    Whole(Value),
    Cut,
    Broken,
}

type ReadStep = ControlFlow<ReadStop>;

struct TextReader<'a> {
    cursor: Cursor<'a>,
    anchor: Option<Anchor<'a>>,
    frames: Vec<Frame>,
    /// The last value, until a following comma or bracket confirms it: in `"Suffix: "candles"` the first text is not the
    /// intended value.
    pending: Option<Value>,
    expected: ExpectedToken,
    begun: bool,
}

impl TextReader<'_> {
    fn step(&mut self) -> ReadStep {
        visit(1);
        self.cursor.skip_blank();
        let Some(byte) = self.cursor.peek() else {
            return ReadStep::Break(ReadStop::Cut);
        };
        match self.expected {
            ExpectedToken::Entry if matches!(byte, b'}' | b']') => self.close(byte),
            ExpectedToken::Entry => match self.frames.last() {
                Some(Frame::Object { .. }) => self.key(byte),
                Some(Frame::Array(_)) | None => self.value(byte),
            },
            ExpectedToken::Value => self.value(byte),
            ExpectedToken::Comma => match byte {
                b',' => self.comma(),
                b'}' | b']' => self.close(byte),
                _ => ReadStep::Break(ReadStop::Broken),
            },
        }
    }

    fn comma(&mut self) -> ReadStep {
        self.settle();
        self.begun = true;
        self.cursor.advance();
        self.expected = ExpectedToken::Entry;
        ReadStep::Continue(())
    }

    fn key(&mut self, byte: u8) -> ReadStep {
        let key = match byte {
            b'"' | b'\'' => self.cursor.string(byte),
            _ => self.cursor.bare_key(),
        };
        self.cursor.skip_blank();
        match (key, self.cursor.peek()) {
            (_, None) => ReadStep::Break(ReadStop::Cut),
            (Some(key), Some(b':')) => {
                self.cursor.advance();
                self.begun = true;
                self.expected = ExpectedToken::Value;
                self.name(key);
                ReadStep::Continue(())
            }
            (_, Some(_)) => ReadStep::Break(ReadStop::Broken),
        }
    }

    fn name(&mut self, name: String) {
        match self.frames.last_mut() {
            Some(Frame::Object { members: _, key }) => *key = Some(name),
            Some(Frame::Array(_)) | None => {}
        }
    }

    fn value(&mut self, byte: u8) -> ReadStep {
        match byte {
            b'{' | b'[' => self.open(byte),
            b'"' | b'\'' => match self.cursor.string(byte) {
                Some(string) => self.scalar(Some(Value::String(string))),
                None => ReadStep::Break(ReadStop::Cut),
            },
            _ => match self.cursor.word() {
                BareWord::Value(value) => self.scalar(Some(value)),
                BareWord::Unusable => self.scalar(None),
                BareWord::Cut => ReadStep::Break(ReadStop::Cut),
                BareWord::Unknown => ReadStep::Break(ReadStop::Broken),
            },
        }
    }

    fn scalar(&mut self, value: Option<Value>) -> ReadStep {
        self.pending = value;
        self.expected = ExpectedToken::Comma;
        ReadStep::Continue(())
    }

    fn open(&mut self, bracket: u8) -> ReadStep {
        if self.frames.len() == MAX_DEPTH {
            return ReadStep::Break(ReadStop::Broken);
        }
        self.cursor.advance();
        self.frames.push(Frame::opened_by(bracket));
        self.expected = ExpectedToken::Entry;
        ReadStep::Continue(())
    }

    /// Closes the innermost frame of this bracket's kind, and all frames inside it that lack their bracket.
    fn close(&mut self, bracket: u8) -> ReadStep {
        visit(
            self.frames
                .iter()
                .rev()
                .take_while(|frame| !frame.closed_by(bracket))
                .count(),
        );
        if !self
            .frames
            .iter()
            .rev()
            .any(|frame| frame.closed_by(bracket))
        {
            return ReadStep::Break(ReadStop::Broken);
        }
        if matches!(self.expected, ExpectedToken::Comma) {
            self.begun = true;
            self.settle();
        }
        self.cursor.advance();
        self.expected = ExpectedToken::Comma;
        while let Some(frame) = self.frames.pop() {
            if frame.closed_by(bracket) {
                return self.closed(frame.closed());
            }
            self.pending = frame.cut(self.anchor.as_ref());
            self.settle();
        }
        ReadStep::Break(ReadStop::Broken)
    }

    fn closed(&mut self, value: Value) -> ReadStep {
        if self.frames.is_empty() {
            return ReadStep::Break(ReadStop::Whole(value));
        }
        self.pending = Some(value);
        ReadStep::Continue(())
    }

    fn settle(&mut self) {
        let value = self.pending.take();
        if let Some(frame) = self.frames.last_mut() {
            frame.take(value);
        }
    }

    fn stopped(mut self, stop: ReadStop) -> ReadRegion {
        let ending = match stop {
            ReadStop::Whole(value) => {
                let (end, begun) = (self.cursor.at(), self.begun);
                return ReadRegion {
                    value: Some(value),
                    ending: Ending::Whole,
                    end,
                    begun,
                    lost: None,
                    open: 0,
                };
            }
            ReadStop::Cut => Ending::Cut,
            ReadStop::Broken => Ending::Broken,
        };
        // A text before an unexpected token may be incomplete; an object or array is complete.
        if ending == Ending::Cut || matches!(self.pending, Some(Value::Object(_) | Value::Array(_)))
        {
            self.settle_if_any();
        }
        let lost = self.anchor.and_then(|anchor| loses(&self.frames, &anchor));
        let open = self.frames.len();
        let value = self.remains();
        ReadRegion {
            value,
            ending,
            end: self.cursor.at(),
            begun: self.begun,
            lost,
            open,
        }
    }

    /// Settles a pending value; without one, the current key stays, because it may be the list's.
    fn settle_if_any(&mut self) {
        if self.pending.is_some() {
            self.settle();
        }
    }

    fn remains(&mut self) -> Option<Value> {
        self.pending = None;
        while let Some(frame) = self.frames.pop() {
            let rest = frame.cut(self.anchor.as_ref());
            if self.frames.is_empty() {
                return rest;
            }
            self.pending = rest;
            self.settle_if_any();
        }
        None
    }
}
