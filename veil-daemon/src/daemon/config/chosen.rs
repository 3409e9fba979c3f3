//! Outputs whose wallpaper was set or cleared in this run, which goes before the configuration.

use std::collections::BTreeSet;

/// A set of outputs by name, also of those that are not there yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Whether outputs belong to it that are not listed below.
    all: bool,
    /// Those for which it is the other way round.
    but: BTreeSet<String>,
    /// Those that were cleared while they showed what the configuration wants.
    cleared: BTreeSet<String>,
}

impl Chosen {
    /// Whether this output's wallpaper was chosen.
    pub(crate) fn contains(&self, output: &str) -> bool {
        self.all != self.but.contains(output)
    }

    /// These outputs' wallpaper was chosen; that of all if there are none.
    pub(crate) fn add(&mut self, outputs: &[String]) {
        if outputs.is_empty() {
            *self = Self {
                all: true,
                ..Self::default()
            };
        }
        for output in outputs {
            self.put(output, true);
            self.cleared.remove(output);
        }
    }

    /// These outputs are cleared, or all if there are none; `ruled` are those that the configuration wants something on.
    pub(crate) fn clear(&mut self, outputs: &[String], ruled: impl IntoIterator<Item = String>) {
        let mut cleared = std::mem::take(&mut self.cleared);
        cleared.extend(ruled.into_iter().filter(|output| !self.contains(output)));
        self.add(outputs);
        self.cleared = cleared;
    }

    /// What was cleared on this output is wanted again.
    pub(crate) fn restore(&mut self, output: &str) {
        if self.cleared.remove(output) {
            self.put(output, false);
        }
    }

    /// It counts no more on this output.
    pub(crate) fn remove(&mut self, output: &str) {
        self.put(output, false);
    }

    fn put(&mut self, output: &str, chosen: bool) {
        if chosen == self.all {
            self.but.remove(output);
        } else {
            self.but.insert(output.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_some_and_all_but_some() {
        let mut chosen = Chosen::default();
        chosen.add(&["A".into()]);
        assert!(chosen.contains("A") && !chosen.contains("B"));
        chosen.remove("A");
        assert_eq!(chosen, Chosen::default());
        chosen.add(&[]);
        chosen.remove("A");
        assert!(!chosen.contains("A") && chosen.contains("B"));
        chosen.add(&["A".into()]);
        assert!(chosen.contains("A"));
    }

    #[test]
    fn what_was_cleared_is_as_it_was_before() {
        let mut chosen = Chosen::default();
        chosen.add(&["A".into()]);
        let before = chosen.clone();
        for _ in 0..2 {
            chosen.clear(&[], ["A".into(), "B".into()]);
            assert!(chosen.contains("A") && chosen.contains("B"));
        }
        for output in ["A", "B", "B"] {
            chosen.restore(output);
        }
        assert!(chosen.contains("A") && !chosen.contains("B"));
        assert!(before.contains("A") && !before.contains("B"));
        // What was chosen since stays.
        chosen.clear(&["B".into()], ["B".into()]);
        chosen.add(&["B".into()]);
        chosen.restore("B");
        assert!(chosen.contains("B"));
    }
}
