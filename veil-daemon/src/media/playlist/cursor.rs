//! Where in a list somebody is, and what comes before and after.
//!
//! The order of chance is made of a seed and of how often the list was gone through. So `previous` leads back the same way,
//! outputs that share a list agree without asking each other, and a restart changes nothing.

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use veil_ipc::{Source, protocol::PlaylistOptions};

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// What the orders of chance are made of.
    seed: u64,
    /// How often the list was gone through; negative before the first time.
    #[serde(default)]
    round: i64,
    /// The place in the order of this round, from 0.
    #[serde(default)]
    place: usize,
    /// What was at this place.
    #[serde(default)]
    current: Option<Source>,
}

impl Cursor {
    /// Before the first entry.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            round: 0,
            place: 0,
            current: None,
        }
    }

    /// The entry that it is at; `None` before the first.
    pub(crate) fn current(&self) -> Option<&Source> {
        self.current.as_ref()
    }

    /// The number of this entry in the order of this round, from 1.
    pub(crate) fn number(&self) -> usize {
        self.place + 1
    }

    /// Where a step leads: the place that is meant, and then, should its entry be unusable, the others in the same
    /// direction, as many as there are entries. No steps stay where the cursor is.
    ///
    /// It is empty where a list that is gone through once is at its end or, for steps back, at its beginning.
    pub(crate) fn walk<'e>(
        &self,
        entries: &'e [Source],
        steps: i64,
        options: PlaylistOptions,
    ) -> impl Iterator<Item = Self> + use<'e> {
        let length = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        let direction = if steps < 0 { -1 } else { 1 };
        let mut order = Order::new(self.seed, options.shuffle, entries.len());
        order.prepare(self.round);
        let first = self.base(&order, entries, steps).saturating_add(steps);
        let before = self.round;
        (0..length).map_while(move |tried| {
            let place = first.saturating_add(direction * tried);
            let (rounds, place) = (place.div_euclid(length), place.rem_euclid(length));
            if options.once && rounds != 0 {
                return None;
            }
            let round = before.saturating_add(rounds);
            order.prepare(round);
            let place = usize::try_from(place).ok()?;
            Some(Self {
                seed: order.seed,
                round,
                place,
                current: Some(entries.get(order.entry(place)?)?.clone()),
            })
        })
    }

    /// The place that steps are counted from.
    fn base(&self, order: &Order, entries: &[Source], steps: i64) -> i64 {
        let Some(current) = &self.current else {
            return if steps > 0 { -1 } else { 0 };
        };
        let is_at = |place: &usize| {
            let entry = order.entry(*place).and_then(|entry| entries.get(entry));
            entry == Some(current)
        };
        // Where it was, or else wherever it is now that others came or went.
        let found = Some(self.place)
            .filter(is_at)
            .or_else(|| (0..entries.len()).find(is_at));
        let signed = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
        match found {
            Some(place) => signed(place),
            // It has vanished, so what came after it is at its place.
            None if steps > 0 => signed(self.place.min(entries.len())) - 1,
            None if steps < 0 => signed(self.place.min(entries.len())),
            None => signed(self.place.min(entries.len().saturating_sub(1))),
        }
    }
}

/// In which order the entries come in a round.
struct Order {
    seed: u64,
    length: usize,
    shuffle: bool,
    /// The round that `entries` is of.
    round: Option<i64>,
    /// The entry at each place; empty where it is the list's own order.
    entries: Vec<usize>,
}

impl Order {
    fn new(seed: u64, shuffle: bool, length: usize) -> Self {
        Self {
            seed,
            length,
            shuffle,
            round: None,
            entries: Vec::new(),
        }
    }

    fn prepare(&mut self, round: i64) {
        if !self.shuffle || self.round == Some(round) {
            return;
        }
        // Two can only alternate.
        let made = |round: i64| match self.length {
            0..=2 => self.shuffled(0),
            _ => self.shuffled(round),
        };
        let mut entries = made(round);
        let last_before = made(round.wrapping_sub(1)).last().copied();
        // What came last is not to come first. The second of three or more is never the last, so that one stays as it is.
        if self.length > 2 && entries.first().copied() == last_before {
            entries.swap(0, 1);
        }
        self.entries = entries;
        self.round = Some(round);
    }

    fn shuffled(&self, round: i64) -> Vec<usize> {
        let mut entries: Vec<usize> = (0..self.length).collect();
        // Rounds that follow each other must not have seeds that do: multiplied by 2^64 divided by the golden ratio.
        let seed = self.seed ^ round.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Rng::with_seed(seed).shuffle(&mut entries);
        entries
    }

    /// The number of the entry at this place.
    fn entry(&self, place: usize) -> Option<usize> {
        match self.shuffle {
            true => self.entries.get(place).copied(),
            false => (place < self.length).then_some(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(length: usize) -> Vec<Source> {
        (0..length).map(|n| Source::from(format!("/{n}"))).collect()
    }

    fn options(shuffle: bool, once: bool) -> PlaylistOptions {
        PlaylistOptions {
            shuffle,
            once,
            ..PlaylistOptions::default()
        }
    }

    fn step(cursor: &Cursor, entries: &[Source], steps: i64, options: PlaylistOptions) -> Option<Cursor> {
        cursor.walk(entries, steps, options).next()
    }

    /// The entries that so many single steps lead to.
    fn path(from: &Cursor, entries: &[Source], steps: &[i64], options: PlaylistOptions) -> Vec<String> {
        let mut cursor = from.clone();
        let each = steps.iter().map_while(|steps| {
            cursor = step(&cursor, entries, *steps, options)?;
            cursor.current().map(ToString::to_string)
        });
        each.collect()
    }

    #[test]
    fn in_order_and_around() {
        let entries = list(3);
        let start = Cursor::new(1);
        let forward = path(&start, &entries, &[0, 1, 1, 1, 2], options(false, false));
        assert_eq!(forward, ["/0", "/1", "/2", "/0", "/2"]);
        let back = path(&start, &entries, &[-1, -1, -1, -1], options(false, false));
        assert_eq!(back, ["/2", "/1", "/0", "/2"]);
    }

    #[test]
    fn once_ends() {
        let entries = list(3);
        let all = path(&Cursor::new(1), &entries, &[1; 9], options(false, true));
        assert_eq!(all, ["/0", "/1", "/2"]);
        let first = step(&Cursor::new(1), &entries, 0, options(false, true)).unwrap();
        assert_eq!(step(&first, &entries, -1, options(false, true)), None);
        // The bad ones at its end are not looked for at its beginning.
        let last = step(&first, &entries, 2, options(false, true)).unwrap();
        assert_eq!(last.number(), 3);
        assert_eq!(first.walk(&entries, 1, options(false, true)).count(), 2);
    }

    #[test]
    fn what_comes_and_goes_is_noticed() {
        let at = |entries: &[Source], name: &str| {
            let all = Cursor::new(1).walk(entries, 0, options(false, false));
            let named = all.into_iter().find(|c| c.current() == Some(&Source::from(name)));
            named.unwrap()
        };
        let entries = list(5);
        let third = at(&entries, "/2");
        let mut fewer = entries.clone();
        fewer.remove(2);
        assert_eq!(path(&third, &fewer, &[1], options(false, false)), ["/3"]);
        assert_eq!(path(&third, &fewer, &[-1], options(false, false)), ["/1"]);
        assert_eq!(path(&third, &fewer, &[0], options(false, false)), ["/3"]);
        let mut more = entries.clone();
        more.insert(0, Source::from("/new"));
        assert_eq!(
            path(&third, &more, &[1, 1, 1], options(false, false)),
            ["/3", "/4", "/new"]
        );
        let last = at(&entries, "/4");
        assert_eq!(path(&last, &entries[..4], &[1], options(false, false)), ["/0"]);
        assert_eq!(path(&last, &entries[..1], &[0], options(false, false)), ["/0"]);
        assert_eq!(path(&last, &[], &[0], options(true, false)), [""; 0]);
    }

    proptest! {
        #[test]
        fn a_round_has_every_entry_once(seed: u64, length in 1usize..60, shuffle: bool) {
            let entries = list(length);
            let steps = vec![1; 3 * length];
            let all = path(&Cursor::new(seed), &entries, &steps, options(shuffle, false));
            for round in all.chunks(length) {
                let mut names = round.to_vec();
                names.sort();
                names.dedup();
                prop_assert_eq!(names.len(), length);
            }
            // And none comes twice in a row.
            prop_assert!(length == 1 || all.windows(2).all(|pair| pair[0] != pair[1]));
        }

        #[test]
        fn back_is_the_way_that_was_come(seed: u64, length in 1usize..40, shuffle: bool, steps in 1usize..120) {
            let entries = list(length);
            let options = options(shuffle, false);
            let start = step(&Cursor::new(seed), &entries, 0, options).unwrap();
            let mut cursors = vec![start];
            for _ in 0..steps {
                let next = step(cursors.last().unwrap(), &entries, 1, options).unwrap();
                cursors.push(next);
            }
            for pair in cursors.windows(2).rev() {
                let before = step(&pair[1], &entries, -1, options).unwrap();
                prop_assert_eq!(&before, &pair[0]);
            }
            let jump = step(&cursors[0], &entries, i64::try_from(steps).unwrap(), options).unwrap();
            prop_assert_eq!(cursors.last().unwrap(), &jump);
        }

        #[test]
        fn any_cursor_walks_any_list(
            text in r#"\{"seed":[0-9]{1,19},"round":-?[0-9]{1,18},"place":[0-9]{1,18},"current":(null|\{"file":"/[0-9]"\})\}"#,
            length in 0usize..12, steps: i64, shuffle: bool, once: bool,
        ) {
            let Ok(cursor) = serde_json::from_str::<Cursor>(&text) else { return Ok(()) };
            let entries = list(length);
            let all: Vec<Cursor> = cursor.walk(&entries, steps, options(shuffle, once)).collect();
            prop_assert!(all.len() <= length);
            for place in all {
                prop_assert!(entries.contains(place.current().unwrap()));
                prop_assert!(place.number() <= length);
            }
        }
    }
}
