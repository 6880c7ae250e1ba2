//! The cursor of a backend that remembers: how far it has seen the log of changes, as an opaque text. The text is sealed for the
//! backend's organization, or for all where the question is about all, of one length and different each time, because the place in the log moves with everybody's traffic and
//! tells of it. Every process with the same master keys reads it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{error::Error, id::OrgId, memory::Bookmark, service::TenantAuth, store::Place};

/// How many unfinished transactions a cursor names. When there were more, it goes back to before the first of them, and what came
/// since is told twice.
const UNFINISHED: usize = 32;
/// Incarnation, mark and place, and the distances of the unfinished ones from the place.
const BYTES: usize = 3 * 8 + UNFINISHED * 4;
/// Nothing longer is a cursor of ours.
const LONGEST: usize = 512;

/// The text of a bookmark, for a question about an organization or about all.
pub(super) fn to_text(auth: &TenantAuth, org: Option<&OrgId>, bookmark: &Bookmark) -> Result<String, Error> {
    let sealed = auth.master_keys().seal_bytes(&to_bytes(bookmark), bound(org).as_bytes(), auth.entropy())?;
    Ok(URL_SAFE_NO_PAD.encode(sealed))
}

/// Reads what [`to_text`] wrote for the same question; `None` for anything else.
pub(super) fn from_text(auth: &TenantAuth, org: Option<&OrgId>, text: &str) -> Option<Bookmark> {
    let sealed = URL_SAFE_NO_PAD.decode(Some(text).filter(|text| text.len() <= LONGEST)?).ok()?;
    from_bytes(&auth.master_keys().open_bytes(&sealed, bound(org).as_bytes())?)
}

fn bound(org: Option<&OrgId>) -> String {
    match org {
        Some(org) => format!("tenant-auth cursor of changes\n{org}"),
        None => "tenant-auth cursor of all changes".to_owned(),
    }
}

fn to_bytes(bookmark: &Bookmark) -> [u8; BYTES] {
    let Place { next, unfinished } = &bookmark.place;
    let distances: Option<Vec<u32>> = unfinished.iter().map(|number| u32::try_from(next - number).ok()).collect();
    let (next, distances) = match distances.filter(|distances| distances.len() <= UNFINISHED) {
        Some(distances) => (*next, distances),
        None => (unfinished.iter().copied().min().unwrap_or(*next), Vec::new()),
    };
    let mut bytes = [0; BYTES];
    let numbers = [bookmark.incarnation.to_be_bytes(), bookmark.mark.to_be_bytes(), next.to_be_bytes()].concat();
    let numbers = numbers.into_iter().chain(distances.into_iter().flat_map(u32::to_be_bytes));
    bytes.iter_mut().zip(numbers).for_each(|(byte, number)| *byte = number);
    bytes
}

fn from_bytes(bytes: &[u8]) -> Option<Bookmark> {
    let (numbers, distances) = Some(bytes).filter(|bytes| bytes.len() == BYTES)?.split_at(3 * 8);
    let mut numbers = numbers.chunks_exact(8).filter_map(|number| number.try_into().ok());
    let (incarnation, mark, next) = (numbers.next()?, numbers.next()?, i64::from_be_bytes(numbers.next()?));
    let distances = distances.chunks_exact(4).filter_map(|number| number.try_into().ok()).map(u32::from_be_bytes);
    let unfinished = distances.filter(|distance| *distance > 0).map(|distance| next.saturating_sub(distance.into())).collect();
    Some(Bookmark {
        incarnation: u64::from_be_bytes(incarnation),
        mark: i64::from_be_bytes(mark),
        place: Place { next, unfinished },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bookmark(next: i64, unfinished: Vec<i64>) -> Bookmark {
        Bookmark { incarnation: u64::MAX - 7, mark: 12, place: Place { next, unfinished } }
    }

    #[test]
    fn a_bookmark_comes_back() {
        for known in [bookmark(1, vec![]), bookmark(16_840, vec![16_833, 16_839]), bookmark(9_000, (8_900..8_932).collect())] {
            assert_eq!(from_bytes(&to_bytes(&known)), Some(known));
        }
        assert_eq!(from_bytes(&[0; BYTES - 1]), None);
    }

    #[test]
    fn one_with_too_many_unfinished_goes_back_before_them() {
        let many = from_bytes(&to_bytes(&bookmark(9_000, (8_900..8_933).collect()))).expect("a bookmark");
        assert_eq!(many.place, Place { next: 8_900, unfinished: vec![] });
        let far = from_bytes(&to_bytes(&bookmark(1 << 40, vec![5]))).expect("a bookmark");
        assert_eq!(far.place, Place { next: 5, unfinished: vec![] });
    }
}
