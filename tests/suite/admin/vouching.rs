//! What a file may bring only from a source that somebody vouches for (behaviour.md, B169), and what no file may bring.

use serde_json::json;
use tenant_auth_conformance::{App, PASSWORD, id_of, scenarios};
use tenant_auth_core::{
    backend::NewApiKey,
    model::Scope,
    operator::{NewOrganization, OrganizationImport},
};

use super::moves::{NORA, at, exported, exported_of, import, is_there, known, logged_in, movers, reasons, target, target_with};
use crate::suite::support::{account::guard, authenticator::SecondFactor, hooks::run_sql};

scenarios![on each database:
    a_key_that_speaks_for_any_address_needs_somebody_who_vouches,
    more_invites_than_a_day_allows_need_somebody_who_vouches,
    a_key_that_was_used_in_the_future_is_no_key,
    a_key_that_was_rotated_takes_no_place_of_another,
    a_key_counts_as_replaced_while_it_ends_and_by_a_key_that_comes_along,
    a_code_that_was_used_in_the_future_shuts_nobody_out,
    no_file_brings_a_reserved_slug,
];

const DAY: u64 = 24 * 60 * 60;

async fn a_key_that_speaks_for_any_address_needs_somebody_who_vouches(app: &App) {
    movers(app).await;
    let new = NewApiKey { name: "Front".parse().expect("a name"), scopes: vec![Scope::Verify, Scope::Proxy], expires_at: None };
    let slug = "movers".parse().expect("a slug");
    app.auth.operator().create_api_key(&slug, new).await.expect("the command line may");
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    let import = async |trust| import(&target, &file, &OrganizationImport { trust, ..OrganizationImport::new(key.clone()) }).await;
    let refused = reasons(import(false).await);
    assert!(matches!(&refused[..], [only] if only.contains("proxy") && only.contains("--trust")), "{refused:?}");
    assert_eq!(import(true).await.expect("it is vouched for").api_keys, 1);
}

async fn more_invites_than_a_day_allows_need_somebody_who_vouches(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    let invite = |number: u32| json!({ "email": format!("guest{number}@movers.example") });
    for number in 0..200 {
        nora.post("/org/members/invite", invite(number)).await.expect(201);
    }
    let target = target(app).await;
    app.advance(DAY);
    let nora = logged_in(app, NORA).await;
    nora.post("/org/members/invite", invite(200)).await.expect(201);
    let (file, key) = exported(app, false).await;
    target.advance(DAY);
    let import = async |trust| import(&target, &file, &OrganizationImport { trust, ..OrganizationImport::new(key.clone()) }).await;
    let refused = reasons(import(false).await);
    assert!(matches!(&refused[..], [only] if only.contains("invites") && only.contains("--trust")), "{refused:?}");
    assert!(import(true).await.expect("it is vouched for").invites > 200);
}

async fn a_key_that_was_used_in_the_future_is_no_key(app: &App) {
    movers(app).await;
    logged_in(app, NORA).await.created_key(json!({ "name": "Back end" })).await;
    run_sql(app, "UPDATE tenant_auth_api_keys SET last_used_at = 4102444800000 WHERE name = 'Back end'").await;
    let (file, key) = exported(app, false).await;
    let how = OrganizationImport { trust: true, ..OrganizationImport::new(key) };
    let refused = reasons(import(&target(app).await, &file, &how).await);
    assert!(matches!(&refused[..], [only] if only.starts_with("API key key_") && only.contains("future")), "{refused:?}");
}

async fn a_key_that_was_rotated_takes_no_place_of_another(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    let mut rotated = String::new();
    for number in 0..20 {
        rotated = id_of(&nora.created_key(json!({ "name": format!("Key {number}") })).await.0).to_owned();
    }
    nora.post_nothing(&format!("/org/api-keys/{rotated}/rotate")).await.expect(201);
    let (file, key) = exported(app, false).await;
    let how = OrganizationImport::new(key);
    assert_eq!(import(&target(app).await, &file, &how).await.expect("as many as the source may have").api_keys, 21);
    run_sql(app, "UPDATE tenant_auth_api_keys SET replaced_by = id").await;
    let (forged, forged_key) = exported(app, false).await;
    let refused = reasons(import(&target(app).await, &forged, &OrganizationImport::new(forged_key)).await);
    assert!(matches!(&refused[..], [only] if only.contains("at most 20 API keys")), "none of them was rotated: {refused:?}");
    let fewer = target_with(app, |setup| setup.config.organizations.max_api_keys = 19).await;
    let refused = reasons(import(&fewer, &file, &how).await);
    assert!(refused.iter().all(|reason| reason.contains("at most 19 API keys")) && !refused.is_empty(), "{refused:?}");
}

async fn a_key_counts_as_replaced_while_it_ends_and_by_a_key_that_comes_along(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    let mut keys = Vec::new();
    for name in ["without end", "by itself", "by nothing", "in many years", "rotated"] {
        keys.push(id_of(&nora.created_key(json!({ "name": name })).await.0).to_owned());
    }
    let new = nora.post_nothing(&format!("/org/api-keys/{}/rotate", keys[4])).await.expect(201).data();
    let (new, far) = (id_of(&new["apiKey"]), "4102444800000");
    let claims = [(0, new, "NULL"), (1, &keys[1], far), (2, "key_00000000000000000000000000", far), (3, new, far)];
    for (key, by, end) in claims {
        let claim = format!("UPDATE tenant_auth_api_keys SET replaced_by = '{by}', expires_at = {end} WHERE id = '{}'", keys[key]);
        run_sql(app, &claim).await;
    }
    let (file, file_key) = exported(app, false).await;
    let target = target(app).await;
    import(&target, &file, &OrganizationImport::new(file_key)).await.expect("nothing clashes");
    let nora = at(&target);
    nora.login_with(NORA, PASSWORD).await.expect(200);
    let rotate = |key: &str| nora.post_nothing(&format!("/org/api-keys/{key}/rotate"));
    rotate(&keys[4]).await.expect_error(409, "already_rotated");
    for key in &keys[..4] {
        rotate(key).await.expect(201);
    }
}

async fn a_code_that_was_used_in_the_future_shuts_nobody_out(app: &App) {
    movers(app).await;
    let guarded = guard(app, &logged_in(app, NORA).await).await;
    run_sql(app, "UPDATE tenant_auth_second_factors SET last_step = 9000000000").await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    import(&target, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
    target.advance(60);
    let nora = at(&target);
    nora.login_with(NORA, PASSWORD).await.expect(200);
    nora.enter(&guarded.authenticator.code(&target)).await.expect(200);
}

async fn no_file_brings_a_reserved_slug(app: &App) {
    movers(app).await;
    let (file, key) = exported(app, false).await;
    let import_into = async |target: &App, dry_run| {
        let how = OrganizationImport { trust: true, dry_run, ..OrganizationImport::new(key.clone()) };
        reasons(import(target, &file, &how).await)
    };
    let kept = "organization: its slug is reserved here, by RESERVED_SLUGS or as one that every deployment keeps";
    let target = target_with(app, |setup| setup.config.sign_up.reserved_slugs = vec!["movers".parse().expect("a slug")]).await;
    for dry_run in [true, false] {
        assert_eq!(import_into(&target, dry_run).await, [kept]);
    }
    assert!(!is_there(&target).await);
    // What else clashes is listed with it.
    let operators =
        target_with(app, |setup| setup.config.organizations.operator_org = Some("movers".parse().expect("a slug"))).await;
    known(&operators, NORA).await;
    let refused = import_into(&operators, true).await;
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused[0].contains("this deployment's operators") && refused[1].contains(NORA), "{refused:?}");

    let new = NewOrganization::new(
        "Status".parse().expect("a name"),
        "status".parse().expect("a slug"),
        "chief@status.example".parse().expect("an address"),
    );
    app.auth.operator().create_organization(new).await.expect("an operator may");
    let (file, key) = exported_of(app, "status", false).await;
    assert_eq!(reasons(import(&self::target(app).await, &file, &OrganizationImport::new(key)).await), [kept]);
}
