//! When the database is away: 503, a hint when to come back, no cookie cleared, and everything as before once it is back. Only
//! PostgreSQL can be away; elsewhere there is nothing to tell.

use tenant_auth_conformance::{App, scenarios};

scenarios![without_its_database_the_service_is_503_and_comes_back,];

async fn without_its_database_the_service_is_503_and_comes_back(app: &App) {
    if app.database().url().is_none() {
        return;
    }
    let member = app.member().logged_in().await;
    app.database().set_reachable(false);
    for request in
        [member.get("/org"), member.refresh(), member.login(), member.logout(), app.backend().verify(&member.access_token())]
    {
        let refused = request.may_fail().await.expect_error(503, "unavailable");
        assert!(refused.cookies().is_empty(), "no cookie is cleared: {}", refused.shown());
    }
    app.database().set_reachable(true);
    member.get("/org").await.expect(200);
    member.refresh().await.expect(200);
    app.member().login().await.expect(200);
}
