//! The fair queue, case by case and against a model: a plain list of who waits.

use std::net::IpAddr;

use proptest::prelude::*;

use super::*;

/// The share of the `network`th client network in the `organization`th organization.
fn share(organization: u8, network: u8) -> QueueShare {
    let id = format!("org_{organization:026}").parse().expect("an id");
    QueueShare::new(&id, Some(IpAddr::from([198, 51, network, 7])))
}

/// Takes a place whose job is the share itself.
fn join(queue: &mut FairQueue<(u8, u8)>, organization: u8, network: u8) -> Option<Joined<(u8, u8)>> {
    queue.join(&share(organization, network), (organization, network))
}

fn turns(mut queue: FairQueue<(u8, u8)>) -> Vec<(u8, u8)> {
    std::iter::from_fn(|| queue.take()).collect()
}

#[test]
fn organizations_take_turns_and_in_each_its_networks() {
    let mut queue = FairQueue::new(10);
    for (organization, network) in [(1, 1), (1, 1), (1, 1), (1, 2), (2, 1), (3, 1), (3, 1)] {
        assert!(join(&mut queue, organization, network).expect("there is room").given_up.is_none());
    }
    assert_eq!(turns(queue), [(1, 1), (2, 1), (3, 1), (1, 2), (3, 1), (1, 1), (1, 1)]);
}

#[test]
fn the_newest_place_of_whoever_holds_most_goes_to_whoever_holds_less() {
    let mut queue = FairQueue::new(4);
    let tickets = [(1, 1), (1, 2), (1, 2), (2, 1)].map(|(organization, network)| {
        queue.join(&share(organization, network), (organization, network)).expect("there is room").ticket
    });
    assert!(join(&mut queue, 1, 2).is_none(), "nobody holds more than this network");
    assert_eq!(join(&mut queue, 1, 3).expect("a network that holds less").given_up, Some((1, 2)));
    assert!(queue.leave(&share(1, 2), tickets[2]).is_none(), "the newest of them went");
    assert_eq!(join(&mut queue, 3, 1).expect("an organization that holds less").given_up, Some((1, 3)), "served last of equals");
    assert_eq!(turns(queue), [(1, 1), (2, 1), (3, 1), (1, 2)]);
}

#[test]
fn who_leaves_makes_room() {
    let mut queue = FairQueue::new(1);
    let ticket = join(&mut queue, 1, 1).expect("there is room").ticket;
    assert_eq!(queue.leave(&share(1, 2), ticket), None, "not theirs");
    assert_eq!(queue.leave(&share(1, 1), ticket), Some((1, 1)));
    assert_eq!(queue.leave(&share(1, 1), ticket), None);
    assert!(join(&mut queue, 2, 1).expect("there is room again").given_up.is_none());
}

/// What may happen to a queue.
#[derive(Debug, Clone)]
enum Deed {
    Join(u8, u8),
    Take,
    /// The waiter at this place of the model leaves.
    Leave(prop::sample::Index),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        5 => (0..4u8, 0..3u8).prop_map(|(organization, network)| Deed::Join(organization, network)),
        2 => Just(Deed::Take),
        1 => any::<prop::sample::Index>().prop_map(Deed::Leave),
    ];
    prop::collection::vec(deed, 1..80)
}

/// Who waits, in the order in which they came.
#[derive(Debug, Default)]
struct Model {
    waiting: Vec<Waiter>,
    /// How often each organization was served while somebody of the other organization waited all the time.
    passed: Vec<(u8, u8)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waiter {
    organization: u8,
    network: u8,
    ticket: Ticket,
}

impl Model {
    fn held(&self, organization: u8) -> usize {
        self.waiting.iter().filter(|waiter| waiter.organization == organization).count()
    }

    fn held_in(&self, organization: u8, network: u8) -> usize {
        self.waiting.iter().filter(|waiter| (waiter.organization, waiter.network) == (organization, network)).count()
    }

    fn most(&self) -> usize {
        self.waiting.iter().map(|waiter| self.held(waiter.organization)).max().unwrap_or(0)
    }

    fn most_in(&self, organization: u8) -> usize {
        let own = self.waiting.iter().filter(|waiter| waiter.organization == organization);
        own.map(|waiter| self.held_in(organization, waiter.network)).max().unwrap_or(0)
    }

    fn remove(&mut self, gone: Waiter) {
        self.waiting.retain(|waiter| *waiter != gone);
        let waiting = &self.waiting;
        self.passed.retain(|(waits, _)| waiting.iter().any(|waiter| waiter.organization == *waits));
    }

    /// Somebody of this organization is served: every other organization that waits has been passed by it, at most once.
    fn serve(&mut self, organization: u8) {
        self.passed.retain(|(waits, _)| *waits != organization);
        let others: Vec<u8> = (0..4).filter(|other| *other != organization && self.held(*other) > 0).collect();
        for other in others {
            assert!(!self.passed.contains(&(other, organization)), "{other} waits and {organization} was served twice");
            self.passed.push((other, organization));
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_queue_is_fair(room in 1..12usize, deeds in deeds()) {
        let (mut queue, mut model) = (FairQueue::new(room), Model::default());
        for deed in deeds {
            match deed {
                Deed::Join(organization, network) => joins(&mut queue, &mut model, organization, network),
                Deed::Take => takes(&mut queue, &mut model),
                Deed::Leave(index) if !model.waiting.is_empty() => {
                    let gone = *index.get(&model.waiting);
                    let left = queue.leave(&share(gone.organization, gone.network), gone.ticket);
                    prop_assert_eq!(left, Some((gone.organization, gone.network)));
                    model.remove(gone);
                }
                Deed::Leave(_) => {}
            }
            prop_assert_eq!(queue.held(), model.waiting.len());
            prop_assert!(queue.held() <= room);
        }
    }
}

fn joins(queue: &mut FairQueue<(u8, u8)>, model: &mut Model, organization: u8, network: u8) {
    let is_full = model.waiting.len() == queue.room;
    let (most, held) = (model.most(), model.held(organization));
    let (most_in, held_in) = (model.most_in(organization), model.held_in(organization, network));
    let Some(joined) = join(queue, organization, network) else {
        assert!(is_full && held == most && held_in == most_in, "refused although somebody holds more");
        return;
    };
    assert_eq!(joined.given_up.is_some(), is_full);
    if let Some((loser, network)) = joined.given_up {
        assert_eq!(model.held(loser), most, "an organization that holds most loses");
        assert_eq!(model.held_in(loser, network), model.most_in(loser), "and in it a network that holds most");
        assert!(held < most || (loser == organization && held_in < most_in), "for one that holds less");
        let line = model.waiting.iter().filter(|waiter| (waiter.organization, waiter.network) == (loser, network));
        model.remove(*line.max_by_key(|waiter| waiter.ticket).expect("it held one"));
    }
    model.waiting.push(Waiter { organization, network, ticket: joined.ticket });
}

fn takes(queue: &mut FairQueue<(u8, u8)>, model: &mut Model) {
    let Some((organization, network)) = queue.take() else {
        assert!(model.waiting.is_empty(), "somebody waits");
        return;
    };
    model.serve(organization);
    let line = model.waiting.iter().filter(|waiter| (waiter.organization, waiter.network) == (organization, network));
    model.remove(*line.min_by_key(|waiter| waiter.ticket).expect("somebody of theirs waits"));
}
