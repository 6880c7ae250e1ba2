//! The texts of all mails: invitations, links that reset, verify or change something, and notices of changes, so that an owner sees
//! a change that an attacker made. A notice never holds a link that does anything.

use minijinja::context;

use crate::{
    config::Product,
    error::Error,
    event::DisableReason,
    model::{Invite, Organization},
    ports::Message,
    store::MailKind,
    time::Timestamp,
    value::{AppUrl, DisplayName, Email},
};

use super::render;

/// A mail's kind and the values it shows.
#[derive(Debug)]
pub(crate) enum Letter<'a> {
    /// An invitation to an organization, with the link that accepts it.
    Invite { org: &'a Organization, invite: &'a Invite, link: &'a str, by: InvitedBy },
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
    /// The organization is to be deleted.
    DeletionScheduled { organization: &'a DisplayName, at: Timestamp },
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

const NOT_ME: &str = "If this was not you, reset your password at once and tell your administrator.";
const IGNORE: &str = "If you did not ask for this, ignore this mail: nothing happens unless the link is used.";
const OBJECT: &str =
    "If this should not happen, tell whoever runs the service before that time: afterwards nothing can be brought back.";
const REVIEW: &str = "If you do not recognise this, review the organization's members and keys at once.";

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

    /// Renders the letter for one recipient.
    pub(crate) fn to(&self, recipient: &Email, product: &Product) -> Result<Message, Error> {
        let mut link = None;
        let mut action = "";
        let mut with = |text, target: &str| {
            action = text;
            link = Some(target.to_owned());
        };
        let (heading, lines, footer) = match self {
            Self::Invite { org, invite, link, .. } => return invitation(recipient, product, org, invite, link),
            Self::ResetPassword { link, until } => {
                with("Choose a new password", link);
                ("Reset your password", vec![good_until(*until)], IGNORE)
            }
            Self::Welcome { organization, link, until } => {
                let organization = unlinked(organization);
                with("Choose a password", link);
                let line = format!("You have an account at {organization}. Choose a password to log in with.");
                let footer = "If you already log in with a password, that password keeps working: you need not do anything.";
                ("An account was made for you", vec![line, good_until(*until)], footer)
            }
            Self::VerifyEmail { link, until } => {
                with("Verify this address", link);
                ("Verify your email address", vec![good_until(*until)], IGNORE)
            }
            Self::ChangeEmail { link, until } => {
                with("Use this address", link);
                let line = "Open the link while you are logged in to the account that asked for it.".to_owned();
                ("Confirm your new email address", vec![line, good_until(*until)], IGNORE)
            }
            Self::SignUp { link, until } => {
                with("Create an organization", link);
                ("Create your organization", vec![good_until(*until)], IGNORE)
            }
            Self::AddressWanted => {
                let line = "Somebody asked to make this address another account's. It belongs to yours, so nothing was changed.";
                ("Your email address was entered elsewhere", vec![line.to_owned()], "You need not do anything.")
            }
            Self::EmailChangeRequested { to } => {
                let line = format!("Your account is to get the address {to}. It changes once the new address is confirmed.");
                ("A change of your email address was requested", vec![line], NOT_ME)
            }
            Self::EmailChanged { to } => {
                ("Your email address was changed", vec![format!("Your account's address is {to} from now on.")], NOT_ME)
            }
            Self::PasswordChanged => {
                let line = "Your password was changed. Every other session of your account has ended.".to_owned();
                ("Your password was changed", vec![line], NOT_ME)
            }
            Self::SecondFactorEnabled => {
                let line = "From now on a login needs a code from your authenticator. Keep the recovery codes safe.".to_owned();
                ("Two-factor authentication is on", vec![line], NOT_ME)
            }
            Self::SecondFactorDisabled => {
                let line = "From now on your password alone opens your account.".to_owned();
                ("Two-factor authentication is off", vec![line], NOT_ME)
            }
            Self::RecoveryCodesReplaced => {
                ("You have new recovery codes", vec!["The codes you had before no longer work.".to_owned()], NOT_ME)
            }
            Self::CodesGuessed => {
                let line = "Several wrong codes were entered after your correct password. Somebody may know it.".to_owned();
                ("Wrong codes were entered for your account", vec![line], NOT_ME)
            }
            Self::NewAdmin { organization, who } => {
                let organization = unlinked(organization);
                ("There is a new administrator", vec![format!("{who} is an administrator of {organization} now.")], REVIEW)
            }
            Self::NewApiKey { organization, name } => {
                let (organization, name) = (unlinked(organization), unlinked(name));
                ("There is a new API key", vec![format!("The key '{name}' was made for {organization}.")], REVIEW)
            }
            Self::LeakedApiKey { organization, name } => {
                let (organization, name) = (unlinked(organization), unlinked(name));
                let what =
                    format!("The key '{name}' of {organization} was found in public and reported, so it was revoked at once.");
                let then = "Make a new key where one is still needed, and find out how the old one got out.".to_owned();
                ("An API key was revoked because it leaked", vec![what, then], REVIEW)
            }
            Self::LeakedDeploymentKey { name } => {
                let name = unlinked(name);
                let what = format!(
                    "The deployment key '{name}', which opens every organization, was found in public and reported, so it was revoked at once."
                );
                let then =
                    "Make a new one on the server's command line (deployment-key create), and find out how the old one got out.";
                ("A deployment key was revoked because it leaked", vec![what, then.to_owned()], REVIEW)
            }
            Self::NewWebhook { organization, host } => {
                let organization = unlinked(organization);
                ("There is a new webhook", vec![format!("Events of {organization} are sent to {host} from now on.")], REVIEW)
            }
            Self::DeletionScheduled { organization, at } => {
                let organization = unlinked(organization);
                let line = format!(
                    "{organization} is closed. It will be deleted at {}, with its members, their accounts where they belong to no \
                     other organization, its keys, its webhooks and its audit log.",
                    at.to_iso()
                );
                ("Your organization is going to be deleted", vec![line], OBJECT)
            }
            Self::DeletionNear { organization, at } => {
                let organization = unlinked(organization);
                let line = format!("{organization} will be deleted at {}, with everything that belongs to it.", at.to_iso());
                ("Your organization will be deleted soon", vec![line], OBJECT)
            }
            Self::DeletionCancelled { organization } => {
                let organization = unlinked(organization);
                let line = format!("{organization} will not be deleted. It stays closed until it is reactivated.");
                ("Your organization will not be deleted", vec![line], "You need not do anything.")
            }
            Self::WebhookDisabled { organization, host, reason } => {
                let organization = unlinked(organization);
                let cause = match reason {
                    DisableReason::Gone => {
                        format!("{host} answered that it is gone, so events of {organization} are no longer sent to it.")
                    }
                    DisableReason::Failing => {
                        format!(
                            "Every delivery to {host} has failed for five days, so events of {organization} are no longer sent to it."
                        )
                    }
                };
                let remedy = "Once the receiver works again, enable the webhook and send again what it missed.".to_owned();
                ("A webhook was disabled", vec![cause, remedy], "You need not do anything if the receiver was taken down.")
            }
        };
        let values = context! { heading, lines, link, action, footer };
        render::LETTER.message(recipient, product, heading.to_owned(), values)
    }
}

fn invitation(recipient: &Email, product: &Product, org: &Organization, invite: &Invite, link: &str) -> Result<Message, Error> {
    let values = context! {
        organization => unlinked(&org.name),
        inviter => invite.invited_by_email.as_ref().map(Email::as_str),
        role => invite.role.as_str(),
        link,
        app_url => org.app_url.as_ref().map(AppUrl::as_str),
        expires_at => invite.expires_at.to_iso(),
    };
    // Mail programs make no links in subjects.
    render::INVITE.message(recipient, product, format!("Your invitation to {}", org.name), values)
}

fn good_until(until: Timestamp) -> String {
    format!("The link is good until {} and works once.", until.to_iso())
}

/// A name that no mail program takes for a link: a word joiner (U+2060), which nobody sees, stands after each dot, colon and slash. Anybody
/// may name an organization, and have it mailed to strangers (behaviour.md, B200).
fn unlinked(name: &DisplayName) -> String {
    let mut text = String::with_capacity(name.as_str().len());
    for character in name.as_str().chars() {
        text.push(character);
        if matches!(character, '.' | ':' | '/') {
            text.push('\u{2060}');
        }
    }
    text
}
