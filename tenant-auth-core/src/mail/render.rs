//! Mail templates: each mail is rendered twice, as text and as HTML. Values that people chose are escaped in HTML.

use minijinja::{Environment, Value, context};

use crate::{
    config::Product,
    error::Error,
    value::{Colour, SupportUrl},
};

/// Blue, where the product has no colour of its own.
const ACCENT: Colour = Colour::of([0x1f, 0x4b, 0xd8]);
/// What every mail begins and ends with.
const PARTS: [(&str, &str); 3] = [
    ("product.html", include_str!("../../templates/product.html")),
    ("support.html", include_str!("../../templates/support.html")),
    ("support.txt", include_str!("../../templates/support.txt")),
];

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

impl Template {
    /// The text and the HTML that show `values`, in the name of the product.
    pub(super) fn texts(&self, product: &Product, values: Value) -> Result<(String, String), Error> {
        let accent = product.accent.unwrap_or(ACCENT);
        let values = context! {
            product => context! {
                name => product.name.as_str(),
                logo => product.logo.as_ref().map(|_| LOGO),
                accent => accent.to_string(),
                on_accent => accent.text().to_string(),
                support => product.support_url.as_ref().map(SupportUrl::as_str),
            },
            ..values
        };
        Ok((render(self.text, &values)?, render(self.html, &values)?))
    }
}

/// minijinja escapes by the template's name: `.html` is escaped, `.txt` is not. Both end in the product's name, which stands in a
/// template of its own.
fn render((name, template): (&'static str, &'static str), values: &Value) -> Result<String, Error> {
    let mut templates = Environment::new();
    for (part, source) in PARTS {
        templates.add_template(part, source).map_err(Error::internal)?;
    }
    templates.render_named_str(name, template, values).map_err(Error::internal)
}
