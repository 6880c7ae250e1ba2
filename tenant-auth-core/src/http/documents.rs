//! The OpenAPI document and its page, of one service: made at the first request for either, and cached.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::{config::Config, error::Error};

/// The document and its page, once somebody has asked for them. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Documents {
    made: Arc<OnceLock<RenderedDocuments>>,
    make: fn(&Config) -> Result<RenderedDocuments, Error>,
}

/// Both, as they are sent.
#[derive(Debug)]
pub(crate) struct RenderedDocuments {
    pub(crate) json: Bytes,
    pub(crate) page: Bytes,
}

impl Documents {
    /// Nothing yet. `make` knows the route table, of which the handlers that send the documents are a part themselves.
    pub(crate) fn new(make: fn(&Config) -> Result<RenderedDocuments, Error>) -> Self {
        Self { made: Arc::default(), make }
    }

    /// Both, made now if nobody has asked before.
    pub(crate) fn rendered(&self, config: &Config) -> Result<&RenderedDocuments, Error> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let made = (self.make)(config)?;
        Ok(self.made.get_or_init(|| made))
    }
}
