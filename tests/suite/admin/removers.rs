//! Who removes an organization: workers that are killed, two at once, and one whose mail server is away (behaviour.md, B193).

use std::{sync::Arc, time::Duration};

use tenant_auth_conformance::{
    App, scenarios,
    smtp::{Mood, SmtpSink},
};
use tenant_auth_core::ports::SmtpMailer;

use super::removal::{DAY, expect_nothing_left, furnished, globex, id_of_globex, is_there, number, remove, told_of};
use crate::suite::support::hooks::{texts_in, ticking};

scenarios![on each database:
    a_removal_goes_on_wherever_it_was_killed,
    two_workers_remove_it_once,
    a_removal_waits_for_the_notice_and_for_no_other_mail,
];

async fn a_removal_goes_on_wherever_it_was_killed(app: &App) {
    let org = furnished(app).await;
    for number in 0..12 {
        app.other_org().new_member(&format!("N{number} Person")).await;
    }
    remove(app).await;
    let mut killed = 0;
    for wait in (0..).map(|round: u64| Duration::from_micros(round * round * 100)) {
        let worker = ticking(app);
        tokio::time::sleep(wait).await;
        killed += i64::from(!worker.is_finished());
        worker.abort();
        let _ = worker.await;
        // Until whoever was killed holds it no more.
        app.advance(31);
        if !is_there(app, &org).await {
            break;
        }
    }
    assert!(killed > 0, "nobody was killed");
    expect_nothing_left(app, &org).await;
    let strays = "SELECT CAST(COUNT(*) AS TEXT) FROM tenant_auth_users u
                   WHERE NOT EXISTS (SELECT 1 FROM tenant_auth_memberships WHERE user_id = u.id)";
    assert_eq!(number(app, strays).await, 0, "an account is left behind");
}

async fn two_workers_remove_it_once(app: &App) {
    let org = furnished(app).await;
    let gus = app.other_org().member();
    told_of(app, gus.email()).await;
    let other = app.beside(|_| {}).await;
    app.auth.operator().delete_organization(&globex()).await.expect("it is there");
    app.advance(30 * DAY);
    let (one, two) = tokio::join!(ticking(app), ticking(&other));
    one.expect("it ran").and(two.expect("it ran")).expect("both work");
    app.advance(31);
    app.tick().await;
    expect_nothing_left(app, &org).await;
    let admin = app.admin().logged_in().await;
    let told = admin.get("/org/audit?kind=user.deleted").await.expect_ok()["entries"].as_array().expect("a list").len();
    assert_eq!(told, 1, "of him, once");
}

async fn a_removal_waits_for_the_notice_and_for_no_other_mail(app: &App) {
    app.tick().await; // what the template left
    let greta = app.other_org().admin().logged_in().await;
    greta.invite("waiting@globex.example").await.expect(201);
    let org = id_of_globex(app).await;
    let sink = SmtpSink::start().await;
    sink.be(Mood::RefusingForNow);
    let mailer = SmtpMailer::from_url(&sink.url(), "Tenant Auth <no-reply@auth.example.com>").expect("usable settings");
    let silent = app.beside(|setup| setup.mailer = Some(Arc::new(mailer))).await;
    remove(&silent).await;
    silent.tick().await;
    let kinds = texts_in(app, &format!("SELECT kind FROM tenant_auth_mails WHERE org_id = '{org}'")).await;
    assert_eq!(kinds, ["notice"]);
    assert!(is_there(app, &org).await, "as long as the mail server is away");
    silent.advance(DAY - 3_600);
    silent.tick().await;
    assert!(is_there(app, &org).await);
    silent.advance(3_600);
    silent.tick().await;
    silent.advance(31);
    silent.tick().await;
    assert!(!is_there(app, &org).await, "a day is enough");
    assert!(app.mail_to("waiting@globex.example").await.is_empty());
}
