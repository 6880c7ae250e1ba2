//! Settings of how the service is reached: its address, the proxies in front, and browsers.

use tenant_auth_core::config::{SameSite, Setting, TokensInBody};

use super::{Group, Part};
use crate::settings::{
    parse::{self, put},
    row::{
        Default::{Is, Required, Unset},
        Disclosure, Row, Shape,
    },
};

pub(crate) const PUBLIC_URL: Row = Row {
    name: "public_url",
    default: Required("give the URL people reach the service at, such as https://auth.example.com"),
    meaning: "Where people and browsers reach the service, without /api/v1; also the issuer of its tokens.",
    must: "an https URL such as https://auth.example.com (http on loopback only) without user name, query and fragment; its path, \
           if any, of letters, digits and . _ ~ - between single slashes",
    read: |to, text| put(&mut to.config.public_url, parse::public_url(text)),
    core: Some(Setting::PublicUrl),
    // A refused one may hold a user name and a password.
    disclosure: Disclosure::UrlWithoutSecrets,
    ..Row::BLANK
};

pub(in crate::settings) const TRUSTED_PROXIES: Row = Row {
    name: "trusted_proxies",
    shape: Shape::List,
    default: Unset("no proxy is trusted; serve requires a statement when public_url is https"),
    meaning: "The addresses and networks of the reverse proxies in front, whose X-Forwarded-For is believed; none when the server \
              faces its clients itself.",
    must: "a list of addresses and networks such as 10.0.0.0/8, or none alone",
    read: |to, text| put(&mut to.config.network.trusted_proxies, parse::proxies(text)),
    core: Some(Setting::TrustedProxies),
    ..Row::BLANK
};

pub(in crate::settings) const COOKIE_DOMAIN: Row = Row {
    name: "cookie_domain",
    default: Unset("the cookies are for the host of public_url alone"),
    meaning: "The Domain of the session cookies, so that the applications on its subdomains get them too. Every host below it gets the \
              refresh tokens of whoever visits it, so each must be as trusted as the service: none may be a tenant's own, and none \
              another deployment's, such as a staging one: its cookies have the same names, and a browser that has both is \
              answered 401.",
    must: "a domain such as example.com, in ASCII",
    read: |to, text| put(&mut to.config.browser.cookie_domain, Ok(Some(parse::cookie_domain(text)))),
    core: Some(Setting::CookieDomain),
    ..Row::BLANK
};

pub(crate) const OPERATOR_ORG: Row = Row {
    name: "operator_org",
    default: Unset("nobody is an operator over HTTP"),
    meaning: "The slug of the organization whose members may be made operators of the deployment.",
    must: "a slug",
    read: |to, text| put(&mut to.config.organizations.operator_org, parse::slug(text).map(Some)),
    core: Some(Setting::OperatorOrg),
    ..Row::BLANK
};

pub(super) const ADDRESS: Group = Group { title: "Address", part: Part::Service, rows: &[PUBLIC_URL, TRUSTED_PROXIES] };

pub(super) const BROWSER: Group = Group {
    title: "Browsers",
    part: Part::Service,
    rows: &[
        Row {
            name: "allowed_origins",
            shape: Shape::List,
            default: Unset("each organization allows its own origins only"),
            meaning: "Browser origins that every organization allows, beside its own.",
            must: "a list of origins such as https://app.example.com",
            read: |to, text| put(&mut to.config.browser.allowed_origins, parse::origins(text)),
            ..Row::BLANK
        },
        COOKIE_DOMAIN,
        Row {
            name: "cookie_same_site",
            default: Is("lax"),
            meaning: "The SameSite of the session cookies.",
            must: "one of: lax, strict, none (none needs an https public_url)",
            read: |to, text| {
                let words = [("lax", SameSite::Lax), ("strict", SameSite::Strict), ("none", SameSite::None)];
                put(&mut to.config.browser.cookie_same_site, parse::choice(text, &words))
            },
            core: Some(Setting::CookieSameSite),
            ..Row::BLANK
        },
        Row {
            name: "tokens_in_body",
            default: Is("non_browser"),
            meaning: "Who gets tokens in response bodies, where the scripts of a page can read them: non_browser, or always.",
            must: "one of: non_browser, always",
            read: |to, text| {
                let words = [("non_browser", TokensInBody::NonBrowser), ("always", TokensInBody::Always)];
                put(&mut to.config.browser.tokens_in_body, parse::choice(text, &words))
            },
            ..Row::BLANK
        },
    ],
};
