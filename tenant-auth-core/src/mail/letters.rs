//! All mails, whose words stand in the catalogues (`languages.rs`): invitations, links that reset, verify or change something, and notices of changes, so that an owner sees
//! a change that an attacker made. A notice never holds a link that does anything.

use std::collections::BTreeMap;

use minijinja::context;

use crate::{
    config::{MailTemplates, Product},
    error::Error,
    event::DisableReason,
    languages::Catalogue,
    model::{Invite, Organization, Role},
    ports::Message,
    store::MailKind,
    time::Timestamp,
    value::{DisplayName, Email},
};

use super::render;

/// A mail's kind and the values it shows.
#[derive(Debug)]
pub(crate) enum Letter<'a> {
    /// An invitation to an organization, with the link that accepts it.
    Invite { org: &'a Organization, invite: &'a Invite, inviter: Option<&'a DisplayName>, link: &'a str, by: InvitedBy },
    /// A link that sets a new password.
    ResetPassword { link: &'a str, until: Timestamp },
    /// An account was made for the recipient, with a link that sets its password.
    Welcome { organization: &'a DisplayName, link: &'a str, until: Timestamp },
    /// A link that proves the address.
    VerifyEmail { link: &'a str, until: Timestamp },
    /// A link that makes this address the account's.
    ChangeEmail { link: &'a str, until: Timestamp },
    /// A link by which the recipient makes an organization.
    SignUp { link: &'a str, until: Timestamp },
    /// A request wanted to make this address another account's.
    AddressWanted,
    /// The account is about to get another address.
    EmailChangeRequested { to: &'a Email },
    /// The account has a new address.
    EmailChanged { to: &'a Email },
    /// The password was changed or reset.
    PasswordChanged,
    /// Two-factor authentication was turned on.
    SecondFactorEnabled,
    /// Two-factor authentication was turned off.
    SecondFactorDisabled,
    /// New recovery codes replaced the old ones.
    RecoveryCodesReplaced,
    /// A recovery code opened a session.
    RecoveryCodeUsed,
    /// Wrong second-factor codes reached the limit.
    CodesGuessed,
    /// A member became an org_admin.
    NewAdmin { organization: &'a DisplayName, who: &'a Email },
    /// An API key was made.
    NewApiKey { organization: &'a DisplayName, name: &'a DisplayName },
    /// An API key was found in public, and revoked.
    LeakedApiKey { organization: &'a DisplayName, name: &'a DisplayName },
    /// A deployment key was found in public, and revoked.
    LeakedDeploymentKey { name: &'a DisplayName },
    /// A webhook was made.
    NewWebhook { organization: &'a DisplayName, host: &'a str },
    /// The organization is to be deleted, or is deleted with the order already.
    DeletionScheduled { organization: &'a DisplayName, at: Timestamp, is_over: bool },
    /// The organization will be deleted in a few days.
    DeletionNear { organization: &'a DisplayName, at: Timestamp },
    /// The organization is not to be deleted any more.
    DeletionCancelled { organization: &'a DisplayName },
    /// The worker disabled a webhook.
    WebhookDisabled { organization: &'a DisplayName, host: &'a str, reason: DisableReason },
}

/// Who sent an invitation. Only an org_admin's invitations are rate limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvitedBy {
    /// An org_admin.
    Admin,
    /// An operator of the deployment.
    Operator,
}

impl Letter<'_> {
    /// The kind that the outbox's row stores.
    pub(super) const fn kind(&self) -> MailKind {
        match self {
            Self::Invite { by: InvitedBy::Admin, .. } => MailKind::Invite,
            Self::Invite { by: InvitedBy::Operator, .. } | Self::Welcome { .. } => MailKind::OperatorInvite,
            Self::ResetPassword { .. } => MailKind::Reset,
            Self::VerifyEmail { .. } => MailKind::Verify,
            Self::ChangeEmail { .. } => MailKind::ChangeEmail,
            _ => MailKind::Notice,
        }
    }

    /// When the mail's link expires; `None` without a link.
    pub(super) const fn link_ends(&self) -> Option<Timestamp> {
        match self {
            Self::Invite { invite, .. } => Some(invite.expires_at),
            Self::ResetPassword { until, .. }
            | Self::Welcome { until, .. }
            | Self::VerifyEmail { until, .. }
            | Self::ChangeEmail { until, .. }
            | Self::SignUp { until, .. } => Some(*until),
            _ => None,
        }
    }

    /// Whether the letter would tell the recipient about the recipient's own promotion.
    pub(super) fn is_about(&self, recipient: &Email) -> bool {
        matches!(self, Self::NewAdmin { who, .. } if *who == recipient)
    }

    /// The mail's name: that of its words in the catalogues, and what hosts know it by.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Invite { .. } => "invite",
            Self::ResetPassword { .. } => "reset_password",
            Self::Welcome { .. } => "welcome",
            Self::VerifyEmail { .. } => "verify_email",
            Self::ChangeEmail { .. } => "change_email",
            Self::SignUp { .. } => "sign_up",
            Self::AddressWanted => "address_wanted",
            Self::EmailChangeRequested { .. } => "email_change_requested",
            Self::EmailChanged { .. } => "email_changed",
            Self::PasswordChanged => "password_changed",
            Self::SecondFactorEnabled => "two_factor_enabled",
            Self::SecondFactorDisabled => "two_factor_disabled",
            Self::RecoveryCodesReplaced => "recovery_codes_replaced",
            Self::RecoveryCodeUsed => "recovery_code_used",
            Self::CodesGuessed => "wrong_codes",
            Self::NewAdmin { .. } => "new_admin",
            Self::NewApiKey { .. } => "new_api_key",
            Self::LeakedApiKey { .. } => "leaked_api_key",
            Self::LeakedDeploymentKey { .. } => "leaked_deployment_key",
            Self::NewWebhook { .. } => "new_webhook",
            Self::DeletionScheduled { .. } => "deletion_scheduled",
            Self::DeletionNear { .. } => "deletion_near",
            Self::DeletionCancelled { .. } => "deletion_cancelled",
            Self::WebhookDisabled { .. } => "webhook_disabled",
        }
    }

    /// The link that the recipient is asked to open.
    const fn link(&self) -> Option<&str> {
        match self {
            Self::Invite { link, .. }
            | Self::ResetPassword { link, .. }
            | Self::Welcome { link, .. }
            | Self::VerifyEmail { link, .. }
            | Self::ChangeEmail { link, .. }
            | Self::SignUp { link, .. } => Some(link),
            _ => None,
        }
    }

    /// What the mail tells, by name, as its texts show it.
    fn values(&self, words: &Catalogue) -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        let mut tell = |name: &str, value: String| drop(values.insert(name.to_owned(), value));
        if let Some(until) = self.link_ends() {
            tell("until", words.moment(until));
        }
        match self {
            Self::Invite { org, invite, inviter, .. } => {
                tell("organization", unlinked(&org.name));
                tell("role", invite.role.as_str().to_owned());
                if let Some(email) = &invite.invited_by_email {
                    // Never the name alone: anybody may choose one that is another's.
                    let email = unlinked_address(email);
                    tell("inviter", inviter.map_or_else(|| email.clone(), |name| format!("{} ({email})", unlinked(name))));
                }
                // The deployment's own address would send to strangers what whoever signed up likes to link.
                if let Some(app) = org.app_url.as_ref().filter(|_| org.is_trusted) {
                    tell("app_url", app.as_str().to_owned());
                }
            }
            Self::Welcome { organization, .. } | Self::DeletionCancelled { organization } => {
                tell("organization", unlinked(organization));
            }
            Self::EmailChangeRequested { to } | Self::EmailChanged { to } => tell("address", unlinked_address(to)),
            Self::NewAdmin { organization, who } => {
                tell("organization", unlinked(organization));
                tell("who", unlinked_address(who));
            }
            Self::NewApiKey { organization, name } | Self::LeakedApiKey { organization, name } => {
                tell("organization", unlinked(organization));
                tell("name", unlinked(name));
            }
            Self::LeakedDeploymentKey { name } => tell("name", unlinked(name)),
            Self::NewWebhook { organization, host } | Self::WebhookDisabled { organization, host, .. } => {
                tell("organization", unlinked(organization));
                tell("host", (*host).to_owned());
            }
            Self::DeletionScheduled { organization, at, .. } | Self::DeletionNear { organization, at } => {
                tell("organization", unlinked(organization));
                tell("at", words.moment(*at));
            }
            _ => {}
        }
        values
    }

    /// The keys of the mail's lines and of its footer.
    const fn parts(&self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::Invite { invite, .. } => {
                let line: &[&str] = match (invite.role, invite.invited_by_email.is_some()) {
                    (Role::OrgAdmin, true) => &["line_admin_by"],
                    (Role::OrgAdmin, false) => &["line_admin"],
                    (_, true) => &["line_by"],
                    (_, false) => &["line"],
                };
                (line, "footer")
            }
            Self::Welcome { .. } => (&["line", "mail.link_until"], "footer"),
            Self::ChangeEmail { .. } => (&["line", "mail.link_until"], "mail.ignore"),
            Self::ResetPassword { .. } | Self::VerifyEmail { .. } | Self::SignUp { .. } => (&["mail.link_until"], "mail.ignore"),
            Self::AddressWanted | Self::DeletionCancelled { .. } => (&["line"], "mail.nothing_to_do"),
            Self::LeakedApiKey { .. } | Self::LeakedDeploymentKey { .. } => (&["line", "line_2"], "mail.review"),
            Self::NewAdmin { .. } | Self::NewApiKey { .. } | Self::NewWebhook { .. } => (&["line"], "mail.review"),
            Self::DeletionScheduled { is_over: true, .. } => (&["line_now"], "footer_now"),
            Self::DeletionScheduled { is_over: false, .. } | Self::DeletionNear { .. } => (&["line"], "mail.object"),
            Self::WebhookDisabled { reason: DisableReason::Gone, .. } => (&["line_gone", "line_2"], "footer"),
            Self::WebhookDisabled { reason: DisableReason::Failing, .. } => (&["line_failing", "line_2"], "footer"),
            // It goes to the address that the account had, which no link to reset the password can reach any more.
            Self::EmailChanged { .. } => (&["line"], "footer"),
            Self::EmailChangeRequested { .. }
            | Self::PasswordChanged
            | Self::SecondFactorEnabled
            | Self::SecondFactorDisabled
            | Self::RecoveryCodesReplaced
            | Self::RecoveryCodeUsed
            | Self::CodesGuessed => (&["line"], "mail.not_me"),
        }
    }

    /// The key of the mail's subject.
    const fn subject(&self) -> &'static str {
        match self {
            Self::DeletionScheduled { is_over: true, .. } => "subject_now",
            _ => "subject",
        }
    }

    /// Renders the letter for one recipient, in the words of one language, where no template of the operator's stands in the place of ours.
    pub(crate) fn to(
        &self,
        recipient: &Email,
        product: &Product,
        words: &Catalogue,
        templates: &MailTemplates,
    ) -> Result<Message, Error> {
        let values = self.values(words);
        let text = |key: &str| match key.starts_with("mail.") {
            true => words.text(key, &values),
            false => words.text(&format!("mail.{}.{key}", self.name()), &values),
        };
        let (lines, footer) = self.parts();
        let lines: Vec<String> = lines.iter().map(|key| text(key)).collect();
        let action = self.link().map(|_| text("action"));
        let mut shown = context! {
            lines, action,
            lang => words.language.as_str(),
            direction => words.text("language.direction", &values),
            help => text("mail.help"),
            link => self.link(),
            footer => text(footer),
        };
        let subject = text(self.subject());
        let (template, heading) = if let Self::Invite { .. } = self {
            shown = context! { until => text("mail.link_until"), app => text("app"), app_url => values.get("app_url"), ..shown };
            (&render::INVITE, text("heading"))
        } else {
            (&render::LETTER, subject.clone())
        };
        let shown = context! { heading, product => render::product(product), ..shown };
        let (text, html) = template.texts(&shown)?;
        let told = values.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
        let told = context! { kind => self.name(), ..context! { ..MailTemplates::values(self.name(), told), ..shown } };
        let theirs = |part| templates.text(self.name(), &words.language, part, &told);
        let (subject, text, html) =
            (theirs("subject").unwrap_or(subject), theirs("txt").unwrap_or(text), theirs("html").unwrap_or(html));
        Ok(Message {
            id: String::new(), // the outbox's, once it leaves
            to: recipient.clone(),
            subject,
            text,
            html,
            logo: None,
            kind: self.name().to_owned(),
            language: words.language.clone(),
            link: self.link().map(str::to_owned),
            values,
        })
    }
}

/// A name that no mail program takes for a link: a word joiner (U+2060), which nobody sees, stands after each dot, colon and slash, the
/// full-width and ideographic ones too. Anybody may name an organization, and have it mailed to strangers (behaviour.md, B200).
fn unlinked(name: &DisplayName) -> String {
    without_links(name.as_str())
}

/// An address, which may be copied as it stands unless the part before the `@` has room for the address of a page: a slash, a question
/// mark or another character that few addresses have.
fn unlinked_address(email: &Email) -> String {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    match email.as_str().rsplit_once('@') {
        Some((local, domain)) if !local.chars().all(is_usual) => format!("{}@{domain}", without_links(local)),
        _ => email.to_string(),
    }
}

fn without_links(text: &str) -> String {
    let mut unlinked = String::with_capacity(text.len());
    for character in text.chars() {
        unlinked.push(character);
        if matches!(character, '.' | ':' | '/' | '\u{3002}' | '\u{FF0E}' | '\u{FF61}' | '\u{FF1A}' | '\u{FF0F}') {
            unlinked.push('\u{2060}');
        }
    }
    unlinked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_stranger_chose_becomes_a_link() {
        let name = DisplayName::parse("www.a\u{3002}b\u{FF0F}c").expect("a name");
        assert_eq!(unlinked(&name), "www.\u{2060}a\u{3002}\u{2060}b\u{FF0F}\u{2060}c");
        let address = |text: &str| unlinked_address(&Email::parse(text).expect("an address"));
        assert_eq!(address("www.a.example/b@c.example"), "www.\u{2060}a.\u{2060}example/\u{2060}b@c.example");
        assert_eq!(address("www.a.example?b@c.example"), "www.\u{2060}a.\u{2060}example?b@c.example");
        assert_eq!(address("ada.lovelace@c.example"), "ada.lovelace@c.example");
    }
}
