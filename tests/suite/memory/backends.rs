//! What backends that remember rest on: an answer that is of no earlier moment than what they know.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};

use super::deployment::Deployment;

scenarios![on each database:
    an_answer_beside_a_cursor_is_of_no_earlier_moment,
];

async fn an_answer_beside_a_cursor_is_of_no_earlier_moment(app: &App) {
    let deployment = Deployment::of(app).await;
    let admin = deployment.first.admin().logged_in().await;
    let token = admin.access_token();
    let elsewhere = deployment.second.backend();
    for round in 0..30 {
        elsewhere.verify(&token).await.expect(200);
        let name = format!("Acme {round}");
        // Ends no right, so the other process may go on by what it remembers for a while.
        admin.patch("/org", json!({ "name": name })).await.expect(200);
        let data = elsewhere.post("/public/verify", json!({ "token": token, "after": "a moment ago" })).await.expect_ok();
        assert_eq!(data["org"]["name"], name.as_str());
    }
}
