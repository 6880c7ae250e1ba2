//! The service in the axum adapter, with its worker beside it, as a deployment runs it.

use axum::Router;

use crate::{Failure, stage::service::Told};

pub(super) async fn play() -> Result<(), Failure> {
    let told: Told = super::told()?;
    let auth = told.build().await?;
    if told.with_worker {
        let worker = auth.worker();
        tokio::spawn(async move { worker.run_until(std::future::pending()).await });
    }
    super::serve(Router::new().merge(tenant_auth_axum::routes(&auth))).await
}
