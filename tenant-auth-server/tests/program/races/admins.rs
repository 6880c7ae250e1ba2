//! The last admin.

use tenant_auth_conformance::together;
use tenant_auth_core::model::Role;

use super::{Deployment, Tally, both, one_success, rounds};

/// Each asks another server to make the other a plain member. Who wins makes the loser an admin again, for the next round.
pub(super) async fn of_two_admins_who_demote_each_other_one_is_left(deployment: &Deployment, tally: &mut Tally) {
    let first = deployment.person(Role::OrgAdmin).await;
    let second = deployment.person(Role::OrgAdmin).await.at_address(deployment.address(1));
    for round in 0..rounds() {
        deployment.forget_counts(round, 5);
        let answers = both(first.set_role(second.id(), "member"), second.set_role(first.id(), "member")).await;
        let (place, loser) = one_success(&answers);
        assert!(matches!(loser.status, 403 | 409), "{}", loser.shown());
        tally.count_winner(place);
        let (winner, loser) = if place == 0 { (&first, &second) } else { (&second, &first) };
        let seen =
            together([0, 1].map(|side| winner.at_address(deployment.address(side)).get("/org/members?role=org_admin")).into());
        for answer in seen.await {
            let admins = answer.expect_ok()["members"].clone();
            assert_eq!((admins.as_array().map(Vec::len), &admins[0]["userId"]), (Some(1), &winner.id().into()), "{admins}");
        }
        winner.set_role(loser.id(), "org_admin").await.expect(200);
    }
}
