//! Importing people with their password hashes from another system (migration), one JSON object a line. Rows are read and written in
//! batches, each a transaction of its own, so that neither memory nor a lock grows with the file. Each row is taken whole or refused
//! with its reason. A second run makes nothing twice: whoever has an account is refused, or invited once where that is asked for.

mod lines;
mod row;

use tokio::io::AsyncBufRead;

use super::Operator;
use crate::{
    account::{mail_welcome_link, seal_second_factor, step_at},
    error::Error,
    event::{EventKind, MemberData},
    model::{AccountRole, MemberEntry, Membership, Organization, Profile, Role, Status, User},
    org::{Invitation, Inviter, place_invite},
    ports::ForeignHash,
    secret::StoredPassword,
    store::{Actor, Event, ImportedFactor, Tx},
    value::{Email, Metadata, Slug},
};
use lines::{Line, Lines, MAX_ROW};
use row::Row;

/// The most rows of one import.
const MAX_ROWS: u64 = 1_000_000;
/// How many rows one transaction writes. The organization is locked for so long.
const BATCH: usize = 200;

/// What an import does beyond making accounts and memberships.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserImport {
    /// Whether `emailVerified` of a row is believed, and a `totpSecret` beside it taken. Otherwise every address counts as unverified, and
    /// whoever first proves it owns the account.
    pub trust: bool,
    /// Whether each person is mailed a link by which they choose a password. Otherwise nobody is mailed but whom `existing` invites.
    pub invite: bool,
    /// What becomes of a row whose address has an account.
    pub existing: ExistingPeople,
}

/// What becomes of people of an import who have an account already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistingPeople {
    /// The row is refused as `account_exists`, also where the account is a member of the organization.
    #[default]
    Refuse,
    /// A member's row is refused as `already_member`. Any other account that proved its address stays as it is and is invited by mail: the
    /// row's role and metadata wait in the invite, its name, hash and second factor are not needed. Where it never did, the row is refused.
    Invite,
}

/// The outcome of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportedUsers {
    /// How many people were imported.
    pub imported: u64,
    /// How many people have an account and were invited.
    pub invited: u64,
    /// How many rows were refused.
    pub refused: u64,
}

/// What an import tells while it runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportStep<'a> {
    /// A row was refused; the import goes on.
    Refused {
        /// The row's line, counted from 1.
        line: u64,
        /// Why, naming the field.
        reason: &'a str,
    },
    /// What came so far is written.
    Written {
        /// The outcome so far.
        so_far: ImportedUsers,
        /// How many bytes of the source were read.
        bytes: u64,
    },
}

/// A row that was read, and its line.
struct Numbered {
    line: u64,
    row: Row,
}

/// A row that was refused, and its line.
struct Refused {
    line: u64,
    reason: String,
}

/// What came of a row.
enum Arrived {
    /// An account and a membership.
    New(User),
    /// An invite for an account that was there.
    Invited,
    /// Nothing, and why.
    Nowhere(&'static str),
}

/// A row about an account that was there.
struct KnownRow {
    email: Email,
    role: Role,
    metadata: Option<Metadata>,
}

const ALREADY_MEMBER: &str = "already_member: the address is a member's already";
const ACCOUNT_EXISTS: &str = "account_exists: the address has an account already";
const UNPROVED: &str = "account_exists: the address has an account that never proved it, and is not invited";
const ALREADY_INVITED: &str = "already_invited: an invite to the address is pending";

impl Operator {
    /// Imports people into an organization: each row `{"email", "name"}`, and optionally `"hash"` (a [`ForeignHash`]), `"role"`,
    /// `"metadata"`, `"emailVerified"` and `"totpSecret"` (base 32; SHA-1, six digits, 30 seconds), at most 64 KiB, and at most a million of
    /// them. A refused row hinders no other: `tell` learns of it.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::Unavailable`] while the database is away, [`Error::Internal`] when the source
    /// cannot be read. What was told as written stays; running the import again goes on from there.
    pub async fn import_users(
        &self,
        slug: &Slug,
        source: impl AsyncBufRead + Unpin + Send,
        import: UserImport,
        tell: &mut (dyn FnMut(ImportStep<'_>) + Send),
    ) -> Result<ImportedUsers, Error> {
        self.auth.tenant(slug).await?;
        let (mut lines, mut rows, mut done) = (Lines::of(source), 0, ImportedUsers::default());
        loop {
            let (mut batch, mut refused, mut is_last) = (Vec::with_capacity(BATCH), Vec::new(), false);
            while batch.len() < BATCH && refused.len() < BATCH {
                let Some(line) = lines.next().await.map_err(Error::internal)? else {
                    is_last = true;
                    break;
                };
                rows += 1;
                if rows > MAX_ROWS {
                    let reason = format!("a file has at most {MAX_ROWS} rows; import the rest from another file");
                    refused.push(Refused { line: line.number, reason });
                    is_last = true;
                    break;
                }
                match read(line, import.trust) {
                    Ok(row) => batch.push(row),
                    Err(refusal) => refused.push(refusal),
                }
            }
            if !batch.is_empty() {
                let batch = self.import_batch(slug, batch, import, &mut refused).await?;
                done.imported += batch.imported;
                done.invited += batch.invited;
            }
            done.refused += refused.len() as u64;
            refused.sort_by_key(|refusal| refusal.line);
            for Refused { line, reason } in &refused {
                tell(ImportStep::Refused { line: *line, reason });
            }
            tell(ImportStep::Written { so_far: done, bytes: lines.bytes() });
            if is_last {
                return Ok(done);
            }
        }
    }

    /// Writes a batch in one transaction, and returns the numbers of people it made and invited.
    async fn import_batch(
        &self,
        slug: &Slug,
        mut batch: Vec<Numbered>,
        import: UserImport,
        refused: &mut Vec<Refused>,
    ) -> Result<ImportedUsers, Error> {
        // Two imports that name the same addresses take them in one order, so that neither waits for the other in a circle.
        batch.sort_by_cached_key(|numbered| (numbered.row.email.key(), numbered.line));
        let (mut tx, org) = self.begin_in(slug).await?;
        let (mut done, mut known) = (ImportedUsers::default(), Vec::new());
        for Numbered { line, row } in batch {
            match self.import_row(&mut tx, &org, row, import).await? {
                Arrived::New(user) => {
                    done.imported += 1;
                    if import.invite {
                        mail_welcome_link(&mut tx, &org, &user, self.auth.config()).await?;
                    }
                }
                Arrived::Invited => done.invited += 1,
                Arrived::Nowhere(reason) => known.push(Refused { line, reason: reason.to_owned() }),
            }
        }
        tx.commit().await?;
        refused.append(&mut known);
        Ok(done)
    }

    /// Makes the account and its membership, or meets the account that the address has.
    async fn import_row(&self, tx: &mut Tx, org: &Organization, row: Row, import: UserImport) -> Result<Arrived, Error> {
        let Row { email, name, hash, role, metadata, email_verified, totp_secret } = row;
        let role = role.unwrap_or(Role::Member);
        let user = User {
            id: tx.new_id(),
            name,
            email,
            role: AccountRole::User,
            is_email_verified: import.trust && email_verified == Some(true),
            profile: Profile::default(),
        };
        let password = hash.as_ref().map_or_else(StoredPassword::void, ForeignHash::stored);
        if !tx.users().insert(&user, &password).await? {
            return self.meet(tx, org, KnownRow { email: user.email, role, metadata }, import.existing).await;
        }
        if let Some(secret) = &totp_secret {
            let sealed = seal_second_factor(tx, &user.id, secret.as_bytes())?;
            // No code that may have been used at the other system is good once more.
            let last_step = step_at(tx.now());
            let factor = ImportedFactor { user: &user.id, sealed: &sealed, enabled_at: tx.now(), last_step };
            tx.imports().factor(&factor).await?;
        }
        let membership = Membership {
            id: tx.new_id(),
            org_id: org.id.clone(),
            user_id: user.id.clone(),
            role,
            status: Status::Active,
            joined_at: tx.now(),
            metadata: metadata.unwrap_or_default(),
        };
        if !tx.members().insert(&membership).await? {
            return Err(Error::internal("a new account is a member already"));
        }
        // Without the notice that other new org_admins get: an import mails nobody who was not asked to be mailed.
        let member = MemberEntry { membership, name: user.name.clone(), email: user.email.clone() };
        tx.push(Event::new(EventKind::MemberJoined, org, Actor::System, &MemberData::of(&member))?);
        Ok(Arrived::New(user))
    }

    /// Invites the account that the address has, where that is asked for: nobody becomes a member of another organization unasked. The
    /// organization is held, so that no other invite comes between the look and the placing, and none is mailed that is not kept.
    async fn meet(&self, tx: &mut Tx, org: &Organization, row: KnownRow, existing: ExistingPeople) -> Result<Arrived, Error> {
        let KnownRow { email, role, metadata } = row;
        if existing == ExistingPeople::Refuse {
            return Ok(Arrived::Nowhere(ACCOUNT_EXISTS));
        }
        if tx.members().has_address(&org.id, &email).await? {
            return Ok(Arrived::Nowhere(ALREADY_MEMBER));
        }
        if !tx.users().find_by_email(&email).await?.is_some_and(|account| account.user.is_email_verified) {
            return Ok(Arrived::Nowhere(UNPROVED));
        }
        if tx.invites().has_invite(&org.id, &email).await? {
            return Ok(Arrived::Nowhere(ALREADY_INVITED));
        }
        let invitation = Invitation { org, email: &email, role, by: Inviter::Operator(&Actor::System) };
        let (invite, _) = place_invite(&self.auth, tx, &invitation).await?;
        if let Some(metadata) = metadata {
            tx.invites().set_metadata(&org.id, &invite.id, &metadata).await?;
        }
        Ok(Arrived::Invited)
    }
}

fn read(Line { number: line, row }: Line, trust: bool) -> Result<Numbered, Refused> {
    let row = row.ok_or_else(|| format!("has more than {MAX_ROW} bytes")).and_then(|row| Row::parse(&row));
    match row.and_then(|row| row.expect_guardable(trust)) {
        Ok(row) => Ok(Numbered { line, row }),
        Err(reason) => Err(Refused { line, reason }),
    }
}
