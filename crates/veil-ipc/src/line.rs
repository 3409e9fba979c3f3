//! Lines out of a stream of bytes that comes in pieces.

/// A line is longer than its reader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the line is longer than {max} bytes")]
pub struct LineTooLong {
    /// The longest line that is taken, in bytes.
    pub max: usize,
}

/// Collects bytes and hands out lines. It holds no memory while it holds no bytes, and at most one line of the longest
/// kind plus what was pushed at once.
#[derive(Debug)]
pub struct LineReader {
    bytes: Vec<u8>,
    /// How many bytes were handed out already.
    taken: usize,
    /// Up to where there is no newline, so that no byte is looked at twice.
    searched: usize,
    max: usize,
}

impl LineReader {
    /// A reader that takes lines of at most `max` bytes, not counting the newline.
    pub const fn new(max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            searched: 0,
            max,
        }
    }

    /// Adds what was received.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.bytes.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete line, without its newline; blank lines are passed over. `None` means that more bytes are
    /// needed. After an error the reader is empty: nobody knows where the next line would begin.
    pub fn next_line(&mut self) -> Option<Result<Vec<u8>, LineTooLong>> {
        loop {
            let newline = self.find();
            let end = newline.unwrap_or(self.bytes.len());
            if end - self.taken > self.max {
                self.clear();
                return Some(Err(LineTooLong { max: self.max }));
            }
            let Some(end) = newline else {
                if self.taken == self.bytes.len() {
                    self.clear();
                }
                return None;
            };
            let line = self.bytes[self.taken..end].to_vec();
            self.taken = end + 1;
            self.searched = self.taken;
            if !line.trim_ascii().is_empty() {
                return Some(Ok(line));
            }
        }
    }

    /// Whether [`Self::next_line`] may have something to say without further bytes.
    pub fn is_ready(&mut self) -> bool {
        self.find().is_some() || self.bytes.len() - self.taken > self.max
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.bytes = Vec::new();
        self.taken = 0;
        self.searched = 0;
    }

    /// Where the current line ends.
    fn find(&mut self) -> Option<usize> {
        let found = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n');
        self.searched = found.map_or(self.bytes.len(), |at| self.searched + at);
        found.map(|_| self.searched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_come_whole_whatever_the_pieces() {
        let mut reader = LineReader::new(8);
        reader.push(b"on");
        assert_eq!(reader.next_line(), None);
        assert!(!reader.is_ready());
        reader.push(b"e\n\n \r\ntwo\nth");
        assert!(reader.is_ready());
        assert_eq!(reader.next_line(), Some(Ok(b"one".to_vec())));
        assert_eq!(reader.next_line(), Some(Ok(b"two".to_vec())));
        assert_eq!(reader.next_line(), None);
        reader.push(b"ree\n");
        assert_eq!(reader.next_line(), Some(Ok(b"three".to_vec())));
        assert_eq!(reader.next_line(), None);
        assert_eq!(reader.bytes.capacity(), 0, "an empty reader holds memory");
    }

    #[test]
    fn the_limit_is_exact() {
        let mut reader = LineReader::new(4);
        reader.push(b"1234");
        assert_eq!(reader.next_line(), None);
        reader.push(b"\n");
        assert_eq!(reader.next_line(), Some(Ok(b"1234".to_vec())));
        for long in [&b"12345"[..], b"12345\n", b"12345\nx\n"] {
            reader.push(long);
            assert!(reader.is_ready());
            assert_eq!(reader.next_line(), Some(Err(LineTooLong { max: 4 })));
            assert_eq!(reader.next_line(), None);
        }
    }

    proptest! {
        #[test]
        fn the_same_lines_in_any_pieces(
            stream in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()], 0..400),
            cuts in proptest::collection::vec(1usize..40, 1..40),
            peek in any::<bool>(),
        ) {
            let max = 30;
            let mut expected = Vec::new();
            let mut rest = &stream[..];
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                expected.push(&rest[..end]);
                rest = &rest[end + 1..];
            }
            let too_long = expected.iter().position(|line| line.len() > max).unwrap_or(expected.len());
            expected.truncate(too_long);
            expected.retain(|line| !line.trim_ascii().is_empty());

            let mut reader = LineReader::new(max);
            let (mut found, mut failed) = (Vec::new(), false);
            let mut rest = &stream[..];
            for cut in cuts.iter().cycle() {
                let (piece, later) = rest.split_at((*cut).min(rest.len()));
                reader.push(piece);
                rest = later;
                loop {
                    let ready = peek && reader.is_ready();
                    match reader.next_line() {
                        Some(Ok(line)) if !failed => found.push(line),
                        Some(Ok(_)) => {}
                        Some(Err(_)) => failed = true,
                        None => {
                            // Blank lines make a reader ready for nothing, but only once.
                            prop_assert!(!reader.is_ready());
                            break;
                        }
                    }
                    prop_assert!(!peek || ready);
                }
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(found.iter().map(Vec::as_slice).collect::<Vec<_>>(), expected);
        }
    }
}
