//! Signing in.

use tenant_auth_conformance::{PASSWORD, browser::Stage, walks};

walks! { somebody_signs_in }

async fn somebody_signs_in(stage: &Stage) {
    stage.page.open("/sign-in").await;
    stage.page.arrives_at("Sign in").await;
    stage.page.is_accessible().await;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.is_accessible().await;
}
