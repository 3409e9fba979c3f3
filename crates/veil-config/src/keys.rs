//! Keys that were meant: for a key that is none, the nearest that is.

/// The known key that is most like this one, if any is much like it.
pub(crate) fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|key| (distance(wrong, key), *key));
    let (distance, key) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + key.len() / 4).then_some(key)
}

/// Letters to change, add or leave out (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // A key of a thousand letters is like none.
    for (i, from) in a.chars().take(64).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_recognised() {
        let known = ["mode", "background", "match"];
        assert_eq!(nearest("backgruond", &known), Some("background"));
        assert_eq!(nearest("Mode", &known), Some("mode"));
        assert_eq!(nearest("transition", &known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
