//! One call at the provider: it arrives, its answer begins and ends, and the core is told each time.

use std::time::Duration;

use sluicegate_core::{Outcome, Reception, ReservationId, Signal, TargetId};
use sluicegate_fake::model::{Header, Ticket};

use super::{Happening, World};
use crate::mirror::Said;
use crate::run::Call;
use crate::trace::TraceEvent;
use crate::upstream::Arrival;
use crate::workload::Turn;

/// The wait after a 429 that names none.
const RESEND_WAIT: Duration = Duration::from_secs(1);

impl World<'_> {
    pub(super) fn arrive(&mut self, call: usize, reservation: ReservationId) {
        let Call {
            job, turn, resends, ..
        } = self.calls[call];
        let now = self.clock.now();
        let unix_nanos = self.clock.true_unix_nanos();
        match self
            .upstream
            .arrive(unix_nanos, &self.jobs[job].turns[turn])
        {
            Arrival::Accepted {
                ticket,
                charged,
                begins,
                takes,
                headers,
            } => {
                let signals = self.read(200, &headers, &[]);
                let begins = now.mono.saturating_add(begins);
                self.queue.put(
                    begins,
                    Happening::Begins {
                        reservation,
                        signals,
                    },
                );
                self.calls[call].accepted = Some((unix_nanos, charged));
                self.note(call, TraceEvent::Accepted { charged });
                let ends = Happening::Ends {
                    call,
                    reservation,
                    ticket,
                };
                self.queue.put(now.mono.saturating_add(takes), ends);
            }
            Arrival::Rejected {
                limit,
                wait,
                status,
                headers,
                body,
            } => {
                let signals = self.read(status, &headers, &body);
                let target = TargetId::new(0);
                self.core
                    .observe(target, reservation, Reception::Refused, &signals, now);
                self.calls[call].rejected_by = Some(limit.clone());
                self.calls[call].rejected_at = Some(now.mono);
                self.note(call, TraceEvent::Rejected { limit, wait });
                self.core.settle(reservation, Outcome::Failed, now);
                if resends < self.resends_max {
                    let again = Happening::Comes {
                        job,
                        turn,
                        resends: resends + 1,
                    };
                    let wait = wait.unwrap_or(RESEND_WAIT);
                    self.queue.put(now.mono.saturating_add(wait), again);
                }
            }
        }
    }

    /// What the gateway reads of an answer, which counts from when it is there.
    fn read(&self, status: u16, headers: &[Header], body: &[u8]) -> Vec<Signal> {
        let said = Said {
            status,
            headers,
            body,
        };
        match &self.reads {
            Some(reads) => reads(&said, self.clock.now().wall),
            None => Vec::new(),
        }
    }

    pub(super) fn begin_answer(&mut self, reservation: ReservationId, signals: &[Signal]) {
        let now = self.clock.now();
        let target = TargetId::new(0);
        self.core
            .observe(target, reservation, Reception::Accepted, signals, now);
    }

    pub(super) fn end_answer(&mut self, call: usize, reservation: ReservationId, ticket: Ticket) {
        let now = self.clock.now();
        let Call { job, turn, .. } = self.calls[call];
        let unix_nanos = self.clock.true_unix_nanos();
        self.upstream
            .finish(unix_nanos, &self.jobs[job].turns[turn], ticket);
        let Turn {
            output_max,
            answer_tokens,
            ..
        } = self.jobs[job].turns[turn];
        if answer_tokens >= output_max {
            self.lengths.record_cut(output_max);
        } else {
            self.lengths.record(answer_tokens);
        }
        let used = self.usages[job][turn];
        self.core.settle(reservation, Outcome::Used(used), now);
        self.calls[call].answered = Some(now.mono);
        self.note(call, TraceEvent::Answered);
        if turn + 1 < self.jobs[job].turns.len() {
            let next = Happening::Comes {
                job,
                turn: turn + 1,
                resends: 0,
            };
            self.queue.put(now.mono, next);
        }
    }
}
