//! The protocol holds as it is, and not without any one of its rules.

use tenant_auth_model::{Deployment, Rules, search};

use Deployment::{LateStart, LockHolder, OtherProcess, SameProcess, Successor};

#[test]
fn no_answer_is_stale_wherever_the_change_was_made() {
    for deployment in [OtherProcess, SameProcess, LateStart, LockHolder, Successor] {
        let outcome = search(&Rules::default(), deployment);
        println!("{deployment:?}: {} states", outcome.states);
        assert!(outcome.states > 1_000, "{deployment:?}: the search is cut short");
        assert_eq!(outcome.violation, None, "{deployment:?}");
    }
}

macro_rules! needed {
    ($($rule:ident in $deployment:ident,)*) => {
        #[test]
        fn every_rule_is_needed() {
            $(
                let outcome = search(&Rules { $rule: false, ..Rules::default() }, $deployment);
                let story = outcome.violation.expect(concat!("without ", stringify!($rule), " nothing goes wrong"));
                println!("without {}:\n    {}", stringify!($rule), story.join("\n    "));
            )*
            // Names every field, so that a new rule does not compile until it stands in the list above.
            let Rules { $($rule: _,)* } = Rules::default();
        }
    };
}

needed! {
    age_from_begin in OtherProcess,
    looks_serve_earlier_requests_only in OtherProcess,
    named_reads_are_discarded in OtherProcess,
    looks_by_visibility in OtherProcess,
    incarnation_is_compared in OtherProcess,
    writers_wait in OtherProcess,
    largest_freshness in OtherProcess,
    wait_from_commit in OtherProcess,
    freshness_read_after_commit in LateStart,
    announced_before_use in LateStart,
    own_look in LockHolder,
    own_changes_are_seen in SameProcess,
    repeated_requests_wait in OtherProcess,
    events_wait in OtherProcess,
    failed_looks_count_as_none in OtherProcess,
    successors_wait in Successor,
}
