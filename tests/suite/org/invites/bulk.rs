//! Inviting many people at once: POST /org/members/invite/bulk. Each invite is judged as it would be alone.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Response, scenarios, shape};

use crate::suite::support::stored;

scenarios![
    each_address_is_judged_alone,
    an_address_that_stands_twice_is_invited_once,
    every_invited_person_gets_a_mail_of_their_own,
    one_to_a_hundred_are_taken,
    a_word_that_is_no_role_costs_nobody_else_their_invite,
    an_entry_without_an_address_refuses_the_whole_request,
    only_an_admin_invites_several,
];
scenarios![on each database:
    those_beyond_the_days_limit_are_refused_one_by_one,
    an_admin_who_is_none_any_more_invites_nobody,
];

async fn bulk(caller: &Caller, invites: Value) -> Response {
    caller.post("/org/members/invite/bulk", json!({ "invites": invites })).await
}

/// The result of each: the invited address, or the code of the refusal.
fn results(answer: Response) -> Vec<(String, String)> {
    let data = answer.expect_ok();
    assert_eq!(shape(&data), ["results"]);
    let told = |result: &Value| {
        let invited = result["invite"]["email"].as_str().map(|email| format!("invited {email}"));
        let code = result["code"].as_str().map(str::to_owned);
        let email = result["email"].as_str().expect("the address as it was sent").to_owned();
        assert_ne!(invited.is_some(), code.is_some(), "one of them: {result}");
        (email, invited.or(code).expect("one of them"))
    };
    data["results"].as_array().expect("a list").iter().map(told).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(email, what)| ((*email).to_owned(), (*what).to_owned())).collect()
}

async fn each_address_is_judged_alone(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member());
    admin.invite("nora@acme.example").await.expect(201);
    let answer = bulk(
        &admin,
        json!([
            { "email": "Olga@acme.example", "role": "org_admin" },
            { "email": max.email() },
            { "email": "not an address" },
            { "email": "NORA@acme.example" },
            { "email": "pat@acme.example", "role": null },
        ]),
    );
    let answer = answer.await;
    let first = &answer.data()["results"][0];
    assert_eq!((shape(first), shape(&first["invite"])), (vec!["email", "invite"], vec!["email", "expiresAt", "id", "role"]));
    assert_eq!(shape(&answer.data()["results"][1]), ["code", "email"]);
    let expected = [
        ("Olga@acme.example", "invited Olga@acme.example"),
        (max.email(), "already_member"),
        ("not an address", "invalid_request"),
        ("NORA@acme.example", "already_invited"),
        ("pat@acme.example", "invited pat@acme.example"),
    ];
    assert_eq!(results(answer), pairs(&expected));
    let pending = admin.pending_invites().await;
    let roles: Vec<_> = pending.iter().map(|invite| (invite["email"].as_str(), invite["role"].as_str())).collect();
    let expected = [
        (Some("nora@acme.example"), Some("member")),
        (Some("Olga@acme.example"), Some("org_admin")),
        (Some("pat@acme.example"), Some("member")),
    ];
    assert_eq!(roles.len(), 3);
    assert!(expected.iter().all(|invite| roles.contains(invite)), "{roles:?}");
    let told = stored::events_of(app, app.org().slug()).await;
    let told =
        told.iter().filter(|event| event["type"] == "invite.created").filter_map(|event| event["data"]["invite"]["email"].as_str());
    let told: Vec<&str> = told.collect();
    assert!(told.ends_with(&["nora@acme.example", "Olga@acme.example", "pat@acme.example"]), "each is told of: {told:?}");
}

async fn an_address_that_stands_twice_is_invited_once(app: &App) {
    let admin = app.admin().logged_in().await;
    let twice = json!([{ "email": "nora@acme.example" }, { "email": "Nora@ACME.example" }]);
    let expected = [("nora@acme.example", "invited nora@acme.example"), ("Nora@ACME.example", "already_invited")];
    assert_eq!(results(bulk(&admin, twice.clone()).await), pairs(&expected));
    let again = [("nora@acme.example", "already_invited"), ("Nora@ACME.example", "already_invited")];
    assert_eq!(results(bulk(&admin, twice).await), pairs(&again), "a request that is sent again does no harm");
}

async fn every_invited_person_gets_a_mail_of_their_own(app: &App) {
    let admin = app.admin().logged_in().await;
    let addresses = ["nora@new.example", "olga@new.example", "pat@new.example"];
    bulk(&admin, addresses.iter().map(|email| json!({ "email": email })).collect()).await.expect(200);
    app.tick().await;
    for email in addresses {
        assert_eq!(app.mail_to(email).await.len(), 1, "{email}");
    }
}

async fn one_to_a_hundred_are_taken(app: &App) {
    let admin = app.admin().logged_in().await;
    let some = |count: usize| (0..count).map(|n| json!({ "email": format!("pat{n}@acme.example") })).collect::<Value>();
    bulk(&admin, json!([])).await.expect_invalid("invites");
    bulk(&admin, some(101)).await.expect_invalid("invites");
    admin.post("/org/members/invite/bulk", json!({})).await.expect_invalid("invites");
    assert!(admin.pending_invites().await.is_empty(), "what is refused as a whole comes to nothing");
    assert_eq!(results(bulk(&admin, some(100)).await).len(), 100);
    assert_eq!(admin.pending_invites().await.len(), 100);
}

async fn a_word_that_is_no_role_costs_nobody_else_their_invite(app: &App) {
    let admin = app.admin().logged_in().await;
    let answer = bulk(
        &admin,
        json!([
            { "email": "nora@acme.example" },
            { "email": "pat@acme.example", "role": "owner" },
            { "email": "not an address", "role": "" },
            { "email": "olga@acme.example", "role": "org_admin" },
        ]),
    );
    let data = answer.await.expect_ok();
    assert_eq!(data["results"][1], json!({ "email": "pat@acme.example", "code": "invalid_request", "field": "invites[1].role" }));
    assert_eq!(data["results"][2]["field"], "invites[2].email");
    let invited = admin.pending_invites().await;
    let invited: Vec<_> = invited.iter().map(|invite| (invite["email"].as_str(), invite["role"].as_str())).collect();
    assert_eq!(invited.len(), 2);
    for expected in [(Some("nora@acme.example"), Some("member")), (Some("olga@acme.example"), Some("org_admin"))] {
        assert!(invited.contains(&expected), "{invited:?}");
    }
    bulk(&admin, json!([{ "email": "pat@acme.example", "role": "owner" }])).await.expect(200);
}

async fn an_entry_without_an_address_refuses_the_whole_request(app: &App) {
    let admin = app.admin().logged_in().await;
    let good = json!({ "email": "nora@acme.example" });
    bulk(&admin, json!([good, { "role": "member" }])).await.expect_invalid("invites[1].email");
    bulk(&admin, json!([good, { "email": "pat@acme.example", "role": 1 }])).await.expect_invalid("invites[1].role");
    assert!(admin.pending_invites().await.is_empty());
}

async fn only_an_admin_invites_several(app: &App) {
    let invites = json!([{ "email": "nora@acme.example" }]);
    bulk(&app.member().logged_in().await, invites.clone()).await.expect_error(403, "admin_required");
    bulk(&app.anonymous(), invites).await.expect_no_session();
    assert!(app.admin().logged_in().await.pending_invites().await.is_empty());
}

async fn those_beyond_the_days_limit_are_refused_one_by_one(app: &App) {
    let admin = app.admin().logged_in().await;
    let some = |from: usize| (from..from + 100).map(|n| json!({ "email": format!("pat{n}@acme.example") })).collect::<Value>();
    assert!(results(bulk(&admin, some(0)).await).iter().all(|(_, what)| what.starts_with("invited")));
    admin.invite("nora@acme.example").await.expect(201);
    let second = results(bulk(&admin, some(100)).await);
    assert!(second.iter().take(99).all(|(_, what)| what.starts_with("invited")), "{second:?}");
    assert_eq!(second.last().map(|(_, what)| what.as_str()), Some("rate_limited"), "they count like single ones");
    assert_eq!(admin.pending_invites().await.len(), 200);
}

async fn an_admin_who_is_none_any_more_invites_nobody(app: &App) {
    let (admin, dora) = (app.admin().logged_in().await, app.org().new_admin("Dora").await.logged_in().await);
    admin.set_role(dora.id(), "member").await.expect(200);
    bulk(&dora, json!([{ "email": "nora@acme.example" }])).await.expect_error(403, "admin_required");
    assert!(admin.pending_invites().await.is_empty());
}
