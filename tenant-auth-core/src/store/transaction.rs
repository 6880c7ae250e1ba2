//! The unit of work: one write transaction that knows its time, its entropy and its consequences. Flows get one from
//! [`Transactions::begin`] and end it with the only [`Tx::commit`], which writes the events, commits, and reports what was committed;
//! no flow can forget to wake the worker or to count an event.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, OnceLock},
};

use zeroize::Zeroizing;

use super::{
    Change, ErasedPerson, Event, LeftWork, Store, Work,
    chain_head::ChainHead,
    change::Touched,
    deed::Done,
    engine_transaction::{Purpose, Transaction},
};
use crate::{
    audit::context::RequestContext,
    config::{Languages, MailTemplates, Product},
    error::Error,
    id::{Id, Kind, OrgId},
    model::EventKind,
    ports::{Clock, Entropy},
    sealed::{MasterKeys, SealContext},
    secret::{ApiKeyText, LinkToken, random_text},
    time::Timestamp,
    turns::Turn,
    value::Language,
};

/// Begins write transactions. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Transactions {
    store: Store,
    context: Arc<Context>,
}

/// What every transaction of a service shares.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) master_keys: Arc<MasterKeys>,
    /// Whether events keep what is known of their request.
    pub(crate) keeps_contexts: bool,
    /// The product whose mails are written.
    pub(crate) product: Product,
    /// The languages that they are written in.
    pub(crate) languages: Languages,
    /// The templates that stand in the place of ours.
    pub(crate) mail_templates: MailTemplates,
    pub(crate) follow_up: Box<dyn FollowUp>,
}

/// Acts on what a transaction committed: wakes the worker, counts the events.
pub(crate) trait FollowUp: fmt::Debug + Send + Sync {
    /// Called once for each commit, after it succeeded.
    fn committed(&self, done: &Committed);

    /// Called once, after that, for a commit that touched what somebody may remember: ready when the change may be told. `narrows`:
    /// whether it ended or narrowed a right.
    fn acknowledged(&self, narrows: bool) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// What a transaction committed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Committed {
    /// The kinds of its events, in their order.
    pub(crate) events: Vec<EventKind>,
    /// What waits for the workers now.
    pub(crate) left: LeftWork,
}

impl Transactions {
    pub(crate) fn new(store: Store, context: Context) -> Self {
        Self { store, context: Arc::new(context) }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Begins a write transaction. Dropped without [`Tx::commit`] it leaves nothing behind.
    pub(crate) async fn begin(&self) -> Result<Tx, Error> {
        self.begin_for(Purpose::Write).await
    }

    /// Begins a write transaction whose commit need not reach the disk before it is acknowledged: for what nobody misses after a power
    /// failure. Everything else holds, and the next ordinary commit brings it to the disk.
    pub(crate) async fn begin_fleeting(&self) -> Result<Tx, Error> {
        self.begin_for(Purpose::FleetingWrite).await
    }

    /// Begins a read of many statements that all see one moment. It locks nothing and writes nothing, so it is dropped in the end.
    pub(crate) async fn begin_snapshot(&self) -> Result<Tx, Error> {
        self.begin_for(Purpose::Snapshot).await
    }

    /// Begins a write of one statement, which commits by itself on PostgreSQL.
    #[cfg(feature = "postgres")]
    pub(super) async fn begin_alone(&self) -> Result<Tx, Error> {
        self.begin_for(Purpose::OneStatement).await
    }

    async fn begin_for(&self, purpose: Purpose) -> Result<Tx, Error> {
        Ok(self.wrapped(self.store.begin_for(purpose).await?))
    }

    fn wrapped(&self, transaction: Transaction) -> Tx {
        Tx {
            transaction,
            context: Arc::clone(&self.context),
            moment: OnceLock::new(),
            request: None,
            language: None,
            touched: Touched::default(),
            events: Vec::new(),
            head: None,
            erases: None,
            deeds: Vec::new(),
            left: LeftWork::default(),
            turn: None,
        }
    }
}

/// A write transaction: what it touched and what happened in it leave with its commit.
pub(crate) struct Tx {
    pub(super) transaction: Transaction,
    context: Arc<Context>,
    moment: OnceLock<Timestamp>,
    request: Option<RequestContext>,
    /// The language that its client asks for.
    language: Option<Language>,
    touched: Touched,
    pub(super) events: Vec<Event>,
    /// The head of an organization's chain that was locked with what came before the commit.
    head: Option<(OrgId, ChainHead)>,
    erases: Option<ErasedPerson>,
    /// What the transaction does to the deployment.
    pub(super) deeds: Vec<Done>,
    left: LeftWork,
    /// Held as long as the connection; after the transaction, so that both are given back in this order.
    turn: Option<Turn>,
}

impl Tx {
    /// The time of this transaction: one moment for all its writes, taken when first asked for. A flow that locks before it asks is
    /// judged by the time at which it holds the locks, not by the time at which it began to wait for them.
    pub(crate) fn now(&self) -> Timestamp {
        *self.moment.get_or_init(|| self.context.clock.now())
    }

    /// The source of randomness.
    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.context.entropy
    }

    /// The same for longer than the transaction is borrowed.
    pub(super) fn entropy_handle(&self) -> Arc<dyn Entropy> {
        Arc::clone(&self.context.entropy)
    }

    /// Keeps the turn that this transaction was begun in, until its end.
    pub(crate) fn keep(&mut self, turn: Turn) {
        self.turn = Some(turn);
    }

    /// Says which request this transaction serves: its events tell it to the admins of the request's organization (audit log).
    pub(crate) fn serve(&mut self, request: RequestContext) {
        self.language.clone_from(&request.language);
        self.request = Some(request);
    }

    /// The request that this transaction serves, where events keep it.
    pub(super) fn request(&self) -> Option<&RequestContext> {
        self.request.as_ref().filter(|_| self.keeps_contexts())
    }

    /// Whether events keep what is known of their request.
    pub(super) fn keeps_contexts(&self) -> bool {
        self.context.keeps_contexts
    }

    /// The product whose mails this transaction writes.
    pub(crate) fn product(&self) -> &Product {
        &self.context.product
    }

    /// The languages that those are written in.
    pub(crate) fn languages(&self) -> &Languages {
        &self.context.languages
    }

    /// The templates that stand in the place of ours.
    pub(crate) fn mail_templates(&self) -> &MailTemplates {
        &self.context.mail_templates
    }

    /// The language that the request asks for which this transaction serves.
    pub(crate) fn language(&self) -> Option<&Language> {
        self.language.as_ref()
    }

    /// Says which language was asked for by the request whose mail comes next, where a worker fulfils requests of many.
    pub(crate) fn ask_for(&mut self, language: Option<Language>) {
        self.language = language;
    }

    /// A new id, of this transaction's moment.
    pub(crate) fn new_id<K: Kind>(&self) -> Id<K> {
        Id::generate(self.now(), self.entropy())
    }

    /// The token of a new link: 256 random bits and the tag by which the service knows it when it is used up.
    pub(crate) fn new_link_token(&self) -> LinkToken {
        LinkToken::new(self.context.master_keys.with_tag(random_text(self.entropy())))
    }

    /// The text of a new API key: what it begins with, 256 random bits, and its tag.
    pub(crate) fn new_key_text(&self, beginning: &str) -> ApiKeyText {
        ApiKeyText::new(self.context.master_keys.with_tag(format!("{beginning}{}", random_text(self.entropy()))))
    }

    /// Seals a value for the cell it will stand in.
    ///
    /// # Errors
    /// [`Error::Internal`] when the cipher refuses it.
    pub(crate) fn seal(&self, plain: &[u8], context: SealContext<'_>) -> Result<String, Error> {
        self.context.master_keys.seal(plain, context, self.entropy())
    }

    /// Opens a value that was sealed for this cell; `None` when no master key does.
    pub(crate) fn open(&self, sealed: &str, context: SealContext<'_>) -> Option<Zeroizing<Vec<u8>>> {
        self.context.master_keys.open(sealed, context)
    }

    /// Records an event of this transaction; it is written at the commit.
    pub(crate) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Has a person erased once the events of this transaction are written: what they tell of the person goes with the rest. Each of
    /// the person's organizations must have an event, for that locks its chain.
    pub(crate) fn erase(&mut self, person: ErasedPerson) {
        self.erases = Some(person);
    }

    /// Records that the workers have this to do. Called by the repositories, never by flows.
    pub(super) fn leave(&mut self, work: Work) {
        self.left.add(work);
    }

    /// Records a change of a row, for the change log; `org` is the organization that it concerns, `None` each. Called by the
    /// repositories, never by flows.
    pub(super) fn touch(&mut self, change: Change, org: Option<&OrgId>, id: &str) {
        self.touched.add(change, org, id);
    }

    /// Keeps the head of an organization's chain, which a statement has locked. Only the commit may follow: heads are locked last, and in
    /// the order of their organizations.
    pub(super) fn hold_head(&mut self, org: &OrgId, head: ChainHead) {
        self.head = Some((org.clone(), head));
    }

    pub(super) fn holds_head(&self) -> bool {
        self.head.is_some()
    }

    /// The head of this organization's chain, where it is held.
    pub(super) fn take_head(&mut self, org: &OrgId) -> Option<ChainHead> {
        self.head.take_if(|(held, _)| held == org).map(|(_, head)| head)
    }

    /// Records a change that its own statement wrote into the change log.
    pub(super) fn touched(&mut self, change: Change) {
        self.touched.noted(change);
    }

    /// Writes the change log and the events, commits, wakes the worker and counts the events. The event sequences come last: they
    /// are the rows that transactions of several organizations share; after them come the tallies of the day, which organizations share in
    /// parts, and the one row of the deployment's own log. A change that ends or narrows a right returns once no process
    /// answers by what was before; nothing is held while that is waited for.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer. Nothing was changed then, unless it was the COMMIT itself that was
    /// not answered.
    pub(crate) async fn commit(self) -> Result<(), Error> {
        // On the heap: this is the largest part of the future of each flow that writes.
        Box::pin(self.write_and_commit()).await
    }

    async fn write_and_commit(mut self) -> Result<(), Error> {
        let (touched, narrows) = (!self.touched.is_empty(), self.touched.narrows());
        let rows = self.touched.take_rows();
        self.changes().note(&rows).await?;
        let events = std::mem::take(&mut self.events);
        let kinds = events.iter().map(Event::kind).collect();
        self.write_events(events).await?;
        if let Some(person) = self.erases.take() {
            self.erasing().run(&person).await?;
        }
        let deeds = std::mem::take(&mut self.deeds);
        self.write_deeds(deeds).await?;
        self.transaction.commit().await?;
        drop(self.turn.take());
        self.context.follow_up.committed(&Committed { events: kinds, left: self.left });
        if touched {
            self.context.follow_up.acknowledged(narrows).await;
        }
        Ok(())
    }
}
