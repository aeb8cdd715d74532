//! The doors: everything that the world may tell the core, and everything that it answers.
//!
//! Calls take the time and return at once. What they set off for others is fetched with [`Core::poll_event`]; when the core
//! wants to be called next, it says with [`Core::poll_timeout`]. Nothing else happens: between two calls a core is a value.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::decision::{Decision, Event, Grant, Refusal, Submission};
use crate::forecast::Forecast;
use crate::group::Groups;
use crate::lanes::{Held, LaneFit, Waiting, Walk};
use crate::ledger::Ledger;
use crate::line::{Asked, Line, Ticket, TicketId};
use crate::wanted::Wanted;
use crate::{
    Answered, Lane, LimitId, Now, Outcome, Policy, Reception, ReservationId, Resolution, Signal,
    TargetId, TenantId, Timestamp,
};

/// Events that may wait to be fetched before the core stops starting tickets. It goes on when they were fetched and asks for
/// that with a timeout that is due.
pub const EVENTS_MAX: usize = 256;

/// Limits, reservations and a waiting line, driven by events and the time.
///
/// ```
/// use core::num::NonZeroU64;
/// use core::time::Duration;
/// use sluicegate_core::*;
///
/// let limit = Limit {
///     name: "tokens/60s".into(),
///     meter: Meter::Tokens,
///     amount: NonZeroU64::new(1_000).unwrap(),
///     window: Window::Sliding { per: Duration::from_secs(60) },
///     quantum: None,
///     headroom: Headroom::Auto,
///     start: Start::Full,
///     mode: Mode::Enforce,
///     settlement: Settlement::Usage,
///     failures: Failures::Count,
///     arrival_spread: Duration::ZERO,
///     authority: Authority::Local,
///     book: Book::Ours,
/// };
/// let target = Target { name: "gpt".into(), limits: vec![LimitId::new(0)] };
/// let policy = Policy::new(vec![limit], vec![target], 100, Duration::from_secs(3_600))?;
/// let mut now = Now::default();
/// let mut core = Core::new(policy, now);
///
/// let demand = Amounts::one_request().with(Meter::Tokens, 600);
/// let submission = Submission::new(TargetId::new(0), demand, Timestamp::MAX);
/// let Decision::Admitted(first) = core.submit(submission, now) else { panic!("it fits") };
/// let Decision::Waiting { ticket, start, .. } = core.submit(submission, now) else { panic!("it does not") };
/// assert_eq!(start, Some(Timestamp::ZERO.saturating_add(Duration::from_secs(60))));
///
/// // The first call used less than it reserved: the second one need not wait.
/// core.settle(first, Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 300)), now);
/// assert!(matches!(core.poll_event(), Some(Event::Admitted { ticket: t, .. }) if t == ticket));
/// # Ok::<(), PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Core {
    pub(crate) policy: Policy,
    pub(crate) groups: Groups,
    pub(crate) ledger: Ledger,
    pub(crate) line: Line,
    /// By group: where the next ticket of a lane and tenant would come to stand.
    pub(crate) forecasts: Vec<Vec<Forecast>>,
    /// By limit: what the higher lanes want of it, and what all that wait want together.
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) waiting_demand: Vec<Waiting>,
    /// By group: the walk along its line that was made last.
    pub(crate) walks: Vec<Walk>,
    pub(crate) events: VecDeque<Event>,
    /// When the line next wants to be looked at.
    pub(crate) wake: Option<Timestamp>,
    /// Limits of tickets that must wait, and targets of which nothing more starts, while the line is being looked at.
    pub(crate) held_back: Vec<LimitId>,
    pub(crate) passed_over: Vec<TargetId>,
}

/// What is counted on one limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitState {
    /// What charges may sum up to: the amount within its headroom.
    pub usable: u64,
    /// What is used now; above `usable` it is debt.
    pub used: u64,
    /// What open reservations hold of it.
    pub reserved: u64,
    /// When the provider last told what is left of it: how much more it had counted than we could explain, negative where it had
    /// counted less. What was on its way to it explains either. More is somebody else on the account or a charge that we
    /// underestimate; `None` where it told nothing since we knew anything ourselves.
    pub drift: Option<i64>,
    /// How unevenly requests arrive: assumed, or learned from what [`Core::arrived`] was told.
    pub arrival_spread: Duration,
}

impl Core {
    /// A core that holds to `policy` from `now` on.
    pub fn new(policy: Policy, now: Now) -> Self {
        let groups = Groups::of(&policy);
        Self {
            ledger: Ledger::new(policy.limits(), policy.reservation_ttl(), now),
            line: Line::new(&groups, policy.targets().len()),
            forecasts: alloc::vec![Vec::new(); groups.all.len()],
            wanted: policy
                .limits()
                .iter()
                .map(|limit| Wanted::of(limit, now))
                .collect(),
            waiting_demand: alloc::vec![Waiting::default(); policy.limits().len()],
            walks: alloc::vec![Walk::default(); groups.all.len()],
            events: VecDeque::new(),
            wake: None,
            held_back: Vec::new(),
            passed_over: Vec::new(),
            groups,
            policy,
        }
    }

    /// Asks for a start. What may start at once is admitted, what makes its deadline waits, all else is refused with the reason
    /// and, where a wait helps, the instant.
    pub fn submit(&mut self, submission: Submission, now: Now) -> Decision {
        let Submission {
            target,
            demand,
            lane,
            deadline,
            ..
        } = submission;
        let Some(place) = self.policy.target(target) else {
            return Decision::Refused(Refusal::NoSuchTarget);
        };
        if let Some((limit, demand)) = self.ledger.never_fits(&place.limits, demand) {
            return Decision::Refused(Refusal::TooLarge { limit, demand });
        }
        self.ask(&submission, now);
        let group = self.groups.of_target(target);
        let asks = self
            .ledger
            .wants_grant(&self.policy.targets()[target.index()].limits);
        let held = asks || self.line.is_held(lane);
        let behind = self.line.waits_before(group, lane, self.policy.lanes());
        let mut left_to_others = None;
        if !held && (!behind || self.may_pass(group, &submission, now)) {
            match self.fit_in_lane(target, demand, lane, now) {
                LaneFit::Now => {
                    self.forget_promises(group);
                    if self.line.waits(group) {
                        self.line.count(group, lane, demand, self.policy.lanes());
                    }
                    return Decision::Admitted(self.begin(target, demand, lane, now));
                }
                LaneFit::Left(limit, start) => left_to_others = Some((limit, start)),
                LaneFit::Later(_) => {}
            }
        }
        let placed = self.place(&submission, now);
        let start = placed.start().filter(|_| !held);
        let limit = left_to_others.map(|(limit, _)| limit).or(placed.limit());
        if self.is_full(&submission) {
            return Decision::Refused(Refusal::LineFull { start });
        }
        if let Some((limit, start)) = left_to_others
            && deadline <= now.mono
        {
            return Decision::Refused(Refusal::Shed { limit, start });
        }
        if deadline < start.unwrap_or(now.mono) {
            return Decision::Refused(Refusal::Deadline { limit, start });
        }
        self.foresee(&submission, placed, now);
        let share = self.policy.weight(submission.tenant);
        let ticket = self.line.join(Ticket::of(&submission), share);
        self.count_waiting(target, demand, lane, u64::saturating_add);
        self.advance(now);
        Decision::Waiting {
            ticket,
            start,
            limit,
        }
    }

    /// Whether no more tickets may wait. Those of lower lanes take nobody's place.
    fn is_full(&self, submission: &Submission) -> bool {
        let lane = submission.lane;
        let (tickets, bytes) = self.line.before_or_in(lane);
        let bytes = bytes.saturating_add(u64::from(submission.bytes));
        tickets >= self.policy.tickets_max()
            || bytes > self.policy.bytes_max()
            || self.line.waiting_in(lane) >= self.policy.lanes().of(lane).waiting_max
    }

    /// Takes a ticket out of the line. False where it has started, was refused or left before.
    pub fn cancel(&mut self, ticket: TicketId, now: Now) -> bool {
        let Some(left) = self.leave(ticket) else {
            return false;
        };
        self.return_grant(ticket, &left);
        self.forget_forecast(left.target);
        self.advance(now);
        true
    }

    /// Ends a reservation and tells what that did on each limit. `None` where it has ended before; that changes nothing.
    pub fn settle(
        &mut self,
        reservation: ReservationId,
        outcome: Outcome,
        now: Now,
    ) -> Option<Vec<Resolution>> {
        let resolutions = self.end(reservation, outcome, now)?;
        if let Some(first) = resolutions.first() {
            // All limits of one reservation are in one group.
            self.forget_forecast_of(first.limit);
        }
        if !self.line.is_empty() {
            self.advance(now);
        }
        Some(resolutions)
    }

    /// An attempt that is still reserved is answered: how, and what the provider said of its limits. To be told of every
    /// answer, also of one that says nothing. False where nothing comes of it.
    pub fn observe(
        &mut self,
        target: TargetId,
        reservation: ReservationId,
        reception: Reception,
        signals: &[Signal],
        now: Now,
    ) -> bool {
        let Some(place) = self.policy.target(target) else {
            return false;
        };
        let told = self
            .ledger
            .observe(&place.limits, reservation, reception, signals, now);
        if told {
            self.forget_forecast(target);
            self.advance(now);
        }
        told
    }

    /// The last byte of a reserved attempt's request has left only now. Where that is later after its admission than requests
    /// arrive unevenly, its charges count from now on instead, since the provider will count them no earlier. Whoever sends
    /// within a millisecond need not tell. False where nothing changes: it left soon enough, is answered already, or has ended.
    pub fn sent(&mut self, reservation: ReservationId, now: Now) -> bool {
        let Some(moved) = self.ledger.sent(reservation, now) else {
            return false;
        };
        self.forget_forecast_of(moved);
        if !self.line.is_empty() {
            self.advance(now);
        }
        true
    }

    /// A request to `target` arrived at the provider `delay` after it was admitted, or so it seems. What differs between such
    /// delays is the spread of arrival by which windows count longer.
    pub fn arrived(&mut self, target: TargetId, delay: Duration, now: Now) {
        if let Some(place) = self.policy.target(target) {
            self.ledger.took(&place.limits, delay, now);
        }
    }

    /// The attempt of a reservation that has not ended got its first byte, or was dropped. Slots whose number nobody publishes
    /// follow it, on [`Window::Adaptive`](crate::Window::Adaptive) limits. To be told once an attempt. False where nothing changes.
    pub fn answered(&mut self, reservation: ReservationId, answered: Answered, now: Now) -> bool {
        let Some(moved) = self.ledger.answered(reservation, answered, now) else {
            return false;
        };
        self.forget_forecast_of(moved);
        if !self.line.is_empty() {
            self.advance(now);
        }
        true
    }

    /// Answers [`Event::GrantWanted`]. False where nobody waits for it any more: what was given goes back to the grantor.
    pub fn grant(&mut self, ticket: TicketId, grant: Grant, now: Now) -> bool {
        let waits = self
            .line
            .ticket(ticket)
            .is_some_and(|ticket| ticket.asked == Asked::Waiting);
        if !waits {
            return false;
        }
        match grant {
            Grant::Given => self.mark_asked(ticket, Asked::Given),
            Grant::NotBefore(instant) => self.mark_asked(ticket, Asked::NotBefore(instant)),
            Grant::Never { limit } => self.refuse(ticket, Refusal::NotGranted { limit }),
        }
        self.advance(now);
        true
    }

    /// Holds to another policy. Limits of the same name that are counted in the same way keep what was counted, and what was
    /// learned of them where they also charge in the same way; reservations stay, tickets keep their place; those whose target is gone or too small for them now are refused.
    pub fn reconfigure(&mut self, policy: Policy, now: Now) {
        let ledger = self
            .ledger
            .reconfigured(policy.limits(), policy.reservation_ttl(), now);
        let old = core::mem::replace(&mut self.policy, policy);
        self.groups = Groups::of(&self.policy);
        let place = |ticket: &Ticket| {
            let name = &old.target(ticket.target)?.name;
            let target = self.policy.target_named(name)?;
            let tenant = old.tenants().get(ticket.tenant.index());
            let tenant = tenant.and_then(|tenant| self.policy.tenant_named(&tenant.name));
            let tenant = tenant.unwrap_or(TenantId::NONE);
            Some((target, tenant, self.policy.weight(tenant)))
        };
        let gone = self
            .line
            .moved(&self.groups, self.policy.targets().len(), place);
        for (ticket, _) in gone {
            self.events.push_back(Event::Refused {
                ticket,
                refusal: Refusal::NoSuchTarget,
            });
        }
        self.forecasts = alloc::vec![Vec::new(); self.groups.all.len()];
        self.walks = alloc::vec![Walk::default(); self.groups.all.len()];
        self.ledger = ledger;
        self.want_anew(&old, now);
        self.refuse_too_large();
        self.advance(now);
    }

    /// Refuses tickets that wait for a limit which has become smaller than they are.
    fn refuse_too_large(&mut self) {
        for id in self.line.ids() {
            let Some(ticket) = self.line.ticket(id) else {
                continue;
            };
            let limits = &self.policy.targets()[ticket.target.index()].limits;
            if let Some((limit, demand)) = self.ledger.never_fits(limits, ticket.demand) {
                self.refuse(id, Refusal::TooLarge { limit, demand });
            }
        }
    }

    /// To be called when [`poll_timeout`](Self::poll_timeout) is due; harmless at any other time.
    pub fn handle_timeout(&mut self, now: Now) {
        self.advance(now);
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout); `None` while only the world can change anything.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let deadline = self
            .line
            .first_deadline()
            .map(|(deadline, _)| deadline.plus_nanos(1));
        let expiry = self.ledger.next_expiry();
        [self.wake, deadline, expiry].into_iter().flatten().min()
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What is counted on each limit, in the order of [`Policy::limits`].
    pub fn limit_states(&self, now: Now) -> impl Iterator<Item = LimitState> {
        self.ledger
            .counters()
            .iter()
            .map(move |counter| LimitState {
                usable: counter.usable(),
                used: counter.used(now),
                reserved: counter.held,
                drift: counter.drift,
                arrival_spread: counter.arrival_spread(),
            })
    }

    /// Tickets in the line.
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    /// Tickets of `lane` that wait for `target`.
    pub fn waiting_for(&self, target: TargetId, lane: Lane) -> usize {
        self.line.waiting_for(target, lane)
    }

    /// Reservations that have not ended.
    pub fn reservations_open(&self) -> usize {
        self.ledger.reservations_open()
    }

    /// When `submission` could start behind everything that goes before it; `None` where that hangs on something in flight or
    /// it never could.
    pub fn earliest(&mut self, submission: &Submission, now: Now) -> Option<Timestamp> {
        let limits = &self.policy.target(submission.target)?.limits;
        if self.ledger.never_fits(limits, submission.demand).is_some() {
            return None;
        }
        self.place(submission, now).start()
    }

    /// Of a lane that is held nothing starts: its tickets wait until it is let go, or for their deadlines.
    pub fn hold(&mut self, lane: Lane, held: Held, now: Now) {
        if self.line.hold(lane, held == Held::Yes) {
            self.forget_forecasts();
            self.advance(now);
        }
    }
}
