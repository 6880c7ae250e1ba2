//! What a file may bring only from a source that somebody vouches for (behaviour.md, B169), and what no file may bring.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::{backend::NewApiKey, model::Scope, operator::OrganizationImport};

use super::moves::{NORA, exported, import, logged_in, movers, reasons, target};

scenarios![on each database:
    a_key_that_speaks_for_any_address_needs_somebody_who_vouches,
    more_invites_than_a_day_allows_need_somebody_who_vouches,
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
