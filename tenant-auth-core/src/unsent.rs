//! The bound on answers that wait for their clients: how many bytes of them may be in memory at once, and how they are shared out
//! among client networks. A client that reads slowly is served, so without a bound clients that hardly read could fill the memory
//! with pages of lists.

use std::{net::IpAddr, sync::Arc};

use bytes::Bytes;

use crate::{
    budget::{Budget, Permit},
    error::{Error, Overload},
};

/// How many bytes of answers may wait: 256 MiB.
const MOST: usize = 256 << 20;
/// Answers of at most so many bytes are not counted: connections are bounded, and these are no danger to the memory.
pub(crate) const SMALL: usize = 16 << 10;

/// The answers that wait.
#[derive(Debug)]
pub(crate) struct Unsent(Arc<Budget>);

/// A body that gives its bytes back to the budget once it was sent or its connection has ended.
struct Counted {
    body: Bytes,
    _permit: Permit,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Unsent {
    /// No answer yet.
    pub(crate) fn new() -> Self {
        Self(Budget::of(MOST))
    }

    /// Counts the body of an answer to this client until it is sent. A document that all clients share is in memory once and not
    /// counted.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the answers that wait for the client's network would be more than what they leave free.
    pub(crate) fn count(&self, body: Bytes, client: Option<IpAddr>) -> Result<Bytes, Error> {
        if body.len() <= SMALL || !body.is_unique() {
            return Ok(body);
        }
        let permit = self.hold(body.len(), client)?;
        Ok(Bytes::from_owner(Counted { body, _permit: permit }))
    }

    /// Counts what an answer to this client that is written while it is sent has in memory, until the permit is dropped.
    ///
    /// # Errors
    /// As [`Unsent::count`].
    pub(crate) fn hold(&self, bytes: usize, client: Option<IpAddr>) -> Result<Permit, Error> {
        self.0.take(client, bytes).ok_or_else(|| Overload::LargeAnswers.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)));

    fn large(byte: u8) -> Bytes {
        vec![byte; SMALL + 1].into()
    }

    #[test]
    fn an_answer_counts_until_its_last_part_is_gone() {
        let unsent = Unsent(Budget::of(3 * SMALL));
        let mut waiting = unsent.count(large(7), CLIENT).expect("there is room");
        assert_eq!(waiting, large(7));
        assert!(matches!(unsent.count(large(8), CLIENT), Err(Error::Unavailable(_))));
        let sent = waiting.split_to(SMALL);
        drop(sent);
        assert!(unsent.count(large(8), CLIENT).is_err(), "a byte of it still waits");
        drop(waiting);
        assert!(unsent.count(large(8), CLIENT).is_ok());
    }

    #[test]
    fn small_answers_and_shared_documents_are_not_counted() {
        let unsent = Unsent(Budget::of(0));
        assert!(unsent.count(large(7), CLIENT).is_err());
        assert!(unsent.count(vec![7; SMALL].into(), CLIENT).is_ok());
        let document = large(7);
        assert!(unsent.count(document.clone(), CLIENT).is_ok());
        assert!(unsent.count(Bytes::from_static(&[7; SMALL + 1]), CLIENT).is_ok());
        drop(document);
    }
}
