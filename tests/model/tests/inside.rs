//! Threads of one process never give a stale answer, in no interleaving that is searched and with no reordering that the processor may
//! do; and would without any one of the rules.

use tenant_auth_model::inside::{Order, Run, is_stale_somewhere};

#[test]
fn no_thread_answers_with_what_was_before_a_change_that_was_told_of() {
    for (remembers, forgets) in [(false, false), (true, false), (false, true), (true, true)] {
        for is_found_by_id in [false, true] {
            let run = Run { remembers, is_found_by_id, forgets };
            assert!(!is_stale_somewhere(Order::default(), run), "{run:?}");
        }
    }
}

#[test]
fn every_order_is_needed() {
    let holds = Order::default();
    for (without, remembers) in [
        (Order { keeps_what_is_admitted: false, ..holds }, false),
        (Order { begins_before_it_reads: false, ..holds }, false),
        (Order { applies_before_it_counts: false, ..holds }, true),
        (Order { tells_after_the_look: false, ..holds }, true),
    ] {
        for (is_found_by_id, forgets) in [(false, false), (true, false), (false, true)] {
            let run = Run { remembers, is_found_by_id, forgets };
            assert!(is_stale_somewhere(without, run), "{without:?} in {run:?}: nothing goes wrong");
        }
    }
}
