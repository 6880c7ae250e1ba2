//! Race conditions: requests that leave at the same moment, over many rounds. The scenario says what must hold after each round.

use std::{future::IntoFuture, sync::Arc, time::Duration};

use tokio::{sync::Barrier, task::JoinSet};

use crate::{Request, Response};

/// A barrier shared by all tasks of a round.
pub type Start = Arc<Barrier>;

/// How many rounds a race is run: 50, or what `TENANT_AUTH_RACE_ROUNDS` says.
pub fn rounds() -> usize {
    std::env::var("TENANT_AUTH_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(50)
}

/// Sends all requests at once; the answers are in the order of the requests.
pub async fn together(requests: Vec<Request>) -> Vec<Response> {
    let start: Start = Arc::new(Barrier::new(requests.len()));
    let mut racing = JoinSet::new();
    for (place, request) in requests.into_iter().enumerate() {
        let start = Arc::clone(&start);
        racing.spawn(async move {
            start.wait().await;
            (place, request.into_future().await)
        });
    }
    let mut answers = racing.join_all().await;
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The same on a machine that may be too slow: an attempt that waits too long for others is told 503, nothing was decided, and it is
/// asked again by itself.
pub async fn together_until_decided(requests: Vec<Request>) -> Vec<Response> {
    let requests: Vec<Request> = requests.into_iter().map(Request::may_fail).collect();
    let mut answers = together(requests.clone()).await;
    for (answer, request) in answers.iter_mut().zip(requests) {
        if answer.status == 503 {
            *answer = decided(request).await;
        }
    }
    answers
}

/// Asks until the answer is another one than 503, or for five seconds.
pub async fn decided(request: Request) -> Response {
    let request = request.may_fail();
    let mut answer = request.clone().await;
    for _ in 0..20 {
        if answer.status != 503 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
        answer = request.clone().await;
    }
    answer
}
