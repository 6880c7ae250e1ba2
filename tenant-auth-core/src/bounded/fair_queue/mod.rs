//! A fair queue: bounded, served in turn (round robin) by organization and in an organization by client network, first come first
//! served in a network. No tenant and no client network keeps the others waiting with many jobs, nor out: when the queue is full,
//! whoever holds most gives up its newest place for a newcomer that holds less.
//!
//! Looking for a share or for the largest holder reads the whole queue at worst: some thousand entries, against the milliseconds
//! that each job takes.

use std::collections::VecDeque;

use ipnet::IpNet;

use crate::{bounded::share::QueueShare, id::OrgId};

/// The queue of jobs `J`. Whoever stands first in each line is served next.
pub(super) struct FairQueue<J> {
    room: usize,
    held: usize,
    last: Ticket,
    organizations: VecDeque<Organization<J>>,
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
    of: Option<IpNet>,
    places: VecDeque<Place<J>>,
}

struct Place<J> {
    ticket: Ticket,
    job: J,
}

impl<J> FairQueue<J> {
    /// An empty queue with room for so many jobs.
    pub(super) fn new(room: usize) -> Self {
        Self { room, held: 0, last: Ticket(0), organizations: VecDeque::new() }
    }

    /// How many jobs wait.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Takes a place at the end of the share's line. `None` when the queue is full and nobody holds more than the newcomer.
    pub(super) fn join(&mut self, share: &QueueShare, job: J) -> Option<Joined<J>> {
        let given_up = if self.held < self.room { None } else { Some(self.give_up_for(share)?) };
        self.last.0 += 1;
        let ticket = self.last;
        let organization = self.organization(share.organization());
        organization.held += 1;
        organization.network(share.network()).places.push_back(Place { ticket, job });
        self.held += 1;
        Some(Joined { ticket, given_up })
    }

    /// Takes the job whose turn it is.
    pub(super) fn take(&mut self) -> Option<J> {
        let mut organization = self.organizations.pop_front()?;
        let mut network = organization.networks.pop_front()?;
        let place = network.places.pop_front()?;
        if !network.places.is_empty() {
            organization.networks.push_back(network);
        }
        organization.held -= 1;
        self.held -= 1;
        if organization.held > 0 {
            self.organizations.push_back(organization);
        }
        Some(place.job)
    }

    /// Takes a job out before its turn. `None` when it has no place any more.
    pub(super) fn leave(&mut self, share: &QueueShare, ticket: Ticket) -> Option<J> {
        let organization = self.organizations.iter().position(|organization| organization.id == *share.organization())?;
        let networks = &self.organizations[organization].networks;
        let network = networks.iter().position(|network| network.of == share.network())?;
        let place = networks[network].places.iter().position(|place| place.ticket == ticket)?;
        self.remove(organization, network, place)
    }

    /// The newest place of whoever holds most: of the organization, and in it of the network. Where several hold as many, the one
    /// that would be served last. A newcomer competes with the networks of its own organization once no organization holds more.
    fn give_up_for(&mut self, share: &QueueShare) -> Option<J> {
        let (largest, most) = largest(self.organizations.iter().map(|organization| organization.held))?;
        let own = self.organizations.iter().position(|organization| organization.id == *share.organization());
        let own = own.filter(|own| self.organizations[*own].held == most);
        let loser = own.unwrap_or(largest);
        let networks = &self.organizations[loser].networks;
        let (network, most) = largest_of(networks)?;
        let held = networks.iter().find(|network| network.of == share.network()).map_or(0, |network| network.places.len());
        if own.is_some() && held >= most {
            return None;
        }
        self.remove(loser, network, most - 1)
    }

    fn remove(&mut self, organization: usize, network: usize, place: usize) -> Option<J> {
        let losing = self.organizations.get_mut(organization)?;
        let line = losing.networks.get_mut(network)?;
        let removed = line.places.remove(place)?;
        if line.places.is_empty() {
            losing.networks.remove(network);
        }
        losing.held -= 1;
        if losing.held == 0 {
            self.organizations.remove(organization);
        }
        self.held -= 1;
        Some(removed.job)
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
    fn network(&mut self, of: Option<IpNet>) -> &mut Network<J> {
        let index = self.networks.iter().position(|network| network.of == of).unwrap_or_else(|| {
            self.networks.push_back(Network { of, places: VecDeque::new() });
            self.networks.len() - 1
        });
        &mut self.networks[index]
    }
}

/// The network that holds most, and how many places.
fn largest_of<J>(networks: &VecDeque<Network<J>>) -> Option<(usize, usize)> {
    largest(networks.iter().map(|network| network.places.len()))
}

/// The index of the largest number, and the number; of several equal ones the last.
fn largest(numbers: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    numbers.enumerate().max_by_key(|(_, number)| *number)
}

#[cfg(test)]
mod tests;
