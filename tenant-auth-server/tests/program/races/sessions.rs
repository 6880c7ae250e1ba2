//! Sessions: a refresh token that two hold, and a login by the password that is being changed.

use tenant_auth_conformance::{Caller, PASSWORD, Response, jwt};
use tenant_auth_core::model::Role;

use super::{Deployment, Tally, both, rounds};

/// Without a grace, whoever comes second holds a superseded token. Either both came before anything was superseded and got the same
/// generation, or the second one was reuse and ended the session for both.
pub(super) async fn a_refresh_token_presented_twice_is_one_generation_or_the_end(deployment: &Deployment, tally: &mut Tally) {
    let person = deployment.person(Role::Member).await;
    for _ in 0..rounds() {
        let owner = person.elsewhere().logged_in().await;
        let (first, second) = (owner.copied(), owner.copied().at_address(deployment.address(1)));
        let answers = both(first.refresh(), second.refresh()).await;
        match answers.each_ref().map(|answer| answer.status) {
            [200, 200] => {
                tally.count("one generation");
                let generation = |caller: &Caller| jwt::claims(&caller.access_token())["gen"].as_i64();
                assert_eq!(generation(&first), generation(&second));
                second.get("/org").await.expect(200);
                first.get("/org").await.expect(200);
                owner.at_address(deployment.address(1)).refresh().await.expect_no_session(); // by now it is reuse
            }
            [200, 401] => tally.count("reuse by the second"),
            [401, 200] => tally.count("reuse by the first"),
            _ => panic!("{}\n{}", answers[0].shown(), answers[1].shown()),
        }
        for device in [&first, &second] {
            expect_ended(deployment, device).await;
        }
    }
}

/// Neither server knows the session any more.
async fn expect_ended(deployment: &Deployment, device: &Caller) {
    for side in [0, 1] {
        device.copied().at_address(deployment.address(side)).get("/org").await.expect_no_session();
    }
    device.copied().refresh().await.expect_no_session();
}

/// A login by the former password may be in time, and is ended with all other sessions then.
pub(super) async fn a_login_beside_a_password_change_comes_to_nothing(deployment: &Deployment, tally: &mut Tally) {
    let owner = deployment.person(Role::Member).await;
    let passwords = [PASSWORD, "velvet-anchor-93-comet"];
    for round in 0..rounds() {
        deployment.forget_counts(round, 5);
        let (former, new) = (passwords[round % 2], passwords[(round + 1) % 2]);
        let thief = owner.elsewhere().at_address(deployment.address(1));
        let [login, change] = both(thief.login_with(owner.email(), former), owner.change_password(former, new)).await;
        change.expect(200);
        if login.status == 200 {
            tally.count("logged in, and was ended");
            expect_ended(deployment, &thief).await;
        } else {
            tally.count("refused");
            refused(login);
        }
        owner.at_address(deployment.address(1)).get("/org").await.expect(200);
        refused(deployment.caller(round).login_with(owner.email(), former).await);
        deployment.caller(round + 1).login_with(owner.email(), new).await.expect(200);
    }
}

#[track_caller]
fn refused(login: Response) {
    login.expect_error(401, "invalid_credentials");
}
