//! A login against the hash inside it: as a whole, and, because a hash varies by more than what is looked for here, also with the
//! hash taken out. The first knows what hashing does to everything around it, the second does not waver.

use std::time::{Duration, Instant};

use crate::{
    Failure,
    child::Child,
    cpu::Watched,
    load::{Load, Logins, Round},
    report::{Goal, Report},
    roles::{HashingTold, Role},
    stage::{Engine, PASSWORD, Served, Stage},
    statistics::{median, ratio},
};

/// More would only wait for the hash.
const CONNECTIONS: usize = 4;
/// What lasts one round elsewhere is cut into this many here: the goals are narrow, and a hash costs more or less from one second
/// to the next, with whatever else uses the memory.
const SLICES: u32 = 8;

/// The process that hashes and does nothing else.
struct Hashing {
    child: Child,
    times: u32,
    rounds: Vec<Round>,
}

/// The service on one database, with the hash and without.
struct Subject {
    engine: Engine,
    whole: Load<Logins>,
    rest: Load<Logins>,
    wholes: Vec<Round>,
    rests: Vec<Round>,
    _served: [Served; 2],
}

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("login against the bare hash, Argon2id m=19456 t=2 p=1");
    let mut hashing = Hashing::start(stage).await?;
    let mut subjects = Vec::new();
    for engine in stage.engines() {
        subjects.push(Subject::start(stage, engine).await?);
    }
    for _ in 0..stage.options.rounds * SLICES as usize {
        hashing.round()?;
        for subject in &mut subjects {
            subject.wholes.push(subject.whole.round().await?);
            subject.rests.push(subject.rest.round().await?);
        }
    }
    report.micros("the bare hash", &hashing.rounds);
    let hash = median(hashing.rounds.iter().map(|round| round.micros));
    for (Subject { engine, wholes, rests, .. }, goal) in subjects.iter().zip([3.0, 6.0]) {
        report.micros(&format!("login, {engine}"), wholes);
        let above = 100.0 * (ratio(wholes, &hashing.rounds) - 1.0);
        report.ratio(&format!("login above the hash, {engine}"), above, " %", Goal::AtMost(goal));
        report.micros(&format!("login without its hash, {engine}"), rests);
        let rest = 100.0 * median(rests.iter().map(|round| round.micros)) / hash;
        report.ratio(&format!("that, of the hash, {engine}"), rest, " %", Goal::AtMost(goal));
    }
    Ok(())
}

impl Subject {
    async fn start(stage: &mut Stage, engine: Engine) -> Result<Self, Failure> {
        let people = stage.few(engine).await?;
        let served = [stage.serve(&people.database)?, stage.serve_without_hash(&people.database)?];
        let scripts = || Logins::scripts(&people.logins(), CONNECTIONS);
        let round = stage.options.round() / SLICES;
        Ok(Self {
            engine,
            whole: Load::open(served[0].target, scripts(), round).await?,
            // Shorter: these are so quick that people would come to the limit of their sessions.
            rest: Load::open(served[1].target, scripts(), round / 2).await?,
            wholes: Vec::new(),
            rests: Vec::new(),
            _served: served,
        })
    }
}

impl Hashing {
    /// Starts it, and finds out how many hashes make a round.
    async fn start(stage: &mut Stage) -> Result<Self, Failure> {
        let hash = stage.few(Engine::Sqlite).await?.password.as_str().to_owned();
        let told = HashingTold { password: PASSWORD.to_owned(), hash };
        let mut hashing = Self { child: Child::start(Role::Hashing, &told)?, times: 20, rounds: Vec::new() };
        let started = Instant::now();
        hashing.round()?;
        hashing.rounds.clear();
        let one: Duration = started.elapsed() / hashing.times;
        hashing.times = ((stage.options.round() / SLICES).as_secs_f64() / one.as_secs_f64()) as u32 + 1;
        Ok(hashing)
    }

    fn round(&mut self) -> Result<(), Failure> {
        let watched = Watched { server: self.child.id(), postmaster: None };
        let (started, before) = (Instant::now(), watched.used()?);
        self.child.tell(&self.times.to_string())?;
        let _: u32 = self.child.hear()?;
        let times = f64::from(self.times);
        let [used, _] = watched.used()?.since(&before);
        self.rounds.push(Round { micros: used / times, of_database: 0.0, rate: times / started.elapsed().as_secs_f64() });
        Ok(())
    }
}
