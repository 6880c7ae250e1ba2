//! The OpenAPI document and its page, of one service: made at the first request for either, and cached.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::{config::Config, error::Error};

/// The cache of the document and its page. Cheap to clone; clones share the cache.
#[derive(Clone, Debug)]
pub(crate) struct Documents {
    made: Arc<OnceLock<RenderedDocuments>>,
    make: fn(&Config) -> Result<RenderedDocuments, Error>,
}

/// The document and its page, as they are sent.
#[derive(Debug)]
pub(crate) struct RenderedDocuments {
    pub(crate) json: Bytes,
    pub(crate) page: Bytes,
}

impl Documents {
    /// An empty cache. `make` is passed in because it reads the route table, and the handlers that send the documents are rows of
    /// that table: a direct call would be a circle of imports.
    pub(crate) fn new(make: fn(&Config) -> Result<RenderedDocuments, Error>) -> Self {
        Self { made: Arc::default(), make }
    }

    /// The document and its page, rendered now if this is the first request for either.
    pub(crate) fn rendered(&self, config: &Config) -> Result<&RenderedDocuments, Error> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let made = (self.make)(config)?;
        Ok(self.made.get_or_init(|| made))
    }
}
