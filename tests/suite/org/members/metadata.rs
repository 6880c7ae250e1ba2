//! PATCH /org/members/:userId: the customer's own data on a membership, kept exactly and never interpreted.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Request, scenarios, shape};

scenarios![
    metadata_is_replaced_as_a_whole,
    numbers_come_back_as_they_were_sent,
    texts_of_any_script_come_back,
    sixteen_kibibytes_are_the_limit,
    thirty_two_levels_are_the_limit,
    a_key_given_twice_is_refused_at_any_depth,
    numbers_must_be_finite,
    a_nul_is_refused_anywhere,
    metadata_missing_or_not_an_object_is_400,
    only_an_admin_writes_metadata,
    a_strangers_metadata_is_404,
    metadata_is_of_one_membership,
];

/// Sends metadata as text, so that no library rewrites it on the way.
fn write(admin: &Caller, user_id: &str, metadata: &str) -> Request {
    admin.request("PATCH", &format!("/org/members/{user_id}")).text(format!(r#"{{"metadata":{metadata}}}"#))
}

async fn metadata_is_replaced_as_a_whole(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    let data = admin.set_metadata(&id, json!({ "a": 1, "b": { "c": [true, null] } })).await.expect_ok();
    let membership = &data["membership"];
    assert_eq!(shape(membership), ["id", "metadata", "role", "status", "userId"]);
    assert!(membership["id"].as_str().is_some_and(|id| id.starts_with("mem_")));
    assert_eq!(
        (&membership["userId"], &membership["role"], &membership["status"]),
        (&id.as_str().into(), &"member".into(), &"active".into())
    );
    assert_eq!(membership["metadata"], json!({ "a": 1, "b": { "c": [true, null] } }));
    admin.set_metadata(&id, json!({ "b": 2 })).await.expect(200);
    assert_eq!(admin.member_entry(&id).await.expect("a member")["metadata"], json!({ "b": 2 }), "a is gone");
    admin.set_metadata(&id, json!({})).await.expect(200);
    assert_eq!(admin.member_entry(&id).await.expect("a member")["metadata"], json!({}));
}

async fn numbers_come_back_as_they_were_sent(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let sent = r#"{"big":123456789012345678901234567890,"exact":0.1000,"exponent":1.50E+3,"negative":-0,"max":18446744073709551616,"z":1,"a":2}"#;
    let answer = write(&admin, member.id(), sent).await.expect(200);
    assert!(answer.body.contains(sent), "{}", answer.body);
    let shown = [
        admin.get("/org/members").await.expect(200).body,
        app.backend().verify(&member.access_token()).await.expect(200).body,
        app.backend().get("/public/members").await.expect(200).body,
        app.backend().get(&format!("/public/members/{}", member.id())).await.expect(200).body,
        app.backend().get(&format!("/public/users/{}", member.id())).await.expect(200).body,
    ];
    for body in shown {
        assert!(body.contains(sent), "{body}");
    }
}

async fn texts_of_any_script_come_back(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    let odd = json!({ "": "empty key", "🦀 \" \\ / \u{7f} \u{2028}": "ünïcødé \u{1F469}\u{200D}\u{1F680} \t\r\n \u{1} </script>", "__proto__": { "toString": null }, "constructor": [] });
    admin.set_metadata(&id, odd.clone()).await.expect(200);
    assert_eq!(admin.member_entry(&id).await.expect("a member")["metadata"], odd);
    let escaped = r#"{"pair":"\ud83e\udd80","slash":"\/"}"#;
    write(&admin, &id, escaped).await.expect(200);
    assert_eq!(admin.member_entry(&id).await.expect("a member")["metadata"], json!({ "pair": "🦀", "slash": "/" }));
    write(&admin, &id, r#"{"lone":"\ud83e"}"#).await.expect(400);
}

async fn sixteen_kibibytes_are_the_limit(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    let of = |bytes: usize| json!({ "a": "x".repeat(bytes - r#"{"a":""}"#.len()) });
    assert_eq!(of(16_384).to_string().len(), 16_384);
    admin.set_metadata(&id, of(16_384)).await.expect(200);
    admin.set_metadata(&id, of(16_385)).await.expect_invalid("metadata");
    assert_eq!(admin.member_entry(&id).await.expect("a member")["metadata"], of(16_384));
    let spacious = format!(r#"{{ {} "a": 1 }}"#, " ".repeat(20_000));
    write(&admin, &id, &spacious).await.expect(200);
}

fn nested(levels: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

async fn thirty_two_levels_are_the_limit(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    write(&admin, &id, &nested(32)).await.expect(200);
    write(&admin, &id, &nested(33)).await.expect_invalid("metadata");
    let lists = |levels: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1));
    write(&admin, &id, &lists(32)).await.expect(200);
    write(&admin, &id, &lists(33)).await.expect_invalid("metadata");
    write(&admin, &id, &nested(5_000)).await.expect_error(400, "invalid_request");
    write(&admin, &id, &format!(r#"{{"a":{}"#, "[".repeat(30_000))).await.expect_error(400, "invalid_request");
}

async fn a_key_given_twice_is_refused_at_any_depth(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    for twice in [r#"{"a":1,"a":1}"#, r#"{"x":{"a":1,"b":2,"a":3}}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#] {
        write(&admin, &id, twice).await.expect_invalid("metadata");
    }
    write(&admin, &id, r#"{"x":{"a":1},"y":{"a":1},"a":[{"a":1},{"a":1}]}"#).await.expect(200);
}

async fn numbers_must_be_finite(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    for infinite in [r#"{"a":1e400}"#, r#"{"a":[-1e999]}"#] {
        write(&admin, &id, infinite).await.expect_invalid("metadata");
    }
    for malformed in [r#"{"a":NaN}"#, r#"{"a":Infinity}"#, r#"{"a":01}"#, r#"{"a":.5}"#, r#"{"a":1.}"#, r#"{"a":0x10}"#] {
        write(&admin, &id, malformed).await.expect_error(400, "invalid_request");
    }
    write(&admin, &id, r#"{"a":1e308,"b":1e-400}"#).await.expect(200);
}

async fn a_nul_is_refused_anywhere(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    for nul in [r#"{"a":"\u0000"}"#, r#"{"\u0000":1}"#, r#"{"a":[{"b":"x\u0000y"}]}"#] {
        write(&admin, &id, nul).await.expect_invalid("metadata");
    }
    write(&admin, &id, "{\"a\":\"\0\"}").await.expect_error(400, "invalid_request");
}

async fn metadata_missing_or_not_an_object_is_400(app: &App) {
    let (admin, id) = (app.admin().logged_in().await, app.member().id().to_owned());
    let path = format!("/org/members/{id}");
    admin.patch(&path, json!({})).await.expect_invalid("metadata");
    for no_object in [json!(null), json!([]), json!("{}"), json!(1), json!(true)] {
        admin.patch(&path, json!({ "metadata": no_object })).await.expect_invalid("metadata");
    }
    let twice = admin.request("PATCH", &path).text(r#"{"metadata":{"a":1},"metadata":{"b":1}}"#);
    twice.await.expect_error(400, "invalid_request");
}

async fn only_an_admin_writes_metadata(app: &App) {
    let member = app.member().logged_in().await;
    member.set_metadata(member.id(), json!({ "admin": true })).await.expect_error(403, "admin_required");
    app.anonymous().set_metadata(member.id(), json!({})).await.expect_no_session();
    assert_eq!(member.member_entry(member.id()).await.expect("a member")["metadata"], json!({}));
}

async fn a_strangers_metadata_is_404(app: &App) {
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member());
    for id in [gus.id(), "usr_00000000000000000000000000", "rubbish", "%E2%82%AC"] {
        admin.set_metadata(id, json!({})).await.expect_error(404, "not_found");
    }
}

async fn metadata_is_of_one_membership(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    greta.invite(app.member().email()).await.expect(201);
    let token = app.link_token_of(app.member().email()).await;
    app.other_org().device_of(app.member().person()).accept_with_account(&token).await.expect(200);
    admin.set_metadata(app.member().id(), json!({ "here": 1 })).await.expect(200);
    greta.set_metadata(app.member().id(), json!({ "there": 2 })).await.expect(200);
    let seen = |entry: Option<Value>| entry.expect("a member")["metadata"].clone();
    assert_eq!(seen(admin.member_entry(app.member().id()).await), json!({ "here": 1 }));
    assert_eq!(seen(greta.member_entry(app.member().id()).await), json!({ "there": 2 }));
}
