//! The product that the service belongs to, as people see it on hosted pages and in mails.

use crate::value::{Colour, DisplayName, Logo, SupportUrl};

/// What the product is called and looks like, on hosted pages and in mails.
///
/// ```
/// use tenant_auth_core::{Config, value::Logo};
///
/// let mut config = Config::new("https://auth.example.com".parse()?);
/// config.product.name = "Rockets".parse()?;
/// config.product.accent = Some("#1f4bd8".parse()?);
/// config.product.support_url = Some("mailto:help@example.com".parse()?);
/// config.product.logo = Some(Logo::parse("<svg xmlns='http://www.w3.org/2000/svg'/>")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Product {
    /// Its name. Default `Tenant Auth`.
    pub name: DisplayName,
    /// Its logo. Default none: pages show ours, and mails the name alone.
    pub logo: Option<Logo>,
    /// The background of buttons that lead on; their text is black or white, whichever contrasts more. Default none: our own colours.
    pub accent: Option<Colour>,
    /// Where people find help. Default none: nothing is said of it.
    pub support_url: Option<SupportUrl>,
}

impl Default for Product {
    fn default() -> Self {
        Self { name: DisplayName::from_stored("Tenant Auth".to_owned()), logo: None, accent: None, support_url: None }
    }
}
