//! A fair queue: bounded, served in turn (round robin) by organization and in an organization by client network, first come first
//! served in a network. A network that waits in many organizations has one turn for them all, or whoever names many slugs would have as
//! many turns: a turn of its own in place of theirs, which goes to the organization where it has waited longest. No tenant and no client
//! network keeps the others waiting with many jobs, nor out: when the queue is full, whoever holds most gives up its newest place for a
//! newcomer that holds less.
//!
//! Nobody starves: organizations and such networks have every other turn while both wait, each time whoever of them has waited longest and
//! then waits behind the others, as what it serves does. An organization waits for twice as many jobs at most as there are organizations.
//!
//! The next turn is found at once while no network waits in two organizations. Otherwise, and where a share or the largest holder is
//! looked for, the whole queue is read at worst: some thousand entries, against the milliseconds that each job takes.

use std::collections::{HashMap, VecDeque};

use ipnet::IpNet;

use crate::{
    bounded::share::{Origin, QueueShare},
    id::OrgId,
};

/// The queue of jobs `J`. Whoever stands first in each line is served next.
pub(super) struct FairQueue<J> {
    room: usize,
    held: usize,
    last: Ticket,
    /// How many turns there have been.
    turns: u64,
    /// Whether the last turn was a network's of several organizations.
    was_of_network: bool,
    /// In the order of their last turns, or of those that were when they came.
    organizations: VecDeque<Organization<J>>,
    /// What networks hold in all organizations together.
    networks: HashMap<IpNet, Held>,
    /// How many of these wait in more than one organization.
    shared: usize,
}

/// What a network holds in all organizations, while it holds any.
#[derive(Debug)]
struct Held {
    places: usize,
    /// In how many organizations.
    lines: usize,
    /// The turn since which it waits: its last one in whichever organization, or the one that was when it came.
    since: u64,
}

/// The number of a place. No two places have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// What came of joining a queue that had room, or made some.
#[derive(Debug)]
pub(super) struct Joined<J> {
    pub(super) ticket: Ticket,
    /// The job that lost its place.
    pub(super) given_up: Option<J>,
}

struct Organization<J> {
    id: OrgId,
    held: usize,
    networks: VecDeque<Network<J>>,
}

struct Network<J> {
    of: Origin,
    /// The turn since which it waits in this organization. The networks of an organization stand in this order.
    since: u64,
    places: VecDeque<Place<J>>,
}

/// The places of a network in an organization, as they are weighed against others'.
#[derive(Debug, Clone, Copy)]
struct Line {
    of: Origin,
    /// Since which turn it waits.
    since: u64,
    held: usize,
}

/// Whose turn it could be.
#[derive(Debug, Clone, Copy)]
struct Next {
    /// Whether it is a network's of several organizations, and no organization's.
    is_of_network: bool,
    organization: usize,
    network: usize,
}

struct Place<J> {
    ticket: Ticket,
    job: J,
}

impl<J> FairQueue<J> {
    /// An empty queue with room for so many jobs.
    pub(super) fn new(room: usize) -> Self {
        let (last, organizations, networks) = (Ticket(0), VecDeque::new(), HashMap::new());
        Self { room, held: 0, last, turns: 0, was_of_network: false, organizations, networks, shared: 0 }
    }

    /// How many jobs wait.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Takes a place at the end of the share's line. `None` when the queue is full and nobody holds more than the newcomer.
    pub(super) fn join(&mut self, share: &QueueShare, job: J) -> Option<Joined<J>> {
        let given_up = if self.held < self.room { None } else { Some(self.give_up_for(share)?) };
        self.last.0 += 1;
        let (ticket, turns) = (self.last, self.turns);
        let organization = self.organization(share.organization());
        organization.held += 1;
        let line = organization.network(share.origin(), turns);
        let is_new = line.places.is_empty();
        line.places.push_back(Place { ticket, job });
        self.held += 1;
        if let Some(network) = share.origin().in_all() {
            let held = self.networks.entry(network).or_insert(Held { places: 0, lines: 0, since: turns });
            held.places += 1;
            if is_new {
                held.lines += 1;
                self.shared += usize::from(held.lines == 2);
            }
        }
        Some(Joined { ticket, given_up })
    }

    /// Takes the job whose turn it is.
    pub(super) fn take(&mut self) -> Option<J> {
        let next = match (self.of_organization(), self.of_network()) {
            (Some(organization), Some(_)) if self.was_of_network => organization,
            (organization, network) => network.or(organization)?,
        };
        self.was_of_network = next.is_of_network;
        self.turns += 1;
        let organization = self.organizations.get_mut(next.organization)?;
        let mut line = organization.networks.remove(next.network)?;
        let (of, place) = (line.of, line.places.pop_front()?);
        let is_over = line.places.is_empty();
        if !is_over {
            line.since = self.turns;
            organization.networks.push_back(line);
        }
        organization.held -= 1;
        if organization.held == 0 {
            self.organizations.remove(next.organization);
        } else if !next.is_of_network {
            let organization = self.organizations.remove(next.organization)?;
            self.organizations.push_back(organization);
        }
        self.gone(of, is_over);
        if let Some(held) = of.in_all().and_then(|network| self.networks.get_mut(&network)) {
            held.since = self.turns;
        }
        Some(place.job)
    }

    /// The turn of the organization that has waited longest, and in it of the network that has, of those that are in no other.
    fn of_organization(&self) -> Option<Next> {
        self.organizations.iter().enumerate().find_map(|(organization, Organization { networks, .. })| {
            let network = networks.iter().position(|network| !self.is_shared(network.of))?;
            Some(Next { is_of_network: false, organization, network })
        })
    }

    /// The turn of the network of several organizations that has waited longest, or holds least of those that have waited as long: where
    /// it has waited longest.
    fn of_network(&self) -> Option<Next> {
        if self.shared == 0 {
            return None;
        }
        let shared = self.lines().filter(|(line, ..)| self.is_shared(line.of));
        let (_, organization, network) = shared.min_by_key(|(line, ..)| {
            let in_all = self.held_by(line.of);
            (in_all.since, in_all.places, line.since)
        })?;
        Some(Next { is_of_network: true, organization, network })
    }

    /// Whether a network waits in several organizations.
    fn is_shared(&self, origin: Origin) -> bool {
        self.shared > 0 && self.held_by(origin).lines > 1
    }

    fn held_by(&self, origin: Origin) -> &Held {
        const NONE: &Held = &Held { places: 0, lines: 0, since: 0 };
        origin.in_all().and_then(|network| self.networks.get(&network)).unwrap_or(NONE)
    }

    /// All lines, in the order of their organizations' turns and of their own in each, with the indexes of both.
    fn lines(&self) -> impl Iterator<Item = (Line, usize, usize)> {
        self.organizations.iter().enumerate().flat_map(|(organization, Organization { networks, .. })| {
            networks.iter().enumerate().map(move |(index, Network { of, since, places })| {
                (Line { of: *of, since: *since, held: places.len() }, organization, index)
            })
        })
    }

    /// Takes a job out before its turn. `None` when it has no place any more.
    pub(super) fn leave(&mut self, share: &QueueShare, ticket: Ticket) -> Option<J> {
        let organization = self.organizations.iter().position(|organization| organization.id == *share.organization())?;
        let networks = &self.organizations[organization].networks;
        let network = networks.iter().position(|network| network.of == share.origin())?;
        let place = networks[network].places.iter().position(|place| place.ticket == ticket)?;
        self.remove(organization, network, place)
    }

    /// The newest place of whoever holds most: of the organization, and in it of the network; or of the network that holds more in all
    /// organizations, and of these in the one where it holds most. Where several hold as many, the one that would be served last. A newcomer
    /// competes with its own network, or with the networks of its own organization, once nobody holds more.
    fn give_up_for(&mut self, share: &QueueShare) -> Option<J> {
        let (greediest, most) = largest(self.organizations.iter().map(|organization| organization.held))?;
        let own_network = self.held_by(share.origin()).places;
        let of_network = self.networks.values().map(|held| held.places).max().unwrap_or(0);
        if own_network >= most.max(of_network) || of_network > most {
            return self.give_up_of_network(share, of_network);
        }
        let own = self.organizations.iter().position(|organization| organization.id == *share.organization());
        let own = own.filter(|own| self.organizations[*own].held == most);
        let loser = own.unwrap_or(greediest);
        let networks = &self.organizations[loser].networks;
        let (network, most) = largest(networks.iter().map(|network| network.places.len()))?;
        let held = networks.iter().find(|network| network.of == share.origin()).map_or(0, |network| network.places.len());
        if own.is_some() && held >= most {
            return None;
        }
        self.remove(loser, network, most - 1)
    }

    /// The newest place of a network that holds so many in all organizations: of the newcomer's own, where that does.
    fn give_up_of_network(&mut self, share: &QueueShare, most: usize) -> Option<J> {
        let own = share.origin();
        let is_own = self.held_by(own).places == most;
        let losing = |line: &Line| if is_own { line.of == own } else { self.held_by(line.of).places == most };
        let (line, organization, network) = self.lines().filter(|(line, ..)| losing(line)).max_by_key(|(line, ..)| line.held)?;
        let here = self.lines().find(|(line, at, _)| line.of == own && self.organizations[*at].id == *share.organization());
        if is_own && here.is_some_and(|(here, ..)| here.held >= line.held) {
            return None;
        }
        self.remove(organization, network, line.held - 1)
    }

    fn remove(&mut self, organization: usize, network: usize, place: usize) -> Option<J> {
        let losing = self.organizations.get_mut(organization)?;
        let line = losing.networks.get_mut(network)?;
        let (of, removed) = (line.of, line.places.remove(place)?);
        let is_over = line.places.is_empty();
        if is_over {
            losing.networks.remove(network);
        }
        losing.held -= 1;
        if losing.held == 0 {
            self.organizations.remove(organization);
        }
        self.gone(of, is_over);
        Some(removed.job)
    }

    /// A place is held no more, and with `is_over` the line no more.
    fn gone(&mut self, of: Origin, is_over: bool) {
        self.held -= 1;
        let Some(network) = of.in_all() else { return };
        if let Some(held) = self.networks.get_mut(&network) {
            held.places -= 1;
            if is_over {
                held.lines -= 1;
                self.shared -= usize::from(held.lines == 1);
            }
            if held.places == 0 {
                self.networks.remove(&network);
            }
        }
    }

    fn organization(&mut self, id: &OrgId) -> &mut Organization<J> {
        let index = self.organizations.iter().position(|organization| organization.id == *id).unwrap_or_else(|| {
            self.organizations.push_back(Organization { id: id.clone(), held: 0, networks: VecDeque::new() });
            self.organizations.len() - 1
        });
        &mut self.organizations[index]
    }
}

impl<J> Organization<J> {
    /// The line of a network, a new one from this turn on.
    fn network(&mut self, of: Origin, turn: u64) -> &mut Network<J> {
        let index = self.networks.iter().position(|network| network.of == of).unwrap_or_else(|| {
            self.networks.push_back(Network { of, since: turn, places: VecDeque::new() });
            self.networks.len() - 1
        });
        &mut self.networks[index]
    }
}

/// The index of the largest number, and the number; of several equal ones the last.
fn largest(numbers: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    numbers.enumerate().max_by_key(|(_, number)| *number)
}

#[cfg(test)]
mod tests;
