//! Mail templates: each mail is rendered twice, as text and as HTML. Values that people chose are escaped in HTML.

use minijinja::{Value, context};

use crate::{
    config::{Product, rendered},
    error::Error,
    value::{Colour, SupportUrl},
};

/// Blue, where the product has no colour of its own.
const ACCENT: Colour = Colour::of([0x1f, 0x4b, 0xd8]);
/// The text and HTML template of a mail, each a name and its source.
pub(super) struct Template {
    text: (&'static str, &'static str),
    html: (&'static str, &'static str),
}

/// An invitation.
pub(super) const INVITE: Template = Template {
    text: ("invite.txt", include_str!("../../templates/invite.txt")),
    html: ("invite.html", include_str!("../../templates/invite.html")),
};

/// Every other letter: a heading, some lines, perhaps a link, a footer.
pub(super) const LETTER: Template = Template {
    text: ("letter.txt", include_str!("../../templates/letter.txt")),
    html: ("letter.html", include_str!("../../templates/letter.html")),
};

/// How the HTML of a mail names the product's logo, which is attached to it (RFC 2392): a mail loads nothing from anywhere.
pub(super) const LOGO: &str = "cid:logo";

/// The product as templates show it.
pub(super) fn product(product: &Product) -> Value {
    let accent = product.accent.unwrap_or(ACCENT);
    context! {
        name => product.name.as_str(),
        logo => product.logo.as_ref().map(|_| LOGO),
        accent => accent.to_string(),
        on_accent => accent.text().to_string(),
        support => product.support_url.as_ref().map(SupportUrl::as_str),
    }
}

impl Template {
    /// The text and the HTML that show `values`.
    pub(super) fn texts(&self, values: &Value) -> Result<(String, String), Error> {
        let render = |(name, source)| rendered(name, source, values).map_err(Error::internal);
        Ok((render(self.text)?, render(self.html)?))
    }
}
