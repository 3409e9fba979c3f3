//! H.264 and H.265 as MP4 and Matroska hold them: each picture is a row of NAL units, each with its length before it.
//!
//! The lengths are the one thing that tells broken data from sound at no cost: they must add up to the picture.

use gstreamer as gst;

/// How many bytes hold a unit's length, where the stream is of this kind.
pub(crate) fn length_size(structure: &gst::StructureRef) -> Option<usize> {
    let format = structure.get::<&str>("stream-format").ok()?;
    let place = match (structure.name().as_str(), format) {
        ("video/x-h264", "avc" | "avc3") => 4,
        ("video/x-h265", "hvc1" | "hev1") => 21,
        _ => return None,
    };
    let record = structure.get::<gst::Buffer>("codec_data").ok()?;
    let record = record.map_readable().ok()?;
    Some(usize::from(record.get(place)? & 3) + 1)
}

/// The data ends within a unit, or a unit has no length.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// The units of a picture, in order. Ends after the first fault. Bytes at the end that are too few for a length are
/// padding, as decoders take them.
pub(crate) struct Units<'a> {
    rest: &'a [u8],
    length_size: usize,
}

impl<'a> Units<'a> {
    /// The units in `picture`, with lengths of `length_size` bytes (1 to 4).
    pub(crate) fn new(picture: &'a [u8], length_size: usize) -> Self {
        Self {
            rest: picture,
            length_size,
        }
    }
}

impl<'a> Iterator for Units<'a> {
    type Item = Result<&'a [u8], Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self
            .rest
            .split_at_checked(self.length_size)
            .filter(|_| !self.rest.is_empty())?;
        let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        Some(match rest.split_at_checked(length) {
            Some((unit, rest)) if !unit.is_empty() => {
                self.rest = rest;
                Ok(unit)
            }
            _ => {
                self.rest = &[];
                Err(Broken)
            }
        })
    }
}

/// Whether the lengths in a picture add up; `None` where its stream does not say them.
pub(crate) fn is_whole(caps: &gst::CapsRef, picture: &gst::BufferRef) -> Option<bool> {
    let size = length_size(caps.structure(0)?)?;
    let map = picture.map_readable().ok()?;
    Some(Units::new(&map, size).all(|unit| unit.is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_by_their_lengths() {
        let units: Vec<_> = Units::new(&[0, 2, 7, 8, 0, 1, 9, 0], 2).collect();
        assert_eq!(units, [Ok(&[7, 8][..]), Ok(&[9][..])]);
    }

    #[test]
    fn lengths_that_do_not_add_up_are_broken() {
        for data in [&[0, 2, 7][..], &[0, 0, 1], &[0, 1, 7, 255, 255, 1, 2, 3]] {
            assert_eq!(Units::new(data, 2).last(), Some(Err(Broken)), "{data:?}");
        }
    }
}
