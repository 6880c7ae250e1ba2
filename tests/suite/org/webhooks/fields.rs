//! What a webhook is made of, beside its URL: the kinds of events it selects, and a description.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, id_of, scenarios};
use tenant_auth_core::model::EventKind;

use crate::suite::support::hooks::{Hook, RECEIVER, hooking, webhooks};

scenarios![
    events_are_selected_by_kind_by_group_or_all,
    an_unknown_kind_is_refused_with_the_known_ones,
    a_selection_is_a_list_of_kinds,
    a_description_is_short_and_plain,
];

async fn events_are_selected_by_kind_by_group_or_all(app: &App) {
    let admin = app.admin().logged_in().await;
    for kind in EventKind::ALL {
        let group = format!("{}.*", kind.as_str().split('.').next().expect("a group"));
        let hook = Hook::new(&admin, RECEIVER, &[kind.as_str(), &group, "*", kind.as_str()]).await;
        assert_eq!(hook.shown(&admin).await["events"], json!([kind.as_str(), group, "*"]), "each once");
        admin.delete(&hook.path()).await.expect(200);
    }
}

async fn an_unknown_kind_is_refused_with_the_known_ones(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    for bad in ["member.left", "member", "members.*", "member.", "*.joined", "Member.joined", "", " ", "**", "member.joined "] {
        for refused in
            [hooking(&admin, RECEIVER, &["org.updated", bad]).await, admin.patch(&hook.path(), json!({ "events": [bad] })).await]
        {
            let refused = refused.expect_invalid("events");
            for kind in EventKind::ALL {
                assert!(refused.message().contains(kind.as_str()), "{}", refused.message());
            }
        }
    }
    assert_eq!(hook.shown(&admin).await["events"], json!(["org.updated"]));
}

async fn a_selection_is_a_list_of_kinds(app: &App) {
    let admin = app.admin().logged_in().await;
    for bad in [json!([]), json!("*"), json!(null), json!(5), json!([5]), json!({ "0": "*" }), json!([["*"]]), json!([null])] {
        admin.post("/org/webhooks", json!({ "url": RECEIVER, "events": bad })).await.expect_invalid("events");
    }
    admin.post("/org/webhooks", json!({ "url": RECEIVER })).await.expect_invalid("events");
    assert!(webhooks(&admin).await.is_empty());
}

async fn a_description_is_short_and_plain(app: &App) {
    let admin = app.admin().logged_in().await;
    let with = |description: Value| json!({ "url": RECEIVER, "events": ["*"], "description": description });
    let longest = "ü".repeat(200);
    let data = admin.post("/org/webhooks", with(json!(longest))).await.expect(201).data();
    assert_eq!(data["webhook"]["description"], longest);
    let path = format!("/org/webhooks/{}", id_of(&data["webhook"]));
    for bad in [
        json!("x".repeat(201)),
        json!(format!("{} ", "x".repeat(200))),
        json!("a\nb"),
        json!("a\n"),
        json!("\ta"),
        json!("a\u{7}"),
        json!("a\u{202e}b"),
        json!("a\u{2060}b"),
        json!("a\0b"),
        json!(5),
        json!([]),
    ] {
        admin.post("/org/webhooks", with(bad.clone())).await.expect_invalid("description");
        admin.patch(&path, json!({ "description": bad })).await.expect_invalid("description");
    }
    for none in [json!(null), json!("")] {
        admin.patch(&path, json!({ "description": "x" })).await.expect(200);
        let shown = admin.patch(&path, json!({ "description": none })).await.expect_ok();
        assert_eq!(shown["webhook"]["description"], "");
        let data = admin.post("/org/webhooks", with(none)).await.expect(201).data();
        assert_eq!(data["webhook"]["description"], "");
    }
}
