//! The parameters of a list: its page, and what chooses its entries. A parameter that the list does not know is ignored; one that it
//! knows is given once, and means something.

use std::{borrow::Cow, str::FromStr, time::Duration};

use url::form_urlencoded;

use super::{
    context::Context,
    cursor,
    error_code::ErrorCode,
    input::Input,
    openapi::{InputFacts, Schemas},
    refusal::Refusal,
};
use crate::{
    backend::changes::LONGEST_WAIT,
    error::{Error, InvalidValue},
    feed::{self, After, EventQuery},
    model::{AuditFilter, DeliveryStatus, MemberFilter, OrganizationFilter, Role, SortOrder, Status},
    page::{self, Page},
    time::Timestamp,
    value::SearchText,
};

/// `?limit=`, `?cursor=` and `?order=`.
impl Input for Page {
    fn describe(facts: &mut InputFacts, _: &mut Schemas) {
        facts.query.extend(["Limit", "Cursor", "Order"]);
    }
    fn may() -> Vec<ErrorCode> {
        vec![ErrorCode::InvalidRequest]
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let limit = parameter(context, "limit")?.map_or(Some(page::MOST), |text| whole_number(&text));
        let limit = limit.ok_or(Error::from(InvalidValue::PageLimit))?;
        let order = one_of(context, "order", SortOrder::parse, SortOrder::WORDS)?.unwrap_or_default();
        let page = match parameter(context, "cursor")? {
            Some(text) => Self::after(cursor::from_text(&text).ok_or(Error::from(InvalidValue::PageCursor))?, limit)?,
            None => Self::first(limit)?,
        };
        Ok(page.ordered(order))
    }
}

/// A page of members, and `?q=`, `?role=`, `?status=`.
pub(crate) struct MembersQuery {
    pub(crate) filter: MemberFilter,
    pub(crate) page: Page,
}

impl Input for MembersQuery {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        Page::describe(facts, schemas);
        facts.query.extend(["MemberSearch", "RoleFilter", "StatusFilter"]);
    }
    fn may() -> Vec<ErrorCode> {
        Page::may()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let filter = MemberFilter {
            search: searched(context, "q")?,
            role: one_of(context, "role", Role::parse, Role::WORDS)?,
            status: one_of(context, "status", Status::parse, Status::WORDS)?,
        };
        Ok(Self { filter, page: Page::read(context)? })
    }
}

/// A page of organizations, and `?search=`, `?state=`.
pub(crate) struct OrganizationsQuery {
    pub(crate) filter: OrganizationFilter,
    pub(crate) page: Page,
}

impl Input for OrganizationsQuery {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        Page::describe(facts, schemas);
        facts.query.extend(["Search", "StateFilter"]);
    }
    fn may() -> Vec<ErrorCode> {
        Page::may()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let filter = OrganizationFilter {
            search: searched(context, "search")?,
            status: one_of(context, "state", Status::parse, Status::WORDS)?,
        };
        Ok(Self { filter, page: Page::read(context)? })
    }
}

/// A page, and `?search=`. `?q=` is the members' lists' alone, and ignored everywhere else.
pub(crate) struct SearchQuery {
    pub(crate) search: Option<SearchText>,
    pub(crate) page: Page,
}

impl Input for SearchQuery {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        Page::describe(facts, schemas);
        facts.query.push("Search");
    }
    fn may() -> Vec<ErrorCode> {
        Page::may()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        Ok(Self { search: searched(context, "search")?, page: Page::read(context)? })
    }
}

/// A text to search by; empty is absent.
fn searched(context: &Context, name: &str) -> Result<Option<SearchText>, Refusal> {
    let text = parameter(context, name)?.filter(|text| !text.is_empty());
    text.map(|text| SearchText::parse(&text)).transpose().map_err(|rejected| Refusal::invalid(name, rejected.to_string()))
}

/// A page of deliveries, and `?status=`.
pub(crate) struct DeliveriesQuery {
    pub(crate) status: Option<DeliveryStatus>,
    pub(crate) page: Page,
}

impl Input for DeliveriesQuery {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        Page::describe(facts, schemas);
        facts.query.push("DeliveryStatusFilter");
    }
    fn may() -> Vec<ErrorCode> {
        Page::may()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let status = one_of(context, "status", DeliveryStatus::parse, DeliveryStatus::WORDS)?;
        Ok(Self { status, page: Page::read(context)? })
    }
}

/// A page of the audit log, and `?actor=`, `?user=`, `?kind=`, `?from=`, `?to=`.
pub(crate) struct AuditQuery {
    pub(crate) filter: AuditFilter,
    pub(crate) page: Page,
}

impl Input for AuditQuery {
    fn describe(facts: &mut InputFacts, _: &mut Schemas) {
        facts.query.extend(["Limit", "Cursor", "ActorFilter", "UserFilter", "KindFilter", "From", "To"]);
    }
    fn may() -> Vec<ErrorCode> {
        Page::may()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        if parameter(context, "order")?.is_some() {
            return Err(Refusal::invalid("order", "must not be given: the newest entries come first"));
        }
        let kinds = nul_free(context, "kind")?.map(|kinds| kinds.split(',').map(str::to_owned).collect());
        let filter = AuditFilter {
            actor: nul_free(context, "actor")?,
            user: nul_free(context, "user")?,
            kinds,
            from: time(context, "from")?,
            to: time(context, "to")?,
        };
        Ok(Self { filter, page: Page::read(context)? })
    }
}

/// A text that the database can compare.
pub(super) fn nul_free(context: &Context, name: &str) -> Result<Option<String>, Refusal> {
    match parameter(context, name)? {
        Some(text) if text.contains('\0') => Err(Refusal::invalid(name, "must not contain NUL characters")),
        text => Ok(text.map(Cow::into_owned)),
    }
}

fn time(context: &Context, name: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = parameter(context, name)? else { return Ok(None) };
    let time = Timestamp::parse(&text);
    time.map(Some).ok_or_else(|| Refusal::invalid(name, "must be an ISO 8601 time such as 2026-11-20T08:21:00.123Z"))
}

/// `?after=` and `?wait=` of a question what changed.
pub(crate) struct ChangesQuery {
    /// Any text: one that is no cursor is answered, too.
    pub(crate) after: Option<String>,
    pub(crate) wait: Duration,
}

impl Input for ChangesQuery {
    fn describe(facts: &mut InputFacts, _: &mut Schemas) {
        facts.query.extend(["After", "Wait"]);
    }
    fn may() -> Vec<ErrorCode> {
        vec![ErrorCode::InvalidRequest]
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let after = parameter(context, "after")?.map(Cow::into_owned);
        if after.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(Refusal::invalid("after", "must not contain NUL characters"));
        }
        Ok(Self { after, wait: wait(context)? })
    }
}

/// `?after=`, `?limit=` and `?wait=` of a question for events.
impl Input for EventQuery {
    fn describe(facts: &mut InputFacts, _: &mut Schemas) {
        facts.query.extend(["AfterEvent", "EventLimit", "Wait"]);
    }
    fn may() -> Vec<ErrorCode> {
        vec![ErrorCode::InvalidRequest]
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let after = parameter(context, "after")?.map(|text| after_event(&text)).transpose()?;
        let limit = parameter(context, "limit")?.map_or(Some(DEFAULT_EVENTS), |text| whole_number(&text));
        let limit = limit.filter(|limit| (1..=feed::MOST).contains(limit));
        let limit = limit.ok_or_else(|| Refusal::invalid("limit", "must be a number from 1 to 1000"))?;
        Ok(Self { after, limit, wait: wait(context)? })
    }
}

/// How many events a page has, unless it is stated.
const DEFAULT_EVENTS: u32 = 100;

fn after_event(text: &str) -> Result<After, Refusal> {
    let sequence = whole_number(text).map(After::Sequence);
    let after = sequence.or_else(|| text.parse().ok().map(After::Event));
    after.ok_or_else(|| Refusal::invalid("after", "must be the sequence or the id of an event"))
}

fn wait(context: &Context) -> Result<Duration, Refusal> {
    let most = LONGEST_WAIT.as_millis() as u64;
    let wait = parameter(context, "wait")?.map_or(Some(0), |text| whole_number(&text));
    let wait = wait.filter(|wait| *wait <= most);
    let wait = wait.ok_or_else(|| Refusal::invalid("wait", format!("must be a whole number from 0 to {most}")))?;
    Ok(Duration::from_millis(wait))
}

/// A number of digits alone, without a sign.
fn whole_number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A parameter of the query.
fn parameter<'a>(context: &'a Context, wanted: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
    let mut values = form_urlencoded::parse(context.query().as_bytes()).filter(|(name, _)| name == wanted).map(|(_, value)| value);
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(Refusal::invalid(wanted, "must be given once")),
        (value, None) => Ok(value),
    }
}

/// A parameter that is one of several words.
fn one_of<T>(context: &Context, name: &str, parse: impl Fn(&str) -> Option<T>, words: &[&str]) -> Result<Option<T>, Refusal> {
    let Some(text) = parameter(context, name)? else { return Ok(None) };
    match parse(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(Refusal::invalid(name, format!("must be one of: {}", words.join(", ")))),
    }
}
