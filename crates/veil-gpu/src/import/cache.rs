//! A few values by key; the one that was not asked for longest makes room.

/// With so few entries, looking at all of them is fast, and needs no heap once it is made.
pub(super) struct Cache<K, V> {
    entries: Vec<Entry<K, V>>,
    most: usize,
    /// Counts what was asked for.
    now: u64,
}

struct Entry<K, V> {
    key: K,
    value: V,
    used: u64,
}

impl<K: PartialEq, V> Cache<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            entries: Vec::with_capacity(most),
            most,
            now: 0,
        }
    }

    pub(super) fn get(&mut self, key: &K) -> Option<&V> {
        self.now += 1;
        let entry = self.entries.iter_mut().find(|entry| entry.key == *key)?;
        entry.used = self.now;
        Some(&entry.value)
    }

    /// Adds what is not there yet.
    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.entries.len() == self.most {
            let oldest = (0..self.most).min_by_key(|&i| self.entries[i].used);
            if let Some(oldest) = oldest {
                self.entries.swap_remove(oldest);
            }
        }
        self.now += 1;
        self.entries.push(Entry {
            key,
            value,
            used: self.now,
        });
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes() {
        let mut cache = Cache::new(2);
        cache.insert(1, "one");
        cache.insert(2, "two");
        assert_eq!(cache.get(&1), Some(&"one"));
        cache.insert(3, "three");
        assert_eq!((cache.len(), cache.get(&2)), (2, None));
        assert_eq!(
            (cache.get(&1).copied(), cache.get(&3).copied()),
            (Some("one"), Some("three"))
        );
    }

    #[test]
    fn what_goes_is_dropped() {
        let value = std::rc::Rc::new(());
        let mut cache = Cache::new(3);
        for key in 0..10 {
            cache.insert(key, value.clone());
        }
        assert_eq!(std::rc::Rc::strong_count(&value), 4);
        cache.clear();
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
    }
}
