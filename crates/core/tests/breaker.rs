//! The breaker through its doors, and what must hold for every sequence of calls.

use std::time::Duration;

use proptest::prelude::*;
use sluicegate_core::{
    Breaker, BreakerRule, BreakerState, Elsewhere, ErrorClass, Failure, FailureKind, Pass, Passage,
    Timestamp,
};

const SERVER: Failure = Failure::answered(ErrorClass::Server);
const ELSEWHERE: Elsewhere = Elsewhere::Possible;
const NOWHERE: Elsewhere = Elsewhere::Impossible;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_nanos(millis * 1_000_000)
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Opens after three failures in a row, or half of ten calls in 10 s; open for 5 s.
fn rule() -> BreakerRule {
    BreakerRule {
        calls_min: 10,
        over: secs(10),
        consecutive: 3,
        open_for: secs(5),
        ..BreakerRule::default()
    }
}

fn breaker() -> Breaker {
    Breaker::new(rule())
}

fn pass(breaker: &mut Breaker, now: Timestamp) -> Pass {
    let passage = breaker.ask(ELSEWHERE, now);
    passage.into_pass().expect("it lets one through")
}

fn fail(breaker: &mut Breaker, failure: &Failure, now: Timestamp) {
    let pass = pass(breaker, now);
    breaker.failed(pass, failure, now);
}

fn serve(breaker: &mut Breaker, now: Timestamp) {
    let pass = pass(breaker, now);
    breaker.served(pass, now);
}

/// One that opened at 0 and is half open from 5 s on.
fn opened() -> Breaker {
    let mut breaker = breaker();
    for _ in 0..3 {
        fail(&mut breaker, &SERVER, at(0));
    }
    assert_eq!(breaker.state(at(4_999)), BreakerState::Open);
    breaker
}

#[test]
fn failures_in_a_row_open_it_and_a_success_between_them_does_not() {
    let mut breaker = breaker();
    for failures in [2, 2, 3] {
        assert_eq!(breaker.state(at(0)), BreakerState::Closed);
        serve(&mut breaker, at(0));
        for _ in 0..failures {
            fail(&mut breaker, &SERVER, at(0));
        }
    }
    let refused = breaker.ask(ELSEWHERE, at(1_000));
    assert_eq!(refused, Passage::NotBefore(at(5_000)));
}

#[test]
fn a_rate_is_told_by_enough_calls_of_late() {
    let rounds = |breaker: &mut Breaker, rounds, now| {
        for _ in 0..rounds {
            serve(breaker, now);
            fail(breaker, &SERVER, now);
        }
    };
    let mut breaker = breaker();
    rounds(&mut breaker, 4, at(0));
    // The eight are forgotten by then.
    rounds(&mut breaker, 4, at(10_000));
    assert_eq!(breaker.state(at(10_000)), BreakerState::Closed);
    rounds(&mut breaker, 1, at(10_000));
    assert_eq!(breaker.state(at(10_000)), BreakerState::Open);
}

#[test]
fn of_twenty_at_once_one_probes_and_its_success_lets_all_through() {
    let mut breaker = opened();
    let mut probes = Vec::new();
    for _ in 0..20 {
        match breaker.ask(ELSEWHERE, at(5_000)) {
            Passage::Probe(pass) => probes.push(pass),
            other => assert_eq!(other, Passage::AfterProbe),
        }
    }
    let probe = probes.pop().expect("one probes");
    assert_eq!(probes, []);
    assert_eq!(breaker.passes_from(ELSEWHERE, at(5_000)), None);
    breaker.served(probe, at(5_200));
    for _ in 0..20 {
        let passage = breaker.ask(ELSEWHERE, at(5_200));
        assert!(matches!(passage, Passage::Flows(_)));
    }
}

#[test]
fn a_failed_probe_opens_it_again_and_an_abandoned_one_makes_room() {
    let mut breaker = opened();
    let probe = pass(&mut breaker, at(5_000));
    breaker.abandoned(probe);
    fail(&mut breaker, &SERVER, at(6_000));
    let refused = breaker.ask(ELSEWHERE, at(6_000));
    assert_eq!(refused, Passage::NotBefore(at(11_000)));
    assert_eq!(breaker.state(at(11_000)), BreakerState::HalfOpen);
}

#[test]
fn it_closes_after_as_many_probes_as_the_rule_wants() {
    let mut breaker = opened();
    breaker.reconfigure(BreakerRule {
        half_open_successes: 2,
        ..rule()
    });
    let mut probe = pass(&mut breaker, at(5_000));
    breaker.answers(&mut probe, at(5_000));
    // It is one success, however it is told.
    breaker.served(probe, at(5_000));
    assert_eq!(breaker.state(at(5_000)), BreakerState::HalfOpen);
    serve(&mut breaker, at(5_000));
    assert_eq!(breaker.state(at(5_000)), BreakerState::Closed);
}

#[test]
fn a_probe_has_found_out_with_its_first_content() {
    let mut breaker = opened();
    let mut probe = pass(&mut breaker, at(5_000));
    breaker.answers(&mut probe, at(5_500));
    assert_eq!(breaker.state(at(5_500)), BreakerState::Closed);
    let cut = Failure::of(FailureKind::CutAfterContent);
    breaker.failed(probe, &cut, at(9_000));
    fail(&mut breaker, &SERVER, at(9_000));
    assert_eq!(breaker.state(at(9_000)), BreakerState::Closed);
    fail(&mut breaker, &SERVER, at(9_000));
    assert_eq!(breaker.state(at(9_000)), BreakerState::Open);
}

#[test]
fn the_only_upstream_is_never_locked_out_but_its_hint_holds() {
    let mut breaker = opened();
    let passage = breaker.ask(NOWHERE, at(1_000));
    let through = passage.into_pass().expect("nowhere else to go");
    let hint = Failure::answered(ErrorClass::Overload).with_hint(secs(2));
    breaker.failed(through, &hint, at(1_000));
    let refused = breaker.ask(NOWHERE, at(1_500));
    assert_eq!(refused, Passage::NotBefore(at(3_000)));
    let passage = breaker.ask(NOWHERE, at(3_000));
    breaker.served(passage.into_pass().expect("it ended"), at(3_100));
    assert_eq!(breaker.state(at(3_100)), BreakerState::Closed);
}

#[test]
fn a_later_hint_that_ends_later_holds_and_no_call_is_made_until_then() {
    let mut breaker = breaker();
    let rate = |seconds| Failure::answered(ErrorClass::Rate).with_hint(secs(seconds));
    fail(&mut breaker, &rate(1), at(0));
    let late = pass(&mut breaker, at(1_000));
    fail(&mut breaker, &rate(60), at(1_100));
    breaker.failed(late, &rate(3), at(1_200));
    for millis in (1_200..61_100).step_by(100) {
        let refused = breaker.ask(NOWHERE, at(millis));
        assert_eq!(refused, Passage::NotBefore(at(61_100)));
    }
    serve(&mut breaker, at(61_100));
    assert_eq!(breaker.state(at(61_100)), BreakerState::Closed);
}

#[test]
fn of_two_that_are_left_alone_the_first_to_come_back_is_known() {
    let mut breakers = [breaker(), breaker()];
    for (breaker, seconds) in breakers.iter_mut().zip([20, 45]) {
        let failure = Failure::answered(ErrorClass::Rate).with_hint(secs(seconds));
        fail(breaker, &failure, at(0));
    }
    let passes = |breaker: &Breaker| breaker.passes_from(NOWHERE, at(5_000));
    let first = breakers.iter().filter_map(passes).min();
    assert_eq!(
        first.map(|from| from.saturating_since(at(5_000))),
        Some(secs(15))
    );
}

#[test]
fn an_account_out_of_money_is_left_alone_but_tried_where_there_is_no_other() {
    let mut breaker = breaker();
    fail(&mut breaker, &Failure::answered(ErrorClass::Billing), at(0));
    let refused = breaker.ask(ELSEWHERE, at(1_000));
    assert_eq!(refused, Passage::NotBefore(at(300_000)));
    assert!(breaker.ask(NOWHERE, at(1_000)).into_pass().is_some());
    assert!(matches!(
        breaker.ask(ELSEWHERE, at(300_000)),
        Passage::Probe(_)
    ));
}

#[test]
fn the_callers_faults_and_refusals_for_a_rate_open_nothing() {
    let mut breaker = breaker();
    for class in [
        ErrorClass::Rate,
        ErrorClass::Ramp,
        ErrorClass::Daily,
        ErrorClass::TooLargeForLimit,
        ErrorClass::Context,
        ErrorClass::Policy,
        ErrorClass::Auth,
        ErrorClass::Invalid,
    ] {
        for _ in 0..20 {
            fail(&mut breaker, &Failure::answered(class), at(0));
        }
    }
    assert_eq!(breaker.state(at(0)), BreakerState::Closed);
    assert_eq!(breaker.passes_from(ELSEWHERE, at(0)), Some(Timestamp::ZERO));
}

#[test]
fn what_began_before_the_state_changed_changes_nothing() {
    let mut breaker = breaker();
    let mut late: Vec<Pass> = (0..5).map(|_| pass(&mut breaker, at(0))).collect();
    let mut early = || late.pop().expect("five");
    for _ in 0..3 {
        fail(&mut breaker, &SERVER, at(0));
    }
    breaker.failed(early(), &SERVER, at(4_000));
    breaker.served(early(), at(4_000));
    assert_eq!(breaker.state(at(4_999)), BreakerState::Open);
    serve(&mut breaker, at(5_000));
    for _ in 0..3 {
        breaker.failed(early(), &SERVER, at(5_100));
    }
    assert_eq!(breaker.state(at(5_100)), BreakerState::Closed);
}

#[test]
fn a_hint_of_a_month_is_one_of_a_day() {
    let mut breaker = breaker();
    let month = Failure::answered(ErrorClass::Daily).with_hint(secs(30 * 86_400));
    fail(&mut breaker, &month, at(0));
    assert_eq!(breaker.held_until(at(0)), Some(at(86_400_000)));
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Ask(Elsewhere),
    End(usize, End),
}

#[derive(Clone, Copy, Debug)]
enum End {
    Served,
    Answers,
    Failed(Failure),
    Abandoned,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let hint = prop_oneof![
        Just(None),
        (0_u64..8_000).prop_map(|millis| Some(Duration::from_millis(millis)))
    ];
    let kind = prop_oneof![
        4 => Just(FailureKind::Answered(ErrorClass::Server)),
        2 => proptest::sample::select(&FailureKind::ALL[..]),
    ];
    let end = prop_oneof![
        2 => Just(End::Served),
        1 => Just(End::Answers),
        1 => Just(End::Abandoned),
        4 => (kind, hint).prop_map(|(kind, hint)| End::Failed(Failure { kind, hint })),
    ];
    let step = prop_oneof![
        2 => (0_u64..3_000).prop_map(Step::Wait),
        1 => (0_u64..60_000).prop_map(Step::Wait),
        4 => Just(Step::Ask(ELSEWHERE)),
        2 => Just(Step::Ask(NOWHERE)),
        5 => (any::<usize>(), end).prop_map(|(which, end)| Step::End(which, end)),
    ];
    prop::collection::vec(step, 1..200)
}

/// What was promised, kept without looking into the breaker: when it opened by its state, hints by what was handed in.
struct Promised {
    /// The end of the provider's hints.
    held: Timestamp,
    /// The end of what we concluded.
    open: Timestamp,
}

impl Promised {
    fn failed(&mut self, failure: &Failure, opened: bool, now: Timestamp) {
        let hint = failure.hint.filter(|hint| !hint.is_zero());
        let nothing = [
            ErrorClass::TooLargeForLimit,
            ErrorClass::Context,
            ErrorClass::Policy,
            ErrorClass::Auth,
            ErrorClass::Invalid,
        ];
        match failure.kind {
            FailureKind::Answered(ErrorClass::Billing) => {
                let end = now.saturating_add(hint.unwrap_or(secs(300)));
                self.open = self.open.max(end);
            }
            FailureKind::Answered(class) if nothing.contains(&class) => {}
            FailureKind::Misshapen => {}
            _ => {
                self.held = self.held.max(now.saturating_add(hint.unwrap_or_default()));
                if opened {
                    self.open = now.saturating_add(secs(5));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn never_two_probes_and_never_closed_for_longer_than_promised(steps in steps()) {
        let mut breaker = breaker();
        let mut now = at(1_000_000);
        let mut promised = Promised { held: Timestamp::ZERO, open: Timestamp::ZERO };
        // With whether it still probes.
        let mut out: Vec<(Pass, bool)> = Vec::new();
        for step in steps {
            match step {
                Step::Wait(millis) => now = now.saturating_add(Duration::from_millis(millis)),
                Step::Ask(elsewhere) => {
                    let foreseen = breaker.passes_from(elsewhere, now);
                    match breaker.ask(elsewhere, now) {
                        Passage::Flows(pass) => {
                            prop_assert!(foreseen.is_some_and(|from| from <= now));
                            out.push((pass, false));
                        }
                        Passage::Probe(pass) => {
                            prop_assert!(foreseen.is_some_and(|from| from <= now));
                            prop_assert!(!out.iter().any(|(_, probes)| *probes), "two probes");
                            out.push((pass, true));
                        }
                        Passage::NotBefore(from) => {
                            prop_assert!(from > now);
                            let expected = match elsewhere {
                                Elsewhere::Possible => promised.open.max(promised.held),
                                Elsewhere::Impossible => promised.held,
                            };
                            prop_assert_eq!(from, expected);
                            let mut then = breaker.clone();
                            let passage = then.ask(elsewhere, from);
                            prop_assert!(!matches!(passage, Passage::NotBefore(_)), "{:?}", passage);
                        }
                        Passage::AfterProbe => {
                            prop_assert_eq!(elsewhere, Elsewhere::Possible);
                            prop_assert!(out.iter().any(|(_, probes)| *probes), "nobody probes");
                        }
                    }
                }
                Step::End(..) if out.is_empty() => {}
                Step::End(which, end) => {
                    let which = which % out.len();
                    let before = breaker.state(now);
                    match end {
                        End::Answers => {
                            let (pass, probes) = &mut out[which];
                            breaker.answers(pass, now);
                            *probes = false;
                        }
                        End::Served => breaker.served(out.swap_remove(which).0, now),
                        End::Abandoned => breaker.abandoned(out.swap_remove(which).0),
                        End::Failed(failure) => {
                            breaker.failed(out.swap_remove(which).0, &failure, now);
                            let opened = before != BreakerState::Open
                                && breaker.state(now) == BreakerState::Open;
                            promised.failed(&failure, opened, now);
                        }
                    }
                    if breaker.state(now) == BreakerState::Closed {
                        promised.open = Timestamp::ZERO;
                    }
                }
            }
        }
    }
}
