//! Mail templates: each mail is rendered twice, as text and as HTML. Values that people chose are escaped in HTML.

use minijinja::{Environment, Value};

use crate::{error::Error, ports::Message, value::Email};

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

impl Template {
    /// The mail to `recipient` that shows `values`.
    pub(super) fn message(&self, recipient: &Email, subject: String, values: &Value) -> Result<Message, Error> {
        Ok(Message { to: recipient.clone(), subject, text: render(self.text, values)?, html: render(self.html, values)? })
    }
}

/// minijinja escapes by the template's name: `.html` is escaped, `.txt` is not.
fn render((name, template): (&'static str, &'static str), values: &Value) -> Result<String, Error> {
    Environment::new().render_named_str(name, template, values).map_err(Error::internal)
}
