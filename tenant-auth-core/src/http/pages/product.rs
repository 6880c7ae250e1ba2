//! The product on the pages: its name, logo and place of support in the page itself, so that they are there before anything else, and
//! its colour in a style of its own, because the pages' policy allows no other.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{
    config::{Config, Product},
    languages::Catalogue,
    value::SupportUrl,
};

const PAGE: &str = include_str!("../../../panel/page.html");

/// The page in one language, which every path serves; it carries its words, the panel's too where it is the panel, and names the files by these addresses. A mark on its first element says that sign-up is open, for a page can ask nobody without a slug.
pub(super) fn page(config: &Config, catalogue: &Catalogue, is_panel: bool, [style, guard, script]: [String; 3]) -> Bytes {
    let Product { name, logo, support_url, .. } = &config.product;
    // Beside the page; a public URL may have a path of its own.
    let logo = if logo.is_some() { "api/v1/logo" } else { "assets/logo.svg" };
    let support = support_url.as_ref().map_or("", SupportUrl::as_str);
    let marked = if config.sign_up.is_open { PAGE.replacen("<html ", "<html data-sign-up ", 1) } else { PAGE.to_owned() };
    let none = BTreeMap::new();
    let said = [
        ("{product}", name.as_str()),
        ("{logo}", logo),
        ("{support}", support),
        ("{lang}", catalogue.language.as_str()),
        ("{dir}", &catalogue.text("language.direction", &none)),
        ("{style}", &style),
        ("{guard}", &guard),
        ("{script}", &script),
        ("{broken_title}", &catalogue.text("page.broken.title", &none)),
        ("{broken_text}", &catalogue.text("page.broken.text", &none)),
        ("{reload}", &catalogue.text("page.broken.reload", &none)),
        ("{noscript}", &catalogue.text("page.noscript", &none)),
        ("{words}", &catalogue.of_page(is_panel)),
    ];
    said.into_iter().fold(marked, |page, (mark, text)| page.replace(mark, &escaped(text))).into()
}

/// The product's colour, which the other styles take where there is one. Its buttons have an edge, for the colour may be that of the page.
pub(super) fn style(product: &Product) -> String {
    let colour = product.accent.map(|accent| {
        let text = accent.text();
        // Away from the text: what is readable on the colour stays so.
        let hover = text.text();
        format!(
            ":root {{ --product: {accent}; --on-product: {text}; --product-edge: var(--edge); --product-hover: color-mix(in srgb, {accent}, {hover} 12%) }}\n"
        )
    });
    format!("/* The product's own colour, and what is readable on it. */\n{}", colour.unwrap_or_default())
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // No later replacement finds a mark in it.
            '{' => escaped.push_str("&#123;"),
            other => escaped.push(other),
        }
    }
    escaped
}
