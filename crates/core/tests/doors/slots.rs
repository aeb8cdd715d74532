//! How many requests at once an upstream is given that publishes no limit: the bound against a queue in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::time::Duration;

use sluicegate_core::{
    AdaptiveSlots, Answered, Core, Decision, Event, Meter, Outcome, ReservationId, Timestamp,
    Window,
};

use crate::{at, events, limit, one_target, policy, submit, waiting};

const MILLI: u64 = 1_000_000;

/// An upstream with a number of servers and a queue that never ends, and clients who always have another call.
struct World {
    now: u64,
    /// When each server is free.
    servers: Vec<u64>,
    /// Ends of calls: when, how long it took, how many were in flight at its start, whether it was dropped.
    ends: BinaryHeap<Reverse<(u64, u64, u64, bool)>>,
    slots: AdaptiveSlots,
    /// Calls in flight above that are dropped at once.
    drops_above: u64,
    clients: u64,
    /// Milliseconds that the next call takes to serve.
    service: fn(draw: u64) -> u64,
    drawn: u64,
}

/// A second and up to a fifth less or more.
fn about_a_second(draw: u64) -> u64 {
    800 + draw % 401
}

impl World {
    fn new(servers: usize, max: u64) -> Self {
        Self {
            now: 0,
            servers: vec![0; servers],
            ends: BinaryHeap::new(),
            slots: AdaptiveSlots::new(NonZeroU64::new(max).expect("above zero")),
            drops_above: u64::MAX,
            clients: u64::MAX,
            service: about_a_second,
            drawn: 1,
        }
    }

    fn draw(&mut self) -> u64 {
        self.drawn = self
            .drawn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.drawn >> 33
    }

    fn start(&mut self) {
        let in_flight = self.ends.len() as u64 + 1;
        if in_flight > self.drops_above {
            let end = self.now + 10 * MILLI;
            self.ends.push(Reverse((end, 10 * MILLI, in_flight, true)));
            return;
        }
        let draw = self.draw();
        let service = (self.service)(draw) * MILLI;
        let free = self.servers.iter_mut().min().expect("a server");
        let end = self.now.max(*free) + service;
        *free = end;
        let took = end - self.now;
        self.ends.push(Reverse((end, took, in_flight, false)));
    }

    /// Goes on for `calls` answers; the least and the greatest bound meanwhile.
    fn run(&mut self, calls: usize) -> (u64, u64) {
        let (mut least, mut most) = (u64::MAX, 0);
        for _ in 0..calls {
            while (self.ends.len() as u64) < self.slots.bound().min(self.clients) {
                self.start();
            }
            let Reverse((end, took, in_flight, dropped)) = self.ends.pop().expect("in flight");
            self.now = end;
            let took = Duration::from_nanos(took);
            let answered = if dropped {
                Answered::Dropped(took)
            } else {
                Answered::Served(took)
            };
            self.slots
                .answered(answered, in_flight, Timestamp::from_nanos(end));
            let bound = self.slots.bound();
            (least, most) = (least.min(bound), most.max(bound));
        }
        (least, most)
    }

    /// Calls that are served in a second, over the next `calls`.
    fn per_second(&mut self, calls: usize) -> f64 {
        let began = self.now;
        self.run(calls);
        calls as f64 * 1e9 / (self.now - began) as f64
    }
}

fn new(max: u64) -> AdaptiveSlots {
    AdaptiveSlots::new(NonZeroU64::new(max).expect("above zero"))
}

#[test]
fn it_converges_falls_with_the_upstream_and_recovers() {
    let mut world = World::new(16, 256);
    let (_, most) = world.run(500);
    assert!(most <= 64, "{most} at first");
    let settled = |world: &mut World| {
        world.run(500);
        world.run(200)
    };
    let (_, most) = settled(&mut world);
    assert!((17..=32).contains(&most), "{most} for 16 servers");
    world.servers.truncate(8);
    let (_, most) = settled(&mut world);
    assert!((9..=16).contains(&most), "{most} for 8 servers");
    world.servers.resize(16, world.now);
    let (_, most) = settled(&mut world);
    assert!((17..=32).contains(&most), "{most} for 16 servers again");
}

#[test]
fn the_upstream_stays_busy_also_while_the_base_is_measured() {
    let mut world = World::new(16, 256);
    world.run(500);
    // Several measurements: each takes half of the bound for a round.
    let per_second = world.per_second(10_000);
    assert!(per_second > 15.0, "{per_second} of 16");
}

#[test]
fn an_upstream_without_a_queue_is_used_up_to_the_maximum() {
    let mut world = World::new(1_000, 100);
    world.run(2_000);
    assert_eq!(world.slots.bound(), 100);
    let (_, most) = world.run(10_000);
    assert_eq!(most, 100);
}

#[test]
fn slow_calls_between_others_are_no_queue() {
    let mut world = World::new(1_000, 64);
    world.service = |draw| {
        let slow = draw % 5 < 3;
        about_a_second(draw) * if slow { 10 } else { 1 }
    };
    world.run(2_000);
    assert_eq!(world.slots.bound(), 64);
    let (least, _) = world.run(2_000);
    assert!(least >= 32, "{least}: half of it is taken away to measure");
}

#[test]
fn an_upstream_that_became_slower_is_measured_anew() {
    let mut world = World::new(16, 256);
    world.run(500);
    world.service = |draw| 3 * about_a_second(draw);
    let (least, _) = world.run(300);
    assert!(least < 12, "{least}: slower looks like a queue at first");
    world.run(1_000);
    let (_, most) = world.run(200);
    assert!((17..=32).contains(&most), "{most} for the same 16 servers");
}

#[test]
fn drops_bound_it_where_no_latency_does() {
    let mut world = World::new(1_000, 256);
    world.drops_above = 20;
    world.run(3_000);
    let (least, most) = world.run(300);
    assert!(least >= 7 && most <= 24, "{least} to {most} of 20");
}

#[test]
fn an_idle_bound_does_not_grow() {
    let mut world = World::new(1_000, 256);
    world.run(50);
    world.clients = 2;
    let (_, grown) = world.run(100);
    assert!(grown > 8, "{grown} by what was in flight");
    assert_eq!(world.run(1_000), (grown, grown));
}

#[test]
fn calls_that_are_dropped_together_cut_once() {
    let mut slots = new(64);
    let now = Timestamp::from_nanos(1_000 * MILLI);
    let dropped = Answered::Dropped(Duration::from_millis(10));
    slots.answered(dropped, 4, now);
    assert_eq!(slots.bound(), 3);
    slots.answered(dropped, 4, Timestamp::from_nanos(1_005 * MILLI));
    assert_eq!(slots.bound(), 3);
    slots.answered(dropped, 3, Timestamp::from_nanos(1_015 * MILLI));
    assert_eq!(slots.bound(), 2);
}

#[test]
fn one_slot_is_left_and_grows_again() {
    let mut world = World::new(1_000, 64);
    let dropped = Answered::Dropped(Duration::ZERO);
    for second in 1..20 {
        let now = Timestamp::from_nanos(second * 1_000 * MILLI);
        world.slots.answered(dropped, 64, now);
    }
    assert_eq!(world.slots.bound(), 1);
    world.now = 20_000 * MILLI;
    world.run(2_000);
    assert_eq!(world.slots.bound(), 64);
}

#[test]
fn a_maximum_binds_at_once_and_one_slot_is_the_least() {
    let mut slots = new(1);
    for second in 1..100 {
        let now = Timestamp::from_nanos(second * 1_000 * MILLI);
        slots.answered(Answered::Served(Duration::from_millis(second)), 1, now);
        assert_eq!(slots.bound(), 1);
    }
    let mut slots = new(64);
    slots.retune(NonZeroU64::new(2).expect("above zero"));
    assert_eq!(slots.bound(), 2);
}

fn adaptive(amount: u64) -> Core {
    let slots = limit("slots", Meter::Concurrent, amount, Window::Adaptive);
    one_target(vec![slots])
}

/// Starts what fits at that second.
fn fill(core: &mut Core, second: u64) -> Vec<ReservationId> {
    let now = at(1_000 * second);
    let start = || match submit(core, 0, 0, now, now) {
        Decision::Admitted(reservation) => Some(reservation),
        Decision::Waiting { ticket, .. } => {
            core.cancel(ticket, now);
            None
        }
        Decision::Refused(_) => None,
    };
    std::iter::from_fn(start).collect()
}

#[test]
fn a_limit_of_slots_follows_what_its_answers_tell() {
    let mut core = adaptive(64);
    let started = fill(&mut core, 0);
    assert_eq!(started.len(), 4);
    let served = Answered::Served(Duration::from_secs(1));
    // Only who was told that the slots were used lets them grow.
    let grows: Vec<bool> = started
        .iter()
        .map(|&call| core.answered(call, served, at(1_000)))
        .collect();
    assert_eq!(grows, [false, false, true, true]);
    assert_eq!(fill(&mut core, 1).len(), 2);
    let dropped = Answered::Dropped(Duration::ZERO);
    assert!(core.answered(started[0], dropped, at(2_000)));
    let states: Vec<_> = core.limit_states(at(2_000)).collect();
    assert_eq!((states[0].usable, states[0].used), (4, 6));
    for call in started {
        core.settle(call, Outcome::Unmeasured, at(2_000));
        assert!(!core.answered(call, served, at(2_000)), "it has ended");
    }
    assert_eq!(fill(&mut core, 2).len(), 2);
}

#[test]
fn a_slot_that_is_learned_starts_who_waits_for_it() {
    let mut core = adaptive(64);
    let started = fill(&mut core, 0);
    let (ticket, start) = waiting(submit(&mut core, 0, 0, at(60_000), at(0)));
    assert_eq!(start, None);
    let served = Answered::Served(Duration::from_secs(1));
    core.answered(started[3], served, at(1_000));
    let admitted =
        |event: &Event| matches!(event, Event::Admitted { ticket: it, .. } if *it == ticket);
    assert!(events(&mut core).iter().any(admitted));
}

#[test]
fn an_edited_maximum_binds_what_was_learned() {
    let mut core = adaptive(64);
    fill(&mut core, 0);
    let two = limit("slots", Meter::Concurrent, 2, Window::Adaptive);
    core.reconfigure(policy(vec![two], &[("a", &[0])]), at(0));
    let usable = |core: &mut Core| core.limit_states(at(0)).next().map(|state| state.usable);
    assert_eq!(usable(&mut core), Some(2));
    let more = limit("slots", Meter::Concurrent, 64, Window::Adaptive);
    core.reconfigure(policy(vec![more], &[("a", &[0])]), at(0));
    assert_eq!(usable(&mut core), Some(2), "more is learned again");
}
