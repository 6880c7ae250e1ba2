//! The fair queue, case by case and against a model: a plain list of who waits.

mod shared;

use std::net::IpAddr;

use proptest::prelude::*;

use super::*;

/// The share of the `network`th of the client networks that the `organization`th organization has to itself.
fn share(organization: u8, network: u8) -> QueueShare {
    share_from([198, organization, network, 7], organization)
}

/// The share of this address in the `organization`th organization.
fn share_from(client: [u8; 4], organization: u8) -> QueueShare {
    let id = format!("org_{organization:026}").parse().expect("an id");
    QueueShare::new(&id, Some(IpAddr::from(client)))
}

/// One place in each of so many organizations, of one network: its jobs are the numbers of the organizations.
fn join_everywhere(queue: &mut FairQueue<u8>, network: u8, organizations: std::ops::RangeInclusive<u8>) {
    for organization in organizations {
        queue.join(&share_from([203, 0, network, 7], organization), organization).expect("there is room");
    }
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

#[test]
fn a_network_that_names_many_organizations_has_one_turn_for_them_all() {
    let mut queue = FairQueue::new(1_000);
    join_everywhere(&mut queue, 1, 1..=100);
    assert_eq!(queue.take(), Some(1), "at work when the other comes");
    queue.join(&share_from([198, 51, 100, 7], 200), 200).expect("there is room");
    assert_eq!(queue.take(), Some(200), "the next");
    join_everywhere(&mut queue, 2, 101..=199);
    assert_eq!(queue.take(), Some(2));
    queue.join(&share_from([198, 51, 100, 7], 200), 200).expect("there is room");
    queue.join(&share_from([198, 51, 101, 7], 50), 250).expect("there is room");
    let next: Vec<u8> = std::iter::from_fn(|| queue.take()).take(4).collect();
    assert!(
        next.contains(&200) && next.contains(&250),
        "one of each network goes before, also in an organization that it names: {next:?}"
    );
    assert_eq!(std::iter::from_fn(|| queue.take()).count(), 195, "and nobody is forgotten");
}

#[test]
fn however_many_networks_name_the_same_organizations_every_other_turn_is_an_organizations() {
    let mut queue = FairQueue::new(100);
    for network in [1..=10, 1..=10].into_iter().flatten() {
        join_everywhere(&mut queue, network, 1..=2);
    }
    for _ in 0..5 {
        queue.join(&share_from([198, 51, 100, 7], 200), 200).expect("there is room");
    }
    let next: Vec<u8> = std::iter::from_fn(|| queue.take()).take(10).collect();
    assert_eq!(next.iter().filter(|job| **job == 200).count(), 5, "{next:?}");
}

#[test]
fn organizations_of_one_network_take_turns_all_the_same() {
    let mut queue = FairQueue::new(10);
    for organization in [1, 1, 1, 2, 3] {
        queue.join(&share_from([203, 0, 113, 7], organization), organization).expect("there is room");
    }
    assert_eq!(std::iter::from_fn(|| queue.take()).collect::<Vec<_>>(), [1, 2, 3, 1, 1]);
}

#[test]
fn a_full_queue_takes_from_the_network_that_holds_most_in_all_organizations() {
    let mut queue = FairQueue::new(101);
    join_everywhere(&mut queue, 1, 1..=100);
    let other = |organization| share_from([198, 51, 100, 7], organization);
    queue.join(&other(200), 200).expect("there is room");
    for (organization, lost) in [(201, 100), (202, 99), (50, 98)] {
        let joined = queue.join(&other(organization), organization).expect("for one that holds less");
        assert_eq!(joined.given_up, Some(lost), "the newest of the greediest");
    }
    let again = queue.join(&share_from([203, 0, 1, 7], 150), 150).expect("for its own");
    assert_eq!(again.given_up, Some(97), "not another network's");
    assert!(queue.join(&share_from([203, 0, 1, 7], 150), 150).is_none(), "nobody holds more");
}

/// Both organizations and the network are served again and again, through other lines.
#[test]
fn a_network_of_several_organizations_is_not_passed_over_for_ever() {
    let mut queue = FairQueue::new(100);
    let own = |organization: u8| share_from([198, organization, 0, 7], organization);
    let shared = |organization: u8| share_from([203, 0, 113, 7], organization);
    for organization in 1..=3 {
        queue.join(&shared(organization), 100 + organization).expect("there is room");
    }
    let mut served = Vec::new();
    for _ in 0..5 {
        for organization in 1..=2 {
            queue.join(&own(organization), organization).expect("there is room");
        }
        queue.join(&shared(3), 103).expect("there is room");
        served.extend([queue.take(), queue.take(), queue.take()].into_iter().flatten());
    }
    for organization in 1..=3 {
        assert!(served.contains(&(100 + organization)), "{organization} waits: {served:?}");
    }
}

/// No tenant may steer what counts against other tenants' clients.
#[test]
fn a_stated_network_counts_in_its_organization_alone() {
    let mut queue = FairQueue::new(10);
    for organization in 1..=3 {
        queue.join(&share_from([203, 0, 113, 7], organization).stated(true), organization).expect("there is room");
    }
    queue.join(&share_from([203, 0, 113, 7], 4), 4).expect("there is room");
    assert_eq!(std::iter::from_fn(|| queue.take()).collect::<Vec<_>>(), [1, 2, 3, 4]);
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
