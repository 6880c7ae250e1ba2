//! Where an organization's chain of events ends, as its row says. Below the transaction, which may hold a head for its commit.

use super::row::row;

row! {
    /// The head of an organization's chain.
    ChainHead {
        sequence: i64,
        chained: i64,
        hash: Option<String>,
        last_at: i64,
    }
}
