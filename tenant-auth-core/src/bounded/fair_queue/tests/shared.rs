//! Networks that wait in several organizations: whoever else comes and goes, nobody waits for ever.

use std::collections::HashSet;

use super::*;

/// The organizations and the networks that wait in them, each in all.
const SHARED: (u8, u8) = (4, 3);

/// The job is the line that it stands in.
fn in_shared(organization: u8, network: u8) -> (QueueShare, (u8, u8)) {
    (share_from([203, 0, network, 7], organization), (organization, network))
}

/// Checks that what is counted is what waits.
fn assert_counted(queue: &FairQueue<(u8, u8)>) {
    let mut networks: HashMap<IpNet, (usize, usize)> = HashMap::new();
    for organization in &queue.organizations {
        let held: usize = organization.networks.iter().map(|line| line.places.len()).sum();
        assert!(held > 0 && held == organization.held);
        for line in &organization.networks {
            assert!(!line.places.is_empty(), "no line is empty");
            let of_network = networks.entry(line.of.in_all().expect("nobody stated it")).or_default();
            *of_network = (of_network.0 + line.places.len(), of_network.1 + 1);
        }
    }
    assert_eq!(queue.held, queue.organizations.iter().map(|organization| organization.held).sum::<usize>());
    assert_eq!(queue.shared, networks.values().filter(|(_, lines)| *lines > 1).count());
    let counted: HashMap<IpNet, (usize, usize)> =
        queue.networks.iter().map(|(network, held)| (*network, (held.places, held.lines))).collect();
    assert_eq!(counted, networks);
}

proptest! {
    /// A line waits for twice as many turns at most as there are organizations, once for each line of the queue.
    #[test]
    fn whatever_is_shared_nobody_waits_for_ever(room in 2..14usize, deeds in prop::collection::vec(shared_deed(), 1..400)) {
        let mut queue = FairQueue::new(room);
        let mut tickets: Vec<(Ticket, (u8, u8))> = Vec::new();
        let mut passed: HashMap<(u8, u8), usize> = HashMap::new();
        for deed in deeds {
            match deed {
                Deed::Join(organization, network) => {
                    let (share, job) = in_shared(organization, network);
                    if let Some(joined) = queue.join(&share, job) {
                        tickets.push((joined.ticket, job));
                    }
                }
                Deed::Take => {
                    if let Some(served) = queue.take() {
                        passed.values_mut().for_each(|turns| *turns += 1);
                        passed.remove(&served);
                    }
                }
                Deed::Leave(index) if !tickets.is_empty() => {
                    let (ticket, job) = *index.get(&tickets);
                    queue.leave(&in_shared(job.0, job.1).0, ticket);
                }
                Deed::Leave(_) => {}
            }
            assert_counted(&queue);
            let lines = queue.organizations.iter().flat_map(|organization| &organization.networks);
            let waiting: HashSet<(u8, u8)> = lines.filter_map(|line| line.places.front()).map(|place| place.job).collect();
            passed.retain(|line, _| waiting.contains(line));
            for line in waiting {
                passed.entry(line).or_insert(0);
            }
            let most = usize::from(2 * SHARED.0 * SHARED.0 * SHARED.1);
            prop_assert!(passed.values().all(|turns| *turns < most), "{:?}", passed);
        }
    }
}

fn shared_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        5 => (0..SHARED.0, 0..SHARED.1).prop_map(|(organization, network)| Deed::Join(organization, network)),
        4 => Just(Deed::Take),
        1 => any::<prop::sample::Index>().prop_map(Deed::Leave),
    ]
}
