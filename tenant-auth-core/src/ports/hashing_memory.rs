//! The memory that a hashing thread keeps between hashes. Fresh memory costs a third more processor time than the hash itself: the
//! kernel hands it out page by page, each time anew. It is wiped as soon as no other hash waits, because every part of it would tell whether a
//! guessed password is the right one; between two hashes wiping would cost a seventh of one, and the next writes over what it needs. It is given back once the
//! thread has had nothing to do for a while.

use std::cell::RefCell;

use argon2::Block;

thread_local! {
    static KEPT: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

/// Does work that needs so many blocks of memory, and does not read what it has not written: the hash before is still there.
pub(super) fn with<T>(blocks: usize, work: impl FnOnce(&mut [Block]) -> T) -> T {
    let mut kept = KEPT.take();
    if kept.len() < blocks {
        // It goes back to the allocator, and still holds the hash before.
        kept.fill(Block::default());
        kept = vec![Block::default(); blocks];
    }
    let done = work(&mut kept[..blocks]);
    KEPT.set(kept);
    done
}

/// Wipes the thread's memory.
pub(super) fn wipe() {
    KEPT.with_borrow_mut(|kept| kept.fill(Block::default()));
}

/// Gives the thread's memory back.
pub(super) fn give_back() {
    wipe();
    KEPT.take();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_zero(blocks: &[Block]) -> bool {
        blocks.iter().all(|block| block.as_ref().iter().all(|word| *word == 0))
    }

    #[test]
    fn memory_is_kept_and_wiped() {
        let first = with(4, |blocks| {
            assert!(is_zero(blocks));
            for block in &mut *blocks {
                block.as_mut().fill(7);
            }
            blocks.as_ptr()
        });
        with(3, |blocks| {
            assert_eq!(blocks.len(), 3);
            assert_eq!(blocks.as_ptr(), first, "the same memory");
        });
        wipe();
        assert!(KEPT.with_borrow(|kept| kept.len() == 4 && is_zero(kept)), "all of it, not only the last hash's");
        with(5, |blocks| assert_eq!(blocks.len(), 5));
        give_back();
        assert!(KEPT.with_borrow(Vec::is_empty));
    }
}
