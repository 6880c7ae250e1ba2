//! Whether the time of a failed login tells an unknown address from a wrong password.

use std::time::Instant;

use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    Failure,
    load::Connection,
    report::Report,
    stage::{People, Stage, requests},
    statistics::{median, millis},
};

/// Of each kind.
const GUESSES: usize = 200;

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("failed logins, unknown address and wrong password in turn");
    for engine in stage.engines() {
        let people = stage.few(engine).await?;
        let served = stage.serve(&people.database)?;
        let connection = Connection::open(served.target.address).await?;
        let (unknown, wrong) = medians(connection, &people).await?;
        let difference = unknown - wrong;
        report.note(&format!(
            "{engine}: unknown {unknown:.3} ms, wrong {wrong:.3} ms, difference {:+.0} µs ({:+.2} %), medians of {GUESSES}",
            1e3 * difference,
            100.0 * difference / wrong
        ));
    }
    Ok(())
}

/// In milliseconds: of unknown addresses, and of wrong passwords.
async fn medians(mut connection: Connection, people: &People) -> Result<(f64, f64), Failure> {
    let mut chance = StdRng::seed_from_u64(1);
    let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
    for pair in 0..GUESSES {
        // Every guess from an address of its own, since too many from one are refused without a hash. Which kind comes first is
        // chance: the second of a pair finds the server's caches as the first left them.
        let [one, other] = [2 * pair, 2 * pair + 1].map(requests::client);
        if chance.random_bool(0.5) {
            unknown.push(timed(&mut connection, &people.unknown_login(pair, &one)).await?);
            wrong.push(timed(&mut connection, &people.wrong_login(pair, &other)).await?);
        } else {
            wrong.push(timed(&mut connection, &people.wrong_login(pair, &one)).await?);
            unknown.push(timed(&mut connection, &people.unknown_login(pair, &other)).await?);
        }
    }
    Ok((median(unknown), median(wrong)))
}

/// How long the refusal took, in milliseconds.
async fn timed(connection: &mut Connection, request: &[u8]) -> Result<f64, Failure> {
    let started = Instant::now();
    let answer = connection.exchange(request).await?;
    let taken = started.elapsed();
    if !answer.head.starts_with("HTTP/1.1 401 ") {
        return Err(format!("a wrong login was not refused:\n{}{}", answer.head, answer.body).into());
    }
    Ok(millis(taken))
}
