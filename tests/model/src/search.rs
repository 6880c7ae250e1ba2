//! The search: breadth first, so that the first violation found has the shortest story.

use std::collections::{HashMap, VecDeque};

use crate::{
    rules::{Deployment, Rules},
    state::State,
    steps::{Step, first, steps},
};

/// What the search came to.
#[derive(Debug)]
pub struct Outcome {
    /// How many states there are.
    pub states: usize,
    /// The steps that lead to a stale answer, when there is one.
    pub violation: Option<Vec<&'static str>>,
}

/// Walks every interleaving.
pub fn search(rules: &Rules, deployment: Deployment) -> Outcome {
    let start = first(deployment);
    let mut from: HashMap<State, Option<(State, &'static str)>> = HashMap::from([(start, None)]);
    let mut waiting = VecDeque::from([start]);
    while let Some(state) = waiting.pop_front() {
        for step in steps(&state, rules, deployment) {
            match step {
                Step::Stale(name) => {
                    let mut story = vec![name];
                    let mut at = state;
                    while let Some(Some((before, name))) = from.get(&at) {
                        story.push(name);
                        at = *before;
                    }
                    story.reverse();
                    return Outcome { states: from.len(), violation: Some(story) };
                }
                Step::To(name, next) => {
                    let next = next.canonical();
                    from.entry(next).or_insert_with(|| {
                        waiting.push_back(next);
                        Some((state, name))
                    });
                }
            }
        }
    }
    Outcome { states: from.len(), violation: None }
}
