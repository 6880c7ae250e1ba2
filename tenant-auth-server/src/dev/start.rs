//! `/dev`: the page that leads to everything there is to try.

use axum::{Router, routing::get};

use super::local::{Site, escaped};

/// `GET /dev`.
pub(super) fn routes(local_url: &str, site: Site) -> Router {
    let url = escaped(local_url);
    let (sign_in, docs, document) = (escaped(&site.sign_in()), escaped(&site.docs()), escaped(&site.document()));
    let json = "-H 'Content-Type: application/json'";
    let shown = format!(
        "<p>The credentials stand where the service was started. Everything here is gone with <code>serve</code>.</p>\
         <dl><dt><a href=\"{sign_in}\">Panel</a></dt><dd>What an organization's admins see.</dd>\
         <dt><a href=\"{docs}\">API</a></dt><dd>Every operation; <a href=\"{document}\">the document</a> for generators.</dd>\
         <dt><a href=\"/dev/mail\">Mails</a></dt><dd>What was mailed. For scripts <code>/dev/mail.json?to=…&amp;wait=10</code>.</dd>\
         <dt><a href=\"/dev/webhooks\">Webhooks</a></dt><dd>A receiver that the demo organization is subscribed to: each delivery, and \
         whether its signature is right. For scripts <code>/dev/webhooks.json</code>.</dd>\
         <dt><a href=\"/dev/requests\">Requests</a></dt><dd>The last 200; of each refusal which check refused, what it saw and what would \
         have passed. For scripts <code>/dev/requests.json</code>.</dd>\
         <dt>Clock</dt><dd><code>curl {url}/dev/clock</code> tells the service's time; <code>curl {url}/dev/clock {json} -d \
         '{{\"advance\": \"8d\"}}'</code> moves it forward: tokens, invites, codes, retries and sweeps follow. A new start is in the \
         present again: what was made meanwhile lies in the future; delete both files, tenant-auth-dev.db and tenant-auth-dev.json, to \
         start afresh.</dd></dl>"
    );
    Router::new().route("/dev", get(async move || site.page("Tenant Auth, to try out", &shown)))
}
