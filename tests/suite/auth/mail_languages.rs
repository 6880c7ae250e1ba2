//! In which language a mail is written: what the recipient's browser asked for at the last login, else what the request asked for that
//! caused it, else English (behaviour.md, B242).

use tenant_auth_conformance::{App, Caller, Request, scenarios};
use tenant_auth_core::ports::Message;

use super::{
    recovery::reset::forgot,
    sign_up::{ask, complete, holder, nobody, sign_up_mails, sign_up_token},
};
use crate::suite::support::{account::guard, authenticator::SecondFactor};

scenarios![
    a_mail_is_in_the_language_that_its_request_asks_for,
    the_language_of_the_last_login_comes_before_that_of_the_request,
    an_invitation_is_in_the_language_of_its_sender_and_names_them,
    mails_of_sign_up_are_in_the_language_of_their_request,
    a_recovery_code_is_told_of_in_the_language_of_the_request_that_uses_it,
    a_mailer_gets_what_a_mail_was_made_of,
    a_template_stands_in_the_place_of_ours,
];

fn asking_for(request: Request, languages: &str) -> Request {
    request.header("Accept-Language", languages)
}

async fn newest(app: &App, email: &str) -> Message {
    app.mail_to(email).await.pop().expect("a mail")
}

async fn forgotten(app: &App, email: &str, languages: &str) -> Message {
    asking_for(forgot(&app.anonymous(), email), languages).await.expect(200);
    newest(app, email).await
}

fn subject(caller: &Caller, mail: &Message, language: &str, subject: &str) {
    assert_eq!((mail.to.as_str(), mail.language.as_str(), mail.subject.as_str()), (caller.email(), language, subject));
    assert!(mail.html.contains(&format!("<html lang=\"{language}\" dir=\"ltr\">")), "{}", mail.html);
}

async fn a_mail_is_in_the_language_that_its_request_asks_for(app: &App) {
    let (member, admin, other) = (app.member(), app.admin(), app.other_org().member());
    subject(&member, &forgotten(app, member.email(), "it;q=0.9, de-AT, en;q=0.5").await, "de", "Passwort zurücksetzen");
    subject(&admin, &forgotten(app, admin.email(), "it, *;q=0.5").await, "en", "Reset your password");
    asking_for(forgot(&app.other_org().anonymous(), other.email()), &"x".repeat(5_000)).await.expect(200);
    subject(&other, &newest(app, other.email()).await, "en", "Reset your password");
}

async fn the_language_of_the_last_login_comes_before_that_of_the_request(app: &App) {
    let member = app.member();
    asking_for(member.login(), "fr-CA, fr;q=0.8").await.expect(200);
    subject(&member, &forgotten(app, member.email(), "de").await, "fr", "Réinitialisez votre mot de passe");
    member.login().await.expect(200);
    subject(&member, &forgotten(app, member.email(), "de").await, "fr", "Réinitialisez votre mot de passe");
    asking_for(member.login(), "es").await.expect(200);
    subject(&member, &forgotten(app, member.email(), "de").await, "es", "Restablezca su contraseña");
}

async fn an_invitation_is_in_the_language_of_its_sender_and_names_them(app: &App) {
    let admin = app.admin().logged_in().await;
    asking_for(admin.invite("ines@acme.example"), "es-MX").await.expect(201);
    let mail = newest(app, "ines@acme.example").await;
    assert_eq!(mail.subject, "Su invitación a Acme Rockets");
    let inviter = mail.values.get("inviter").expect("is known");
    assert!(inviter.ends_with(&format!(" ({})", admin.email())), "{inviter}");
    assert!(mail.text.contains(&format!("{inviter} le invita a unirse a Acme Rockets.")), "{}", mail.text);
}

async fn mails_of_sign_up_are_in_the_language_of_their_request(app: &App) {
    asking_for(ask(&nobody(app), "greta@new.example"), "de").await.expect(200);
    let mail = sign_up_mails(app, "greta@new.example").await.pop().expect("a mail");
    assert_eq!((mail.language.as_str(), mail.subject.as_str()), ("de", "Ihre Organisation anlegen"));
}

async fn a_recovery_code_is_told_of_in_the_language_of_the_request_that_uses_it(app: &App) {
    let told = async |person: &Caller| {
        let mail = app.mail_to(person.email()).await.into_iter().find(|mail| mail.kind == "recovery_code_used");
        mail.expect("a mail")
    };
    let (max, ada) = (app.member().logged_in().await, app.admin().logged_in().await);
    let (his, hers) = (guard(app, &max).await, guard(app, &ada).await);
    let device = app.member().waiting().await;
    asking_for(device.enter(&his.recovery_codes[0]), "de").await.expect(200);
    subject(&max, &told(&max).await, "de", "Mit einem Wiederherstellungscode wurde eine Anmeldung bestätigt");
    let mut body = holder(&sign_up_token(app, ada.email()).await, "rockets");
    body["code"] = serde_json::json!(hers.recovery_codes[0]);
    asking_for(complete(&nobody(app), body), "fr").await.expect(201);
    subject(&ada, &told(&ada).await, "fr", "Un code de secours a servi à une connexion");
}

async fn a_mailer_gets_what_a_mail_was_made_of(app: &App) {
    let mail = forgotten(app, app.member().email(), "de").await;
    assert_eq!(mail.kind, "reset_password");
    let link = mail.link.as_deref().expect("a link");
    assert!(link.contains("/reset#") && mail.text.contains(link), "{link}");
    let until = &mail.values["until"];
    assert!(until.ends_with(" Uhr UTC") && mail.text.contains(&format!("Der Link gilt bis {until} und")), "{}", mail.text);
    assert_eq!(format!("{mail:?}"), "Message([redacted])", "links are credentials");
}

async fn a_template_stands_in_the_place_of_ours(app: &App) {
    let texts = [
        ("reset_password.de.subject", "{{ product.name }}: {{ heading }}"),
        (
            "reset_password.de.html",
            "<p lang={{ lang }}>{{ lines[0] }} <a href=\"{{ link }}\">{{ action }}</a></p>{% include \"support.html\" %}",
        ),
        ("invite.en.html", "<b>{{ organization }}</b> {{ inviter }} {{ role }} {{ app_url }} {{ until }} {{ kind }}"),
    ];
    let here = app.beside(|setup| {
        let templates = &mut setup.config.mail_templates;
        *templates = texts.iter().fold(templates.clone(), |all, (name, source)| all.with(name, source).expect(name));
    });
    let here = here.await;
    let (german, english) = (here.member(), here.admin());
    let mail = forgotten(&here, german.email(), "de").await;
    assert_eq!(mail.subject, "Tenant Auth: Passwort zurücksetzen");
    assert!(
        mail.html.starts_with("<p lang=de>Der Link gilt bis ") && mail.html.contains("Neues Passwort wählen</a>"),
        "{}",
        mail.html
    );
    let link = mail.link.as_deref().expect("a link");
    assert!(mail.text.contains("Passwort zurücksetzen") && mail.text.contains(link), "for the text there is none: {}", mail.text);
    let mail = forgotten(&here, english.email(), "en").await;
    assert!(mail.html.starts_with("<!doctype html>"), "in English ours stands: {}", mail.html);

    let hostile = "<i>Acme</i> https://evil.example";
    let ada = here.admin().logged_in().await;
    ada.patch("/org", serde_json::json!({ "name": hostile })).await.expect(200);
    asking_for(ada.invite("ines@acme.example"), "en").await.expect(201);
    let mail = newest(&here, "ines@acme.example").await;
    let values = &mail.values;
    assert!(mail.html.starts_with("<b>&lt;i&gt;Acme&lt;"), "{}", mail.html);
    assert!(!mail.html.contains("https://evil"), "no mail program makes a link of a name: {}", mail.html);
    let rest = format!(") member https:&#x2f;&#x2f;app.acme.example {} invite", values["until"]);
    assert!(mail.html.ends_with(&rest), "{}", mail.html);
}
