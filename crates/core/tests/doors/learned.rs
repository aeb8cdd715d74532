//! What a provider's answers tell of how it counts, and what the next requests are charged for it.

use core::time::Duration;

use sluicegate_core::{
    Amounts, BasisPoints, Core, Headroom, Limit, Meter, Mode, Now, Outcome, Reception,
    ReservationId, Settlement, Signal, TargetId, Window,
};

use crate::{MINUTE, admitted, at, limit, one_target, policy, submit, tokens, waiting};

fn accept(core: &mut Core, answered: ReservationId, signal: Signal, now: Now) {
    let target = TargetId::new(0);
    assert!(core.observe(target, answered, Reception::Accepted, &[signal], now));
}

fn remaining(remaining: u64) -> Signal {
    Signal {
        limit: Some(1_000),
        remaining: Some(remaining),
        ..Signal::on(Meter::Tokens)
    }
}

fn used(core: &Core, now: Now) -> u64 {
    core.limit_states(now).next().expect("a limit").used
}

fn settle(core: &mut Core, reservation: ReservationId, tokens: u64, now: Now) {
    let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, tokens));
    core.settle(reservation, usage, now).expect("it is open");
}

#[test]
fn what_remainders_show_again_and_again_makes_later_charges_larger() {
    let mut core = one_target(vec![tokens(1_000)]);
    // The provider charges 110 where our rule says 100.
    for sent in 1..=9 {
        let now = at(sent * 1_000);
        let open = admitted(submit(&mut core, 0, 100, now, now));
        accept(&mut core, open, remaining(1_000 - 110 * sent), now);
        settle(&mut core, open, 100, now);
        assert_eq!(used(&core, now), 110 * sent);
    }
    // With this one a whole limit's worth was charged, of which 90 were missing.
    let now = at(60_000);
    admitted(submit(&mut core, 0, 100, now, now));
    assert_eq!(used(&core, now), 100);
    let open = admitted(submit(&mut core, 0, 100, now, now));
    assert_eq!(used(&core, now), 209);
    // What it uses is charged alike: 50 are 54.5 there.
    settle(&mut core, open, 50, now);
    assert_eq!(used(&core, now), 155);
}

#[test]
fn a_quantum_that_the_provider_tells_is_followed() {
    let sliced = Limit {
        quantum: Some(Duration::from_secs(1)),
        ..tokens(600)
    };
    let mut core = one_target(vec![sliced]);
    let open = admitted(submit(&mut core, 0, 10, at(0), at(0)));
    let (_, start) = waiting(submit(&mut core.clone(), 0, 90, at(600_000), at(10)));
    assert_eq!(start, Some(at(1_000).mono));
    let told = Signal {
        quantum: Some(Duration::from_secs(10)),
        ..Signal::on(Meter::Tokens)
    };
    accept(&mut core, open, told, at(10));
    // A hundred in any ten seconds; what was in the old quantum is in the new one from then on.
    admitted(submit(&mut core, 0, 90, at(100), at(100)));
    let (_, start) = waiting(submit(&mut core, 0, 10, at(600_000), at(100)));
    assert_eq!(start, Some(at(10_010).mono));
}

#[test]
fn a_quantum_that_nobody_expects_is_only_how_often_numbers_are_renewed() {
    let mut core = one_target(vec![tokens(600)]);
    let open = admitted(submit(&mut core, 0, 10, at(0), at(0)));
    let told = Signal {
        quantum: Some(Duration::from_secs(10)),
        ..Signal::on(Meter::Tokens)
    };
    accept(&mut core, open, told, at(10));
    admitted(submit(&mut core, 0, 590, at(10), at(10)));
}

#[test]
fn what_is_counted_as_it_is_produced_is_not_lowered_by_what_is_open() {
    // At the second answer's head so much of both is out, and the rest is to come. A provider that charges on arrival has
    // counted the second by then.
    for (settlement, out, counted) in [
        (Settlement::Produced, 0, 300),
        (Settlement::Produced, 100, 300),
        (Settlement::Usage, 100, 100),
    ] {
        let limit = Limit {
            settlement,
            ..tokens(1_000)
        };
        let mut core = one_target(vec![limit]);
        let first = admitted(submit(&mut core, 0, 200, at(0), at(0)));
        accept(&mut core, first, remaining(800), at(10));
        assert_eq!(used(&core, at(10)), 200);
        let second = admitted(submit(&mut core, 0, 100, at(20), at(20)));
        accept(&mut core, second, remaining(1_000 - out), at(30));
        assert_eq!(used(&core, at(30)), counted, "{settlement:?}, {out}");
    }
}

#[test]
fn what_ended_shorter_than_expected_comes_back_and_is_told_so() {
    let limit = Limit {
        settlement: Settlement::Produced,
        ..tokens(1_000)
    };
    let mut core = one_target(vec![limit]);
    let first = admitted(submit(&mut core, 0, 200, at(0), at(0)));
    let second = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    settle(&mut core, first, 150, at(10));
    assert_eq!(used(&core, at(10)), 250);
    accept(&mut core, second, remaining(850), at(20));
    assert_eq!(used(&core, at(20)), 250);
}

/// A limit of 1,000 of which it was learned that the provider charges a tenth more.
fn dear() -> Core {
    let mut core = one_target(vec![tokens(1_000)]);
    for sent in 1..=9 {
        let now = at(sent * 1_000);
        let open = admitted(submit(&mut core, 0, 100, now, now));
        accept(&mut core, open, remaining(1_000 - 110 * sent), now);
        settle(&mut core, open, 100, now);
    }
    let now = at(60_000);
    admitted(submit(&mut core, 0, 100, now, now));
    core
}

#[test]
fn a_request_for_all_of_a_limit_starts_whatever_was_learned() {
    let mut core = dear();
    let empty = at(120_000);
    admitted(submit(&mut core, 0, 1_000, empty, empty));
    assert_eq!(used(&core, empty), 1_090);
}

#[test]
fn a_hard_cap_forgets_what_was_learned_without_one() {
    let mut core = dear();
    let share = Headroom::Share(BasisPoints::new(5_000).expect("below the whole"));
    let capped = Limit {
        headroom: share,
        ..tokens(1_000)
    };
    let now = at(120_000);
    core.reconfigure(policy(vec![capped], &[("a", &[0])]), now);
    admitted(submit(&mut core, 0, 100, now, now));
    assert_eq!(used(&core, now), 100);
}

#[test]
fn a_limit_that_charges_otherwise_forgets_what_was_learned_of_it() {
    let kept = Limit {
        settlement: Settlement::Keep,
        ..tokens(1_000)
    };
    let charging = |limit: Limit| {
        let mut core = dear();
        let now = at(60_000);
        core.reconfigure(policy(vec![limit], &[("a", &[0])]), now);
        let before = used(&core, now);
        admitted(submit(&mut core, 0, 100, now, now));
        (before, used(&core, now) - before)
    };
    assert_eq!(charging(tokens(1_000)), (100, 109));
    assert_eq!(charging(kept), (100, 100));
}

#[test]
fn a_limit_that_is_only_watched_does_not_keep_the_other_from_being_told() {
    let watched = Limit {
        name: "watched".into(),
        mode: Mode::Shadow,
        ..tokens(2_000)
    };
    let mut core = one_target(vec![tokens(1_000), watched]);
    let open = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let told = Signal {
        per: Some(Duration::from_secs(60)),
        ..remaining(400)
    };
    accept(&mut core, open, told, at(10));
    let states: Vec<u64> = core.limit_states(at(10)).map(|state| state.used).collect();
    assert_eq!(states, [600, 100]);
}

/// Refused with that reset, and nothing left of `limit`.
fn nothing_left(core: &mut Core, answered: ReservationId, limit: u64, reset: u64, now: Now) {
    let full = Signal {
        limit: Some(limit),
        remaining: Some(0),
        reset: Some(Duration::from_secs(reset)),
        closed_for: Some(Duration::from_secs(1)),
        ..Signal::on(Meter::Tokens)
    };
    let target = TargetId::new(0);
    assert!(core.observe(target, answered, Reception::Refused, &[full], now));
    core.settle(answered, Outcome::Failed, now)
        .expect("it is open");
}

#[test]
fn a_bucket_that_was_cut_while_it_was_full_is_in_debt_until_it_is_whole_again() {
    let bucket = Limit {
        window: Window::Bucket { per: MINUTE },
        ..tokens(1_000)
    };
    // The first says only that it is full, and lets 50 in after a second; no debt is deeper than what the whole limit held.
    for (reset, there) in [(60, 501), (90, 750), (3_600, 1_000)] {
        let mut core = one_target(vec![bucket.clone()]);
        let open = admitted(submit(&mut core, 0, 900, at(0), at(0)));
        accept(&mut core, open, remaining(100), at(10));
        let refused = admitted(submit(&mut core, 0, 50, at(20), at(20)));
        nothing_left(&mut core, refused, 500, reset, at(20));
        assert_eq!(used(&core, at(20)), there, "{reset}");
    }
}

#[test]
fn what_others_took_of_a_window_is_not_counted_where_only_a_refusal_tells_it() {
    let mut core = one_target(vec![tokens(1_000)]);
    admitted(submit(&mut core, 0, 500, at(0), at(0)));
    let refused = admitted(submit(&mut core, 0, 100, at(20), at(20)));
    nothing_left(&mut core, refused, 1_000, 0, at(30));
    assert_eq!(used(&core, at(30)), 600);
}

#[test]
fn what_others_took_of_a_minute_is_left_free_of_a_second_too() {
    let requests =
        |amount, per| limit("requests", Meter::Requests, amount, Window::Sliding { per });
    let second = Limit {
        name: "rps".into(),
        ..requests(20, Duration::from_secs(1))
    };
    let mut core = one_target(vec![requests(1_200, MINUTE), second]);
    // Others take 60 in ten seconds, of which the answers to ours tell.
    for sent in 1..=10 {
        let now = at(1_000 * sent);
        let open = admitted(submit(&mut core, 0, 1, now, now));
        let told = Signal {
            limit: Some(1_200),
            remaining: Some(1_200 - 7 * sent),
            ..Signal::on(Meter::Requests)
        };
        accept(&mut core, open, told, now);
    }
    // 60 in a span of 15 s are four a second; one of the twenty is in use.
    for _ in 0..15 {
        admitted(submit(&mut core, 0, 1, at(10_500), at(10_500)));
    }
    waiting(submit(&mut core, 0, 1, at(600_000), at(10_500)));
}
