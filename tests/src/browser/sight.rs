//! What a person sees at a page, without knowing how the page is made.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::{Page, patience::text, qr, session};

const SCAN: &str = include_str!("scan.js");

impl Page {
    /// The name of what has the focus.
    pub async fn focused(&self) -> String {
        text(&self.run("return nameOf(document.activeElement)", vec![]).await)
    }

    /// What stands in a field.
    pub async fn value(&self, field: &str) -> String {
        let found = self
            .element(
                &format!("the field {field:?}"),
                "return find('field', ...arguments)",
                vec![json!(field), self.region.to_json()],
            )
            .await;
        found.prop("value").await.expect("it has a value").unwrap_or_default()
    }

    /// What a camera reads from a QR code that is called so.
    pub async fn scan(&self, picture: &str) -> String {
        let rows = self.eventually(&format!("the picture {picture:?}"), SCAN, vec![json!(picture), self.region.to_json()]).await;
        let rows = rows.as_array().expect("rows").iter().map(|row| text(row).chars().map(|module| module == '1').collect());
        qr::read(&rows.collect::<Vec<_>>())
    }

    /// What the clipboard holds.
    pub async fn clipboard(&self) -> String {
        text(&self.run("return navigator.clipboard.readText()", vec![]).await)
    }

    /// Waits for a file to be downloaded; what it says.
    pub async fn downloaded(&self, name: &str) -> String {
        let file = self.session.downloads.path().join(name);
        for _ in 0..200 {
            if let Ok(text) = std::fs::read_to_string(&file)
                && !text.is_empty()
            {
                return text;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("{name} was never downloaded")
    }

    /// Waits until this text can be read.
    pub async fn reads(&self, text: &str) {
        self.eventually(&format!("the text {text:?}"), "return reads(...arguments)", vec![json!(text), self.region.to_json()])
            .await;
    }

    /// Waits until this text can be read no more.
    pub async fn reads_no(&self, text: &str) {
        let what = format!("no text {text:?}");
        self.eventually(&what, "return resting() && !reads(...arguments)", vec![json!(text), self.region.to_json()]).await;
    }

    /// Waits until a script answers something that is true: for what no word on the page tells.
    pub async fn comes_true(&self, what: &str, script: &str) {
        self.eventually(what, script, vec![]).await;
    }

    /// Waits until there is something of that name to press.
    pub async fn offers(&self, name: &str) {
        self.eventually(
            &format!("something called {name:?}"),
            "return usable('press', ...arguments)",
            vec![json!(name), self.region.to_json()],
        )
        .await;
    }

    /// Waits until there is nothing of that name to press.
    pub async fn offers_no(&self, name: &str) {
        let what = format!("nothing called {name:?}");
        self.eventually(&what, "return resting() && !usable('press', ...arguments)", vec![json!(name), self.region.to_json()])
            .await;
    }

    /// Waits until the tab is at this address, whatever page that is.
    pub async fn is_at(&self, address: &str) {
        self.eventually("the page that was asked for", "return location.href === arguments[0]", vec![json!(address)]).await;
    }

    /// Waits until the page of this title is there, and holds it to what every page must obey.
    pub async fn arrives_at(&self, title: &str) {
        self.eventually(&format!("the page {title:?}"), "return resting() && title() === arguments[0]", vec![json!(title)]).await;
        self.is_calm().await;
    }

    /// Waits until a dialog of this name is open.
    pub async fn asks(&self, name: &str) {
        self.eventually(&format!("the dialog {name:?}"), "return dialog() && nameOf(dialog()) === arguments[0]", vec![json!(name)])
            .await;
    }

    /// Waits until no dialog is open.
    pub async fn asks_nothing(&self) {
        self.eventually("no dialog", "return !dialog()", vec![]).await;
    }

    /// A screenshot of the page, written to `$TENANT_AUTH_SCREENSHOTS/{name}.png` if that variable is set.
    pub async fn is_pictured_as(&self, name: &str) {
        let Some(directory) = std::env::var_os("TENANT_AUTH_SCREENSHOTS") else { return };
        self.here().await;
        // The mouse rests on the element pressed last, which would be shown.
        let away = json!({ "type": "mouseMoved", "x": 1, "y": 1 });
        self.session.devtools("Input.dispatchMouseEvent", away).await;
        let picture = self.session.client.screenshot().await.expect("a picture");
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(std::path::Path::new(&directory).join(format!("{name}.png")), picture).expect("it can be written");
    }

    /// Moves a part of the page to where it is seen whole.
    pub async fn scrolls_there(&self) {
        let script = "scope(...arguments).scrollIntoView({ block: 'end', behavior: 'instant' }); return true";
        self.eventually("the part", script, vec![self.region.to_json()]).await;
    }

    /// Shows the page on a telephone, or on a desk again.
    pub async fn is_narrow(&self, is_narrow: bool) {
        self.here().await;
        self.session.size(if is_narrow { session::NARROW } else { session::WIDE }).await;
    }

    /// Shows the page in a window of so many pixels.
    pub async fn is_wide(&self, width: u32) {
        self.here().await;
        self.session.size((width, session::WIDE.1)).await;
    }

    /// Shows the page in the dark colour scheme.
    pub async fn is_dark(&self, is_dark: bool) {
        self.here().await;
        self.session.dark(is_dark).await;
    }

    /// Shows the page in the system's few colours, as people with low vision choose them.
    pub async fn is_in_forced_colours(&self, is_forced: bool) {
        self.here().await;
        self.session.forces_colours.store(is_forced, Ordering::SeqCst);
        self.session.dark(false).await;
    }

    /// Shows the page to somebody who set the browser's text to twice its size.
    pub async fn is_in_large_text(&self) {
        self.here().await;
        self.session.devtools("Page.setFontSizes", json!({ "fontSizes": { "standard": 32, "fixed": 26 } })).await;
    }
}
