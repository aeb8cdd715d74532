//! What all connections share, behind one lock that is never held across an await.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ask::Ask;
use crate::fault::{Fault, Queue};
use crate::model::{Header, Model, Outcome, Ticket, Usage};
use crate::random::Random;
use crate::settings::Settings;

use super::clock;
use super::log::{End, Log};

/// Bodies whose attempts are counted at most; beyond it the oldest starts anew.
const COUNTED_MAX: usize = 65_536;

/// The state, shared.
#[derive(Clone, Debug)]
pub(super) struct Shared(Arc<Mutex<State>>);

/// Everything that changes.
#[derive(Debug)]
pub(super) struct State {
    pub(super) settings: Arc<Settings>,
    pub(super) model: Model,
    pub(super) log: Log,
    pub(super) queue: Queue,
    attempts: Attempts,
    answered: Attempts,
    random: Random,
    answers: u64,
}

/// How often each body or conversation came of which it matters.
#[derive(Debug, Default)]
struct Attempts {
    counts: BTreeMap<u64, usize>,
    order: VecDeque<u64>,
}

/// Too many faults wait already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct QueueFull;

impl Shared {
    pub(super) fn new(settings: Settings) -> Result<Self, QueueFull> {
        let mut queue = Queue::default();
        if !queue.extend(settings.faults.clone()) {
            return Err(QueueFull);
        }
        Ok(Self(Arc::new(Mutex::new(State {
            model: Model::new(settings.provider.clone()),
            log: Log::new(settings.memory.clone()),
            queue,
            attempts: Attempts::default(),
            answered: Attempts::default(),
            random: Random::new(settings.seed),
            answers: 0,
            settings: Arc::new(settings),
        }))))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn settings(&self) -> Arc<Settings> {
        self.lock().settings.clone()
    }
}

impl State {
    /// Puts other settings in force. Windows start anew only if the provider changed, the queue only if its faults did, the
    /// log only if its bounds did.
    pub(super) fn replace_settings(&mut self, settings: Settings) -> Result<(), QueueFull> {
        if settings.faults != self.settings.faults {
            let mut queue = Queue::default();
            if !queue.extend(settings.faults.clone()) {
                return Err(QueueFull);
            }
            self.queue = queue;
        }
        if settings.provider != self.settings.provider {
            self.model.replace_settings(settings.provider.clone());
        }
        if settings.memory != self.settings.memory {
            self.log.reset(settings.memory.clone());
        }
        self.settings = Arc::new(settings);
        Ok(())
    }

    /// As after the start, but for the settings and what is in flight.
    pub(super) fn reset(&mut self) {
        self.model.replace_settings(self.settings.provider.clone());
        self.log.reset(self.settings.memory.clone());
        self.queue = Queue::default();
        self.attempts = Attempts::default();
        self.answered = Attempts::default();
        self.random = Random::new(self.settings.seed);
    }

    /// What goes wrong with this call: its own fault first, then the queue's.
    pub(super) fn fault(&mut self, ask: &Ask) -> Option<(Fault, Option<u16>)> {
        let Some(fault) = &ask.wishes.fault else {
            return self.queue.next(&ask.model);
        };
        let earlier = if fault.counts_calls() {
            self.attempts.count(ask.content_id)
        } else {
            0
        };
        fault
            .for_call(earlier)
            .map(|(fault, status)| (fault.clone(), status))
    }

    /// Whether this conversation had no answer yet, of which that is to be told.
    pub(super) fn is_first_answer(&mut self, ask: &Ask) -> bool {
        self.answered.count(ask.conversation) == 0
    }

    /// A fraction for the jitter of the next arrival.
    pub(super) fn jitter(&mut self) -> f64 {
        self.random.fraction()
    }

    /// A name for the next answer.
    pub(super) fn answer_id(&mut self) -> String {
        self.answers += 1;
        format!(
            "{:016x}{:016x}",
            Random::new(self.settings.seed).next(),
            self.answers
        )
    }
}

impl Attempts {
    /// How often `id` came before.
    fn count(&mut self, id: u64) -> usize {
        if let Some(count) = self.counts.get_mut(&id) {
            *count += 1;
            return *count - 1;
        }
        if self.order.len() >= COUNTED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.counts.remove(&oldest);
        }
        self.order.push_back(id);
        self.counts.insert(id, 1);
        0
    }
}

/// A call in flight. It ends when it is told to, or else when it is dropped because its client left.
#[derive(Debug)]
pub(super) struct Running {
    shared: Shared,
    ticket: Option<Ticket>,
    number: u64,
    status: Option<u16>,
    /// Of output what went out by now.
    usage: Usage,
    /// Of an answer in one piece, once it is complete.
    settled: Option<Usage>,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    Served,
    Failed,
    Aborted,
}

impl Running {
    /// `usage` is what the prompt used; nothing was put out yet.
    pub(super) fn new(shared: Shared, ticket: Ticket, number: u64, usage: Usage) -> Self {
        Self {
            shared,
            ticket: Some(ticket),
            number,
            status: None,
            usage,
            settled: None,
        }
    }

    /// A head with this status is on its way.
    pub(super) fn answered(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// An answer in one piece is complete, with so many tokens of output. Gives the headers that show it settled.
    pub(super) fn settle(&mut self, output: u64) -> Vec<Header> {
        let Some(ticket) = &self.ticket else {
            return Vec::new();
        };
        let usage = Usage {
            output,
            ..self.usage
        };
        self.settled = Some(usage);
        let mut state = self.shared.lock();
        state.model.settle(clock::unix_nanos(), ticket, usage)
    }

    /// So many more tokens of output go out in a stream.
    pub(super) fn produced(&mut self, tokens: u64) {
        self.sent(tokens);
        if let Some(ticket) = self.ticket.as_ref().filter(|_| tokens > 0) {
            let mut state = self.shared.lock();
            state.model.produced(clock::unix_nanos(), ticket, tokens);
        }
    }

    /// So many tokens of output went out.
    pub(super) fn sent(&mut self, tokens: u64) {
        self.usage.output += tokens;
    }

    /// The tokens that went out.
    pub(super) fn output_tokens(&self) -> u64 {
        self.usage.output
    }

    /// Ends the call.
    pub(super) fn end(mut self, ended: Ended) {
        self.end_once(ended);
    }

    fn end_once(&mut self, ended: Ended) {
        let Some(ticket) = self.ticket.take() else {
            return;
        };
        let outcome = match ended {
            Ended::Served => Outcome::Served(self.usage),
            // What was complete before its client left is used all the same.
            Ended::Aborted => self
                .settled
                .map_or(Outcome::Cut(self.usage), Outcome::Served),
            Ended::Failed => Outcome::Failed,
        };
        let at = clock::unix_nanos();
        let mut state = self.shared.lock();
        state.model.finish(at, ticket, outcome);
        state.log.end(
            self.number,
            End {
                at,
                status: self.status,
                output_tokens: self.usage.output,
                failed: ended == Ended::Failed,
                aborted: ended == Ended::Aborted,
            },
        );
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_once(Ended::Aborted);
    }
}
