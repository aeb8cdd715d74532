use core::time::Duration;

use alloc::vec;

use super::*;
use crate::{BasisPoints, LaneRule, Meter, Policy, Submission, Target};

/// A line for as many targets that share everything.
fn line(targets: usize) -> Line {
    let limit = crate::Limit {
        name: "tokens".into(),
        book: crate::Book::Mirror,
        meter: Meter::Tokens,
        amount: core::num::NonZeroU64::MIN,
        window: crate::Window::Fixed {
            per: Duration::from_secs(60),
        },
        quantum: None,
        headroom: crate::Headroom::Auto,
        start: crate::Start::Full,
        mode: crate::Mode::Enforce,
        settlement: crate::Settlement::Usage,
        failures: crate::Failures::Count,
        arrival_spread: Duration::ZERO,
        authority: crate::Authority::Local,
    };
    let target = |index: usize| Target {
        name: alloc::format!("target {index}").into(),
        limits: vec![crate::LimitId::new(0)],
    };
    let targets_of_it = (0..targets).map(target).collect();
    let policy = Policy::new(vec![limit], targets_of_it, 1, Duration::from_secs(1));
    Line::new(&Groups::of(&policy.expect("a policy")), targets)
}

fn share(weight: u32) -> NonZeroU32 {
    NonZeroU32::new(weight).expect("above zero")
}

/// A ticket of `lane` and `tenant` for `tokens` of the first target.
fn ticket(lane: Lane, tenant: usize, tokens: u64) -> Ticket {
    let demand = Amounts::one_request().with(Meter::Tokens, tokens);
    Ticket::of(&Submission {
        lane,
        tenant: TenantId::new(tenant),
        ..Submission::new(TargetId::new(0), demand, Timestamp::MAX)
    })
}

fn rules(lane: Lane, min_share: u16) -> LaneRules {
    let rule = LaneRule {
        min_share: BasisPoints::new(min_share).expect("a share"),
        leaves: BasisPoints::ZERO,
        waiting_max: usize::MAX,
    };
    LaneRules::default().with(lane, rule)
}

/// Starts whose turn it is, up to `count` times; gives back what started.
fn start(line: &mut Line, count: usize, rules: &LaneRules) -> Vec<Ticket> {
    let mut started = Vec::new();
    while started.len() < count
        && let Some((id, _)) = line.next(0, &[], rules)
    {
        started.extend(line.start(id, rules));
    }
    started
}

#[test]
fn a_higher_lane_goes_first_whoever_came_first() {
    let mut line = line(1);
    for lane in [Lane::Batch, Lane::Api, Lane::Interactive, Lane::Api] {
        line.join(ticket(lane, 0, 1), share(1));
    }
    let order: Vec<Lane> = start(&mut line, 9, &LaneRules::default())
        .iter()
        .map(|ticket| ticket.lane)
        .collect();
    assert_eq!(
        order,
        [Lane::Interactive, Lane::Api, Lane::Api, Lane::Batch]
    );
}

#[test]
fn tenants_take_turns_by_weight_in_tokens() {
    let mut line = line(1);
    for _ in 0..1_000 {
        line.join(ticket(Lane::Api, 0, 100), share(3));
        line.join(ticket(Lane::Api, 1, 1_000), share(1));
    }
    let started = start(&mut line, 600, &LaneRules::default());
    let tokens_of = |tenant: usize| -> u64 {
        let of = started
            .iter()
            .filter(|ticket| ticket.tenant.index() == tenant);
        of.map(|ticket| ticket.demand.of(Meter::Tokens)).sum()
    };
    let (first, second) = (tokens_of(0), tokens_of(1));
    assert!(first.abs_diff(3 * second) <= 3_000, "{first} and {second}");
}

#[test]
fn what_leaves_costs_its_tenant_nothing() {
    let mut line = line(1);
    let given_up: Vec<TicketId> = (0..100)
        .map(|_| line.join(ticket(Lane::Api, 0, 100), share(1)))
        .collect();
    line.join(ticket(Lane::Api, 1, 100), share(1));
    for id in given_up {
        assert!(line.leave(id).is_some());
        assert!(line.leave(id).is_none());
    }
    let mine = line.join(ticket(Lane::Api, 0, 100), share(1));
    line.join(ticket(Lane::Api, 1, 100), share(1));
    let order = start(&mut line, 2, &LaneRules::default());
    assert_eq!(order[1].arrival, 101, "{order:?}");
    assert_eq!(line.leave(mine).map(|ticket| ticket.arrival), None);
}

#[test]
fn who_was_away_gets_no_more_for_it() {
    let mut line = line(1);
    let rules = LaneRules::default();
    for _ in 0..100 {
        line.join(ticket(Lane::Api, 0, 100), share(1));
    }
    start(&mut line, 50, &rules);
    for _ in 0..50 {
        line.join(ticket(Lane::Api, 1, 100), share(1));
    }
    let started = start(&mut line, 20, &rules);
    let second = started.iter().filter(|ticket| ticket.tenant.index() == 1);
    assert_eq!(second.count(), 10);
}

#[test]
fn a_minimum_share_is_kept_and_not_exceeded() {
    let mut line = line(1);
    let rules = rules(Lane::Batch, 500);
    for _ in 0..2_000 {
        line.join(ticket(Lane::Interactive, 0, 100), share(1));
        line.join(ticket(Lane::Batch, 0, 100), share(1));
    }
    let started = start(&mut line, 1_000, &rules);
    let batch = started.iter().filter(|ticket| ticket.lane == Lane::Batch);
    let batch = batch.count();
    assert!((49..=50).contains(&batch), "{batch} of 1,000");
}

#[test]
fn who_leaves_from_the_middle_leaves_no_trace() {
    let mut line = line(1);
    let tickets: Vec<TicketId> = (0..1_000)
        .map(|_| line.join(ticket(Lane::Api, 0, 1), share(1)))
        .collect();
    for &id in &tickets[1..999] {
        line.leave(id);
    }
    assert_eq!(line.waiting_for(TargetId::new(0), Lane::Api), 2);
    let kept = line.some_for(TargetId::new(0), Lane::Api, 10);
    assert_eq!(kept, [tickets[0], tickets[999]]);
    line.leave(tickets[0]);
    line.leave(tickets[999]);
    assert!(line.is_empty());
    assert_eq!(line.first_deadline(), None);
    assert_eq!(line.before_or_in(Lane::Batch), (0, 0));
}

#[test]
fn what_goes_before_a_newcomer_is_told_in_its_order() {
    let mut line = line(1);
    for _ in 0..10 {
        line.join(ticket(Lane::Interactive, 0, 10), share(1));
        line.join(ticket(Lane::Api, 0, 100), share(1));
        line.join(ticket(Lane::Api, 1, 100), share(1));
    }
    // Nine of its own and, at the same tags, as many of the other; and everything interactive.
    let ahead = line.ahead_of(0, Lane::Api, TenantId::new(2), &LaneRules::default(), 100);
    let tokens = |ahead: &Ahead| -> Vec<u64> {
        let tickets = ahead.tickets.iter();
        tickets
            .map(|ticket| ticket.demand.of(Meter::Tokens))
            .collect()
    };
    assert_eq!(tokens(&ahead), [vec![10; 10], vec![100; 2]].concat());
    let ahead = line.ahead_of(0, Lane::Api, TenantId::new(1), &LaneRules::default(), 15);
    assert_eq!((ahead.tickets.len(), ahead.beyond), (15, 1_500));
}

#[test]
fn of_many_tenants_some_tell_what_goes_before_a_newcomer() {
    let mut line = line(1);
    for tenant in 0..1_000 {
        for _ in 0..10 {
            line.join(ticket(Lane::Api, tenant, 100), share(1));
        }
    }
    let ahead = |tenant| line.weight_ahead_of(0, Lane::Api, TenantId::new(tenant));
    // One of each for a newcomer, and everything for one that stands behind ten of its own.
    let each = ticket(Lane::Api, 0, 100).demand.weight();
    assert_eq!(ahead(1_000), 1_000 * each);
    assert_eq!(ahead(999), 10_000 * each);
    assert_eq!(ahead(0), 10_000 * each);
}

#[test]
fn tickets_follow_their_target_to_another_policy() {
    let mut before = line(2);
    let gone = before.join(ticket(Lane::Api, 0, 1), share(1));
    let stays = before.join(
        Ticket {
            target: TargetId::new(1),
            ..ticket(Lane::Api, 0, 1)
        },
        share(1),
    );
    let groups = Groups::of(
        &Policy::new(
            vec![],
            vec![Target {
                name: "only".into(),
                limits: vec![],
            }],
            1,
            Duration::from_secs(1),
        )
        .expect("a policy"),
    );
    let place = |ticket: &Ticket| {
        let moved = (TargetId::new(0), ticket.tenant, share(1));
        (ticket.target == TargetId::new(1)).then_some(moved)
    };
    let left = before.moved(&groups, 1, place);
    assert_eq!(left.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [gone]);
    let next = before.next(0, &[], &LaneRules::default());
    assert_eq!(next.map(|(id, _)| id), Some(stays));
    assert_eq!(before.before_or_in(Lane::Batch), (1, 0));
}
