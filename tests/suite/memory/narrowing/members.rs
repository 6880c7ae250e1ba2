//! Memberships that end or are narrowed.

use tenant_auth_conformance::{App, Response};

use super::rows;
use crate::suite::memory::deployment::{Question, at_each, is_valid, status_of};

rows! {
    a_removed_member_is_out_everywhere: MembershipEnded;
    who_left_is_out_everywhere: MembershipEnded;
    a_suspended_member_is_suspended_everywhere: MemberSuspended;
    a_role_holds_everywhere: RoleChanged;
    a_role_given_up_is_gone_everywhere: RoleChanged;
}

fn has_role(answer: &Response, role: &str) -> bool {
    is_valid(answer) && answer.data()["membership"]["role"] == role
}

async fn a_removed_member_is_out_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        site.ends(async || status_of(admin.via(site.server).remove(site.person.id())).await).await;
    })
    .await;
}

async fn who_left_is_out_everywhere(app: &App) {
    at_each(app, async |site| {
        site.ends(async || status_of(site.person.copied().via(site.server).post_nothing("/org/leave")).await).await;
    })
    .await;
}

async fn a_suspended_member_is_suspended_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        let is_old = |answer: &Response| is_valid(answer) && answer.data()["membership"]["status"] == "active";
        let suspending = async || status_of(admin.via(site.server).set_status(site.person.id(), "suspended")).await;
        site.holds(Question { ask: site.verifying(), is_old }, 200, suspending).await;
    })
    .await;
}

async fn a_role_holds_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        let set = async |role: &str| status_of(admin.via(site.server).set_role(site.person.id(), role)).await;
        let question = Question { ask: site.verifying(), is_old: |answer| has_role(answer, "member") };
        site.holds(question, 200, async || set("org_admin").await).await;
        let question = Question { ask: site.verifying(), is_old: |answer| has_role(answer, "org_admin") };
        site.holds(question, 200, async || set("member").await).await;
    })
    .await;
}

/// Asked again, they may not even ask.
async fn a_role_given_up_is_gone_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        admin.set_role(site.person.id(), "org_admin").await.expect(200);
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let question = Question { ask: site.verifying(), is_old: |answer| has_role(answer, "org_admin") };
        let own = site.person.via(site.server);
        site.holds(question, 200, async || status_of(own.set_role(site.person.id(), "member")).await).await;
    })
    .await;
}
