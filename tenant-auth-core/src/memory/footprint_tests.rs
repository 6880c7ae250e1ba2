//! What is counted of sessions and their tokens, beside what they really take on the heap.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use prometheus_client::registry::Registry;

use super::{kept_session::Recalled, remembered::Remembered, view::View};
use crate::{
    id::Id,
    metrics::MemoryMeter,
    model::{AccountRole, AuthMethod, Membership, Organization, Profile, Role, Session, Status, User},
    store::{LiveSession, Place, Sight},
    testing::TestAuth,
    time::Timestamp,
    token::{AccessToken, Signer},
    value::{Bio, DisplayName, Email, Metadata, Phone, Plan, Slug},
};

const NOW: Timestamp = Timestamp::from_millis(1_764_085_488_123);
const LATER: Timestamp = Timestamp::from_millis(1_766_085_488_123);
/// Of an answer's usual length.
const BODY: [u8; 600] = [b'x'; 600];

fn remembered(bytes: usize) -> Remembered {
    let remembered = Remembered::new(bytes, MemoryMeter::registered(&mut Registry::default()));
    let (named, place) = (Vec::new(), Place { next: 1, unfinished: Vec::new() });
    let incarnation = "one.1".to_owned();
    remembered.apply(&Sight { everything: true, named, incarnation, freshness: 100, usable: 100, mark: 0, place });
    remembered
}

/// A person of one of so many organizations, as a statement reads them: nothing is shared yet.
fn session(number: usize, orgs: usize) -> LiveSession {
    let id = |prefix: &str, number: usize| format!("{prefix}_01kaz3vrm0f3k8m2p5q7{number:06}");
    let org = number % orgs;
    let org = Organization {
        id: Id::from_stored(id("org", org)),
        name: DisplayName::from_stored(format!("Organization {org}")),
        slug: Slug::from_stored(format!("org-{org}")),
        plan: Plan::default(),
        status: Status::Active,
        app_url: None,
        allowed_origins: Vec::new(),
        deletes_at: None,
        is_trusted: true,
        unproven_until: None,
        created_at: NOW,
    };
    let user = User {
        id: Id::from_stored(id("usr", number)),
        name: DisplayName::from_stored(format!("Person Number {number}")),
        email: Email::from_stored(format!("person-{number}@example.com")),
        role: AccountRole::User,
        is_email_verified: true,
        profile: Profile { bio: None, phone: None },
    };
    let membership = Membership {
        id: Id::from_stored(id("mem", number)),
        org_id: org.id.clone(),
        user_id: user.id.clone(),
        role: Role::Member,
        status: Status::Active,
        joined_at: Timestamp::from_millis(NOW.millis() - 1_700_000_000),
        metadata: Metadata::from_stored(r#"{"team":"blue"}"#.to_owned()).expect("JSON"),
    };
    let session = Session {
        id: Id::from_stored(id("ses", number)),
        org_id: org.id.clone(),
        user_id: user.id.clone(),
        user_epoch: 1,
        generation: 1,
        amr: vec![AuthMethod::Password],
        auth_time: NOW,
        refreshed_at: NOW,
        last_used_at: NOW,
        expires_at: LATER,
        ip: Some("198.18.0.1".to_owned()),
        user_agent: Some(format!("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/{}.0 Safari/537.36", number % 50)),
    };
    LiveSession { session, user, membership, org: Arc::new(org) }
}

fn token_of(live: &LiveSession) -> (String, AccessToken) {
    let LiveSession { session, user, org, .. } = live;
    let claims = format!(r#""sub":"{}","aud":"{}","sid":"{}","gen":{}"#, user.id, org.id, session.id, session.generation);
    let payload = format!(r#"{{"iss":"https://auth.example.com",{claims}}}"#);
    let text = format!("e30.{}.{:x<86}", URL_SAFE_NO_PAD.encode(payload), live.session.id.body());
    let content = AccessToken {
        user: live.user.id.clone(),
        org: live.org.id.clone(),
        session: live.session.id.clone(),
        generation: live.session.generation,
        expires_at: LATER,
    };
    (text, content)
}

/// As a first verification keeps them.
fn keep(view: View<'_>, remembered: &Remembered, live: &LiveSession, signer: &Arc<Signer>) {
    view.keep_session(view.fill(), live, Some("one"));
    let (text, content) = token_of(live);
    view.keep_token(&text, &content, signer);
    remembered.keep_told(&text, live, &BODY);
}

fn counted(remembered: &Remembered) -> usize {
    remembered.holdings().iter().map(|held| held.bytes).sum()
}

#[tokio::test]
async fn what_is_counted_is_what_is_taken() {
    let signer = TestAuth::new().await.auth.signer();
    for (sessions, orgs) in [(500, 1), (3_000, 30), (8_000, 80), (9_000, 10), (14_500, 14_500), (20_000, 100)] {
        let remembered = remembered(64 << 20);
        let view = View::of(&remembered);
        let taken = allocation_counter::measure(|| {
            (0..sessions).for_each(|number| keep(view, &remembered, &session(number, orgs), &signer));
        });
        let (taken, counted) = (usize::try_from(taken.bytes_current).expect("it grew"), counted(&remembered));
        let held = remembered.holdings();
        assert_eq!([held[0].entries, held[3].entries], [sessions, sessions], "nothing had to go");
        let of = format!("{counted} of {taken}: {} and {} of each of {sessions} in {orgs}", counted / sessions, taken / sessions);
        assert!(counted >= taken && counted <= taken + taken * 3 / 10, "{of}");
        if orgs <= sessions / 50 {
            assert!(counted <= 1_024 * sessions, "{of}");
        }
    }
}

#[tokio::test]
async fn it_takes_no_more_than_it_may() {
    let signer = TestAuth::new().await.auth.signer();
    let most = 4 << 20;
    let remembered = remembered(most);
    let view = View::of(&remembered);
    let taken = allocation_counter::measure(|| {
        // Each time a few are read anew, as after a change, and nothing is shared between the last.
        for number in (0..6_000).chain(5_000..9_000).chain(8_000..9_000) {
            keep(view, &remembered, &session(number, 100 + number), &signer);
        }
    });
    let taken = usize::try_from(taken.bytes_current).expect("it grew");
    assert!(counted(&remembered) <= most && taken <= most, "{taken} of {most}, {} counted", counted(&remembered));
    assert!(taken > most / 16 * 10, "{taken}");
}

#[tokio::test]
async fn what_is_kept_of_a_session_is_the_whole_session() {
    let signer = TestAuth::new().await.auth.signer();
    let remembered = remembered(1 << 20);
    let view = View::of(&remembered);
    let mut live = session(7, 1);
    for change in 0..3 {
        match change {
            0 => {}
            1 => {
                live.user.profile = Profile {
                    bio: Some(Bio::from_stored("Née \"Byron\"".to_owned())),
                    phone: Some(Phone::from_stored("+49 30 1".to_owned())),
                };
                (live.session.ip, live.session.user_agent) = (None, None);
            }
            _ => {
                live.session.generation = i64::MAX;
                live.session.amr = vec![AuthMethod::Invite, AuthMethod::Otp];
                (live.user.role, live.user.is_email_verified) = (AccountRole::Admin, false);
                (live.membership.role, live.membership.status) = (Role::OrgAdmin, Status::Suspended);
                live.session.auth_time = Timestamp::from_millis(-1);
            }
        }
        keep(view, &remembered, &live, &signer);
        let kept = view.session(&live.session.id).expect("remembered");
        assert_eq!(format!("{kept:?}"), format!("{live:?}"));
    }
}

#[tokio::test]
async fn only_the_very_token_is_known_and_only_of_the_same_session() {
    let signer = TestAuth::new().await.auth.signer();
    let remembered = remembered(1 << 20);
    let view = View::of(&remembered);
    let mut live = session(7, 1);
    keep(view, &remembered, &live, &signer);
    let (text, content) = token_of(&live);
    assert!(view.token(&text, &signer).is_some() && view.told_token(&text, &signer).is_some());
    assert_eq!(remembered.told(&text, &live).as_deref(), Some(&BODY[..]));
    let other = TestAuth::new().await.auth.signer();
    assert!(view.token(&text, &other).is_none() && view.told_token(&text, &other).is_none(), "verified by other keys");
    // The same signature under another payload, and the same payload under another signature.
    let (signed, signature) = text.rsplit_once('.').expect("parts");
    let payload =
        URL_SAFE_NO_PAD.encode(format!(r#"{{"iss":"https://auth.example.com","sub":"a","aud":"b","sid":"{}"}}"#, live.session.id));
    for false_text in [format!("e30.{payload}.{signature}"), format!("{signed}.y{}", &signature[1..]), format!("e31{}", &text[3..])]
    {
        assert!(view.token(&false_text, &signer).is_none() && view.told_token(&false_text, &signer).is_none(), "{false_text}");
    }
    live.user.name = DisplayName::from_stored("Another".to_owned());
    assert_eq!(remembered.told(&text, &live), None, "told of another session");
    view.keep_session(view.fill(), &live, Some("one"));
    assert!(view.token(&text, &signer).is_none(), "what was told goes with the session that it was told of");
    live.session.generation = 2;
    view.keep_session(view.fill(), &live, Some("one"));
    view.keep_token(&text, &content, &signer);
    assert!(view.token(&text, &signer).is_none(), "a token of the generation before");
    assert!(matches!(view.recall(&content, NOW), Recalled::Superseded));
}
