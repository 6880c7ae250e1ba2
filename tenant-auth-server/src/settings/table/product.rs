//! Settings of the product that the service belongs to, as people see it on hosted pages and in mails.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use tenant_auth_core::{
    config::{Languages, MailTemplates, Setting},
    value::{Colour, DisplayName, Language, Logo, Rejected, SupportUrl},
};

use super::{Group, Part};
use crate::settings::{
    parse::put,
    row::{
        Default::{Is, Unset},
        Fault, Row,
    },
    values::Values,
};

pub(super) const PRODUCT: Group = Group {
    title: "The product",
    part: Part::Service,
    rows: &[
        Row {
            name: "product_name",
            default: Is("Tenant Auth"),
            meaning: "What the product is called, on hosted pages and in mails.",
            must: "1 to 100 characters without control characters",
            read: |to, text| put(&mut to.config.product.name, DisplayName::parse(text).map_err(instead)),
            ..Row::BLANK
        },
        Row {
            name: "product_logo",
            default: Unset("pages show the logo of Tenant Auth, and mails the name alone"),
            meaning: "The file of the product's logo, which is read at the start: on hosted pages, inline in mails, and at {base}/logo.",
            must: "the path of a readable PNG, JPEG, WebP or SVG file of at most 64 KiB",
            read: |to, path| {
                let content = (to.read_file)(Path::new(path));
                let content = content.map_err(|error| Fault::Instead(format!("names {path}, which cannot be read: {error}")));
                let logo = content.and_then(|content| {
                    Logo::parse(content).map_err(|rejected| Fault::Instead(format!("names {path}, which {rejected}")))
                });
                put(&mut to.config.product.logo, logo.map(Some))
            },
            ..Row::BLANK
        },
        Row {
            name: "product_accent",
            default: Unset("buttons have the colours of Tenant Auth"),
            meaning: "The background of buttons that lead on; their text is black or white, whichever contrasts more.",
            must: "a colour such as #1f4bd8",
            read: |to, text| put(&mut to.config.product.accent, Colour::parse(text).map(Some).map_err(instead)),
            ..Row::BLANK
        },
        Row {
            name: "languages",
            default: Unset("mails, hosted pages and the panel are in English, German, French and Spanish"),
            meaning: "A folder of catalogues, read at the start, each a file such as it.json: they add languages to those of mails, hosted pages and the panel, or replace words of theirs; what one lacks of the panel's is in English. Catalogues are JSON of key to text, as those in tenant-auth-core/languages.",
            must: "the path of a readable folder of catalogues",
            read: |to, folder| {
                let languages = with_catalogues(to, folder).map_err(|refused| Fault::Instead(format!("names {folder}{refused}")));
                put(&mut to.config.languages, languages)
            },
            ..Row::BLANK
        },
        Row {
            name: "mail_templates",
            default: Unset("mails look as we made them"),
            meaning: "A folder of templates (minijinja) that stand in the place of our mails' texts, read at the start and tried with samples; `settings --templates` lists their names and what they are given.",
            must: "the path of a readable folder of templates",
            read: |to, folder| {
                let templates = with_templates(to, folder).map_err(|refused| Fault::Instead(format!("names {folder}{refused}")));
                put(&mut to.config.mail_templates, templates)
            },
            core: Some(Setting::MailTemplates),
            ..Row::BLANK
        },
        Row {
            name: "support_url",
            default: Unset("pages and mails name no place of support"),
            meaning: "Where people find help, linked from hosted pages and mails.",
            must: "an https URL, or an address such as mailto:help@example.com",
            read: |to, text| put(&mut to.config.product.support_url, SupportUrl::parse(text).map(Some).map_err(|_| Fault::Other)),
            ..Row::BLANK
        },
    ],
};

/// The files of a folder whose names have this ending, but those that a dot hides: a Kubernetes volume keeps its own bookkeeping so.
/// Otherwise what is wrong, to be read after the folder's path.
fn files(to: &Values, folder: &str, ending: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let paths = (to.list_folder)(Path::new(folder)).map_err(|error| format!(", which cannot be read: {error}"))?;
    let named = paths.into_iter().map(|path| (path.file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned(), path));
    let meant = named.filter(|(name, _)| name.ends_with(ending) && !name.starts_with('.'));
    let read = |(name, path): (String, PathBuf)| match (to.read_file)(&path) {
        Ok(content) => Ok((name, content)),
        Err(error) => Err(format!("/{name}, which cannot be read: {error}")),
    };
    meant.map(read).collect()
}

/// The languages with those of a folder; otherwise what is wrong, to be read after the folder's path.
fn with_catalogues(to: &Values, folder: &str) -> Result<Languages, String> {
    let mut languages = to.config.languages.clone();
    for (name, content) in files(to, folder, ".json")? {
        let language = Language::parse(name.strip_suffix(".json").unwrap_or(&name))
            .map_err(|rejected| format!("/{name}, whose name without .json {rejected}"))?;
        let added = languages.with(&language, &String::from_utf8_lossy(&content));
        languages = added.map_err(|refused| format!("/{name}, which {refused}"))?;
    }
    Ok(languages)
}

/// The templates of a folder; otherwise what is wrong, to be read after the folder's path.
fn with_templates(to: &Values, folder: &str) -> Result<MailTemplates, String> {
    let mut templates = MailTemplates::default();
    for (name, content) in files(to, folder, "")? {
        let at = |refused: String| format!("/{name}, which {refused}");
        let source = String::from_utf8(content).map_err(|_| at("is no UTF-8 text".to_owned()))?;
        templates = templates.with(&name, &source).map_err(at)?;
    }
    Ok(templates)
}

fn instead(rejected: Rejected) -> Fault {
    Fault::Instead(rejected.to_string())
}
