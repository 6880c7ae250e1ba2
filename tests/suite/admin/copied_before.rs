//! A copy that was kept true by the feed of the source: after the move it begins anew (behaviour.md, B290), because an import may make
//! others of its people, which no event tells.

use tenant_auth_conformance::{App, Response, scenarios};
use tenant_auth_core::{backend::NewApiKey, model::Scope};

use super::{
    linking::{known, linking},
    moves::{NILS, at, exported, import, movers, target},
};

scenarios![on each database:
    a_place_of_before_the_move_is_none_after_it,
];

async fn told(app: &App, api_key: &str, question: &str) -> Response {
    at(app).with("X-API-Key", api_key).get(&format!("/public/{question}")).await
}

async fn a_place_of_before_the_move_is_none_after_it(app: &App) {
    movers(app).await;
    let scopes = vec![Scope::EventsRead, Scope::MembersRead];
    let new = NewApiKey { name: "Copy".parse().expect("a name"), scopes, expires_at: None };
    let created = app.auth.operator().create_api_key(&"movers".parse().expect("a slug"), new).await.expect("room for a key");
    let api_key = created.key.expose();
    let (file, key) = exported(app, false).await;
    let read_before = told(app, api_key, "events?limit=1000").await.expect_ok();
    let read_before = read_before["events"].as_array().expect("a list");

    let target = target(app).await;
    known(&target, true).await;
    import(&target, &file, &linking(key)).await.expect("nothing clashes");
    let here = told(&target, api_key, "events?limit=1000").await.expect_ok();
    assert_eq!(here["events"][0]["type"], "org.imported", "whoever states no place is told of it");
    let imported = here["events"][0]["sequence"].as_i64().expect("a number");
    let ids = read_before.iter().map(|event| event["id"].as_str().expect("an id").to_owned());
    for place in ids.chain([(imported - 1).to_string(), "0".to_owned()]) {
        told(&target, api_key, &format!("events?after={place}")).await.expect_error(410, "events_expired");
    }
    let list = told(&target, api_key, "members").await.expect_ok();
    assert!(!list["members"].to_string().contains(NILS), "he is invited anew: {list}");
    for place in [list["sequence"].to_string(), imported.to_string()] {
        told(&target, api_key, &format!("events?after={place}")).await.expect_ok();
    }
}
