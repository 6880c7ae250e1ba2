//! Two-factor authentication: a time-based one-time password (TOTP, RFC 6238: SHA-1, six digits, thirty seconds, one step of drift
//! either way) and ten recovery codes. The secret is sealed at rest; recovery codes are stored as digests; no code works twice.
//! Enabling or removing the second factor ends every other session of the account.

use qrcodegen::{QrCode, QrCodeEcc};
use totp_rs::{Builder, Totp};
use zeroize::Zeroizing;

use crate::{
    account::{end_all_others, events_of_user, tell_user},
    caller::{Member, Write},
    error::{Error, InvalidValue},
    event::{EndReason, EventKind, UserData},
    id::{CROCKFORD, OrgId, UserId},
    mail::{self, Letter},
    model::User,
    ports::Entropy,
    sealed::SealContext,
    secret::{Digest, Password, RecoveryCodeKind, Secret, TotpKind},
    store::{Actor, Event, Tx},
    throttle::{Attempt, log_refused},
    time::Timestamp,
    value::Email,
};

/// The state of an account's second factor.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SecondFactorStatus {
    /// When the second factor was enabled; `None` when there is none.
    pub enabled_at: Option<Timestamp>,
    /// How many recovery codes are still unused.
    pub recovery_codes_remaining: u32,
}

/// A new TOTP secret for an authenticator app; shown once. It has no effect until [`Member::enable_second_factor`].
#[derive(Debug)]
#[non_exhaustive]
pub struct SecondFactorSetup {
    /// The secret in base 32.
    pub secret: Secret<TotpKind>,
    /// The `otpauth://` URL that authenticators read.
    pub otpauth_url: Secret<TotpKind>,
    /// The `otpauth://` URL as a QR code: an SVG document.
    pub qr_svg: Secret<TotpKind>,
}

/// Ten single-use recovery codes, each good in place of a one-time password when the authenticator is lost; shown once.
#[derive(Debug)]
pub struct RecoveryCodes(pub Vec<Secret<RecoveryCodeKind>>);

const RECOVERY_CODES: usize = 10;
/// How much of an organization's name is shown by an authenticator where the whole of it does not fit into a QR code: characters.
const LONGEST_ISSUER: usize = 30;
/// The bytes of a secret that was made elsewhere: RFC 4226 asks for 16, and 64 fill the hash's block.
pub(crate) const SECOND_FACTOR_BYTES: std::ops::RangeInclusive<usize> = 16..=64;
/// Four groups of seven base-32 characters: 140 random bits.
const GROUPS: usize = 4;
const GROUP: usize = 7;

impl Member {
    /// The state of the account's second factor.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn second_factor(&self) -> Result<SecondFactorStatus, Error> {
        let mut reader = self.auth.store().read().await?;
        let enabled_at = reader.second_factors().find(self.user_id()).await?.and_then(|factor| factor.enabled_at());
        let remaining = reader.second_factors().count_codes(self.user_id()).await?;
        Ok(SecondFactorStatus { enabled_at, recovery_codes_remaining: u32::try_from(remaining).unwrap_or(0) })
    }

    /// Makes a new TOTP secret; it replaces a secret that was never enabled.
    ///
    /// # Errors
    /// [`Error::WrongPassword`]; [`Error::SecondFactorEnabled`]; [`Error::RateLimited`].
    pub async fn set_up_second_factor(&self, password: &Password) -> Result<SecondFactorSetup, Error> {
        self.confirm_password(password).await?;
        let mut secret = Zeroizing::new(vec![0u8; 20]);
        self.auth.entropy().fill(&mut secret);
        let setup = describe(&secret, &self.live.user.email, self.live.org.name.as_str())?;
        let sealed = self.auth.master_keys().seal(&secret, seal_context(self.user_id()), self.auth.entropy())?;
        let mut write = self.begin_own_write().await?;
        if !write.second_factors().set_up(self.user_id(), &sealed).await? {
            return Err(Error::SecondFactorEnabled);
        }
        write.commit().await?;
        Ok(setup)
    }

    /// Enables the second factor, once a code proves that the authenticator has the secret. Every other session of the account
    /// ends.
    ///
    /// # Errors
    /// [`Error::WrongCode`]; [`Error::SecondFactorMissing`] without a setup; [`Error::SecondFactorEnabled`];
    /// [`Error::RateLimited`].
    pub async fn enable_second_factor(&self, code: &str) -> Result<RecoveryCodes, Error> {
        let is_enabled = |error: &Error| matches!(error, Error::SecondFactorEnabled);
        let enabling = async {
            let attempt = self.auth.code_attempt(self.user_id(), &self.client).await?;
            let outcome = self.try_to_enable(&attempt, code).await;
            match outcome {
                Err(Error::WrongCode) => self.auth.count_wrong_code(attempt, self.org_id(), self.user_id()).await?,
                _ => attempt.withdrawn().await,
            }
            outcome
        };
        self.auth.telling(is_enabled, enabling).await
    }

    async fn try_to_enable(&self, attempt: &Attempt, code: &str) -> Result<RecoveryCodes, Error> {
        let mut write = self.begin_own_write().await?;
        let factor = write.second_factors().find(self.user_id()).await?.ok_or(Error::SecondFactorMissing)?;
        attempt.in_time()?;
        if factor.enabled_at().is_some() {
            return Err(Error::SecondFactorEnabled);
        }
        let step = matching_step(&write, self.user_id(), &factor.secret, code)?.ok_or(Error::WrongCode)?;
        if !write.second_factors().enable(self.user_id(), &factor.secret, step).await? {
            return Err(Error::SecondFactorEnabled);
        }
        let codes = self.issue_codes(&mut write).await?;
        self.changed(write, EventKind::UserTwoFactorEnabled, &Letter::SecondFactorEnabled).await?;
        Ok(codes)
    }

    /// Removes the second factor. Every other session of the account ends.
    ///
    /// # Errors
    /// [`Error::WrongPassword`]; [`Error::WrongCode`]; [`Error::SecondFactorMissing`]; [`Error::RateLimited`].
    pub async fn disable_second_factor(&self, password: &Password, code: &str) -> Result<(), Error> {
        let is_missing = |error: &Error| matches!(error, Error::SecondFactorMissing);
        let disabling = async {
            let mut write = self.begin_guarded_write(password, Some(code)).await?;
            if !write.second_factors().remove(self.user_id()).await? {
                return Err(Error::SecondFactorMissing);
            }
            self.changed(write, EventKind::UserTwoFactorDisabled, &Letter::SecondFactorDisabled).await
        };
        self.auth.telling(is_missing, disabling).await
    }

    /// Replaces every recovery code.
    ///
    /// # Errors
    /// [`Error::WrongPassword`]; [`Error::WrongCode`]; [`Error::SecondFactorMissing`]; [`Error::RateLimited`].
    pub async fn renew_recovery_codes(&self, password: &Password, code: &str) -> Result<RecoveryCodes, Error> {
        let mut write = self.begin_guarded_write(password, Some(code)).await?;
        let codes = self.issue_codes(&mut write).await?;
        let data = UserData::of(&write.live.user);
        tell_user(&mut write.tx, EventKind::UserRecoveryCodesReplaced, &self.actor(), &data).await?;
        mail::tell_owner(&mut write.tx, self.org_id(), &write.live.user, &Letter::RecoveryCodesReplaced).await?;
        write.commit().await?;
        Ok(codes)
    }

    /// Begins a write to the account after the password and, where it is enabled, the second factor were confirmed.
    ///
    /// # Errors
    /// [`Error::WrongPassword`]; [`Error::WrongCode`]; [`Error::Invalid`] when a code is needed and none was given;
    /// [`Error::SecondFactorMissing`] when a code was given and no second factor is enabled.
    pub(crate) async fn begin_guarded_write(&self, password: &Password, code: Option<&str>) -> Result<Write, Error> {
        self.confirm_password(password).await?;
        let in_force = self.second_factor().await?.enabled_at.is_some();
        let code = match (code, in_force) {
            (None, false) => return self.begin_own_write().await,
            (None, true) => return Err(InvalidValue::CodeRequired.into()),
            (Some(_), false) => return Err(Error::SecondFactorMissing),
            (Some(code), true) => code,
        };
        let attempt = self.auth.code_attempt(self.user_id(), &self.client).await?;
        let outcome = self.write_with_code(&attempt, code).await;
        // SQLite has one writer: the attempt can be settled only before the write begins or after it is given up.
        match outcome {
            Ok(None) => {
                self.auth.count_wrong_code(attempt, self.org_id(), self.user_id()).await?;
                log_refused(&Error::WrongCode, self.org_id(), &self.client);
                Err(Error::WrongCode)
            }
            Ok(Some(write)) => Ok(write),
            Err(error) => {
                attempt.withdrawn().await;
                Err(error)
            }
        }
    }

    /// Begins the write in which the attempt is settled as right; `None` when the code is wrong, which undoes that.
    async fn write_with_code(&self, attempt: &Attempt, code: &str) -> Result<Option<Write>, Error> {
        // The organization's turn may be long in coming, and the verdict must not.
        let mut tx = attempt.judged(self.auth.begin_in_turn(self.org_id())).await?;
        attempt.released(&mut tx).await?;
        let mut write = self.own_write_in(tx).await?;
        let used = use_code(&mut write, self.user_id(), code).await?;
        attempt.in_time()?;
        Ok(used.map(|_| write))
    }

    async fn issue_codes(&self, write: &mut Write) -> Result<RecoveryCodes, Error> {
        let codes: Vec<_> = (0..RECOVERY_CODES).map(|_| recovery_code(self.auth.entropy())).collect();
        let digests: Vec<Digest> = codes.iter().map(|code| digest_of(code.expose())).collect();
        write.second_factors().replace_codes(self.user_id(), &digests).await?;
        Ok(RecoveryCodes(codes))
    }

    async fn changed(&self, mut write: Write, kind: EventKind, notice: &Letter<'_>) -> Result<(), Error> {
        let data = UserData::of(&write.live.user);
        tell_user(&mut write.tx, kind, &self.actor(), &data).await?;
        end_all_others(self, &mut write, EndReason::TwoFactor).await?;
        mail::tell_owner(&mut write.tx, self.org_id(), &write.live.user, notice).await?;
        write.commit().await
    }
}

/// A code that was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsedCode {
    OneTime,
    Recovery,
}

/// Verifies a one-time password or a recovery code and marks it as used, in the transaction that depends on it. `None` when the
/// code is wrong or was used before: no code works twice (RFC 6238, 5.2).
pub(crate) async fn use_code(tx: &mut Tx, user: &UserId, code: &str) -> Result<Option<UsedCode>, Error> {
    let Some(factor) = tx.second_factors().find(user).await?.filter(|factor| factor.enabled_at().is_some()) else {
        return Ok(None);
    };
    match matching_step(tx, user, &factor.secret, code)? {
        Some(step) => Ok(tx.second_factors().use_step(user, step).await?.then_some(UsedCode::OneTime)),
        None if may_be_recovery(code) => {
            Ok(tx.second_factors().use_code(user, &digest_of(code)).await?.then_some(UsedCode::Recovery))
        }
        None => Ok(None),
    }
}

/// What is told of a login by this code besides the session, everywhere the person belongs; the owner is mailed of it in this organization.
/// Of a one-time password nothing is. The transaction holds the account with all its memberships, so that nobody is told after the person
/// has gone, and the organization in which the session is opened.
pub(crate) async fn told_of_code(tx: &mut Tx, used: UsedCode, org: &OrgId, user: &User) -> Result<Vec<Event>, Error> {
    match used {
        UsedCode::OneTime => Ok(Vec::new()),
        UsedCode::Recovery => {
            mail::tell_owner(tx, org, user, &Letter::RecoveryCodeUsed).await?;
            let actor = Actor::User(user.id.clone());
            events_of_user(tx, EventKind::UserRecoveryCodeUsed, &actor, &UserData::of(user)).await
        }
    }
}

/// Whether the text has the form of a recovery code: no other is taken for one. What a recovery code needs is locked for such a text alone.
pub(crate) fn may_be_recovery(code: &str) -> bool {
    bare(code).count() == GROUPS * GROUP
}

fn digits_of(code: &str) -> Option<String> {
    let digits: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    (digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// The secret of a stored second factor.
pub(crate) fn open_second_factor(tx: &Tx, user: &UserId, sealed: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    tx.open(sealed, seal_context(user)).ok_or_else(|| Error::internal("a second factor does not open"))
}

/// The secret of a second factor that was made elsewhere, sealed for the database.
pub(crate) fn seal_second_factor(tx: &Tx, user: &UserId, secret: &[u8]) -> Result<String, Error> {
    tx.seal(secret, seal_context(user))
}

/// Reads such a secret in base 32, as authenticators show it: in groups or not, in either case, with or without padding. `None` for another
/// text, and for too short or too long a secret.
pub(crate) fn read_second_factor(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let bare = text.chars().filter(|c| !c.is_whitespace() && *c != '-').map(|c| c.to_ascii_uppercase());
    let bare: Zeroizing<String> = Zeroizing::new(bare.collect());
    let secret = totp_rs::Secret::try_from_base32(bare.trim_end_matches('=')).ok()?;
    SECOND_FACTOR_BYTES.contains(&secret.as_bytes().len()).then(|| Zeroizing::new(secret.as_bytes().to_vec()))
}

/// Finds the TOTP time step that the code belongs to, at most one step before or after now; `None` when the code is wrong.
fn matching_step(tx: &Tx, user: &UserId, sealed: &str, code: &str) -> Result<Option<i64>, Error> {
    let secret = open_second_factor(tx, user, sealed)?;
    step_of(&secret, code, tx.now())
}

/// The same for an opened secret.
pub(crate) fn step_of(secret: &[u8], code: &str, now: Timestamp) -> Result<Option<i64>, Error> {
    let Some(digits) = digits_of(code) else { return Ok(None) };
    let seconds = u64::try_from(now.secs()).unwrap_or(0);
    Ok(totp(secret, "", "")?.check(&digits, seconds).and_then(|step| i64::try_from(step).ok()))
}

/// The TOTP time step of a moment, of thirty seconds: the one whose code authenticators show then.
pub(crate) fn step_at(now: Timestamp) -> i64 {
    now.secs() / 30
}

fn totp(secret: &[u8], account: &str, issuer: &str) -> Result<Totp, Error> {
    let builder = Builder::new().with_secret(secret.to_vec()).with_account_name(account).with_issuer(Some(issuer));
    builder.build().map_err(|error| Error::internal(error.to_string()))
}

fn describe(secret: &[u8], email: &Email, organization: &str) -> Result<SecondFactorSetup, Error> {
    // The label of the URL is `issuer:account`, so the issuer must not contain a colon.
    let totp = totp(secret, email.as_str(), &organization.replace(':', " "))?;
    let url = totp.to_url().map_err(|error| Error::internal(error.to_string()))?;
    let qr = match QrCode::encode_text(&url, QrCodeEcc::Medium) {
        // A name of a hundred characters that need four bytes each, of which a code of this kind holds half.
        Err(_) if organization.chars().nth(LONGEST_ISSUER).is_some() => {
            let beginning: String = organization.chars().take(LONGEST_ISSUER).collect();
            return describe(secret, email, &beginning);
        }
        qr => qr.map_err(|error| Error::internal(error.to_string()))?,
    };
    Ok(SecondFactorSetup {
        secret: Secret::new(totp.secret().to_base32()),
        qr_svg: Secret::new(svg(&qr)),
        otpauth_url: Secret::new(url),
    })
}

/// Draws the QR code as SVG: the dark modules as one path, inside a quiet zone of four modules that scanners need.
fn svg(qr: &QrCode) -> String {
    use std::fmt::Write;
    let side = qr.size() + 8;
    let mut path = String::new();
    for (y, x) in (0..qr.size()).flat_map(|y| (0..qr.size()).map(move |x| (y, x))) {
        if qr.get_module(x, y) {
            let _ = write!(path, "M{},{}h1v1h-1z", x + 4, y + 4);
        }
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path d="{path}" fill="#000"/></svg>"##
    )
}

fn recovery_code(entropy: &dyn Entropy) -> Secret<RecoveryCodeKind> {
    let mut bytes = Zeroizing::new([0u8; GROUPS * GROUP]);
    entropy.fill(&mut *bytes);
    let characters: Vec<char> = bytes.iter().map(|byte| char::from(CROCKFORD[usize::from(byte & 31)])).collect();
    Secret::new(characters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-"))
}

/// The digest of a recovery code as [`bare`] reads it.
fn digest_of(code: &str) -> Digest {
    Secret::<RecoveryCodeKind>::new(bare(code).collect::<String>()).digest()
}

/// A recovery code without case, hyphens and spaces, because people type recovery codes by hand.
fn bare(code: &str) -> impl Iterator<Item = char> {
    code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())
}

fn seal_context(user: &UserId) -> SealContext<'_> {
    SealContext { table: "tenant_auth_second_factors", column: "secret", row: user.as_str(), org: "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::OsEntropy;

    #[test]
    fn recovery_codes_are_long_and_forgive_how_they_are_typed() {
        let code = recovery_code(&OsEntropy);
        assert_eq!(code.expose().len(), 31);
        let typed = code.expose().to_uppercase().replace('-', " ");
        assert!(digest_of(code.expose()).matches(&digest_of(&typed)));
        assert!(may_be_recovery(code.expose()) && may_be_recovery(&typed));
        for other in ["", "123456", "no-such-code", &code.expose()[1..], &format!("{typed}0")] {
            assert!(!may_be_recovery(other), "{other}");
        }
    }

    #[test]
    fn a_secret_of_another_system_is_read_as_authenticators_show_it() {
        let secret = b"12345678901234567890";
        for text in [
            "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
            "gezd gnbv gy3t qojq gezd gnbv gy3t qojq",
            "GEZDGNBV-GY3TQOJQ-GEZDGNBV-GY3TQOJQ====",
        ] {
            assert_eq!(read_second_factor(text).as_deref().map(Vec::as_slice), Some(secret.as_slice()), "{text}");
        }
        let long = "A".repeat(105);
        for text in ["", "1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ!", "\u{e9}", "GEZDGNBVGY3TQOJQ", long.as_str()] {
            assert!(read_second_factor(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_authenticator_reads_what_setup_shows() {
        let secret = b"12345678901234567890";
        let email = Email::parse("ada@example.com").expect("valid");
        let setup = describe(secret, &email, "Acme: Rockets").expect("describes");
        assert!(setup.otpauth_url.expose().starts_with("otpauth://totp/"));
        assert!(setup.qr_svg.expose().contains("viewBox"));
        let long = format!("{}@{}.example", "a".repeat(64), ["b".repeat(60), "c".repeat(60), "d".repeat(50)].join("."));
        let long = Email::parse(&long).expect("valid");
        let setup = describe(secret, &long, &"\u{1F49C}".repeat(100)).expect("describes");
        assert!(
            setup.otpauth_url.expose().ends_with(&format!("issuer={}", "%F0%9F%92%9C".repeat(LONGEST_ISSUER))),
            "{:?}",
            setup.otpauth_url.expose()
        );
        // RFC 6238, appendix B, SHA-1, T = 59 s, the last six digits.
        assert_eq!(totp(secret, "", "").expect("valid").check("287082", 59), Some(1));
    }
}
