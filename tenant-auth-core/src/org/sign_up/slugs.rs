//! Slugs that neither sign-up nor an import takes: an organization of this name would pass for the service itself, or for a part of the
//! product.

use crate::{config::Config, value::Slug};

/// Those that every deployment keeps (behaviour.md, B198).
const RESERVED: [&str; 32] = [
    "abuse",
    "account",
    "accounts",
    "admin",
    "administrator",
    "api",
    "app",
    "auth",
    "billing",
    "blog",
    "cdn",
    "docs",
    "ftp",
    "help",
    "hostmaster",
    "invite",
    "login",
    "logout",
    "mail",
    "postmaster",
    "reset",
    "root",
    "security",
    "sign-in",
    "sign-up",
    "smtp",
    "static",
    "status",
    "support",
    "verify",
    "webmaster",
    "www",
];

/// Whether a slug is kept: by every deployment, by this one's settings, or as the operators' own.
pub(crate) fn is_reserved(config: &Config, slug: &Slug) -> bool {
    RESERVED.contains(&slug.as_str())
        || config.organizations.operator_org.as_ref() == Some(slug)
        || config.sign_up.reserved_slugs.contains(slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_lists_every_reserved_slug() {
        let guide = include_str!("../../../guides/behaviour.md");
        let unnamed = RESERVED.iter().filter(|slug| !guide.contains(&format!("`{slug}`")));
        assert_eq!(unnamed.collect::<Vec<_>>(), [] as [&&str; 0]);
    }

    #[test]
    fn each_could_be_a_slug_and_stands_in_order() {
        assert!(RESERVED.iter().all(|slug| Slug::parse(slug).is_ok()));
        assert!(RESERVED.is_sorted());
    }
}
