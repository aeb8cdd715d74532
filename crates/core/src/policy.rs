//! What the core is told to hold to: limits, and which of them apply to which target. Plain comparable data.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::{Limit, Window};

/// Names a limit of the policy in force: its place in [`Policy::limits`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LimitId(u32);

/// Names a target of the policy in force: its place in [`Policy::targets`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TargetId(u32);

/// Something that requests can be sent to, and the limits that apply there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Unique in a policy; ties waiting tickets to the target across a change of policy.
    pub name: Arc<str>,
    /// Every limit that a request to it is charged on.
    pub limits: Vec<LimitId>,
}

/// Limits and targets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    limits: Vec<Limit>,
    targets: Vec<Target>,
    tickets_max: usize,
    reservation_ttl: Duration,
}

/// Why a policy cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicyError {
    /// Two limits have one name.
    LimitTwice(Arc<str>),
    /// Two targets have one name.
    TargetTwice(Arc<str>),
    /// A target names a limit that is not there.
    NoSuchLimit {
        /// The target.
        target: Arc<str>,
        /// The place that it names.
        limit: usize,
    },
    /// A window, quantum or burst of no length, or a quantum that is not shorter than its window.
    Window(Arc<str>),
}

impl Policy {
    /// A policy that waits with at most `tickets_max` tickets and ends reservations that nobody ended after
    /// `reservation_ttl`.
    ///
    /// # Errors
    ///
    /// Where names are not unique, a target names a limit that is not there, or a window has no length.
    pub fn new(
        limits: Vec<Limit>,
        targets: Vec<Target>,
        tickets_max: usize,
        reservation_ttl: Duration,
    ) -> Result<Self, PolicyError> {
        let mut names = BTreeSet::new();
        for limit in &limits {
            if !names.insert(limit.name.clone()) {
                return Err(PolicyError::LimitTwice(limit.name.clone()));
            }
            let per = limit.window.per();
            let too_short =
                |length: Duration| length.is_zero() || per.is_none_or(|per| length >= per);
            let depth = match limit.window {
                Window::Pacing { burst, .. } => Some(burst),
                _ => per,
            };
            let empty = |length: Option<Duration>| length.is_some_and(|length| length.is_zero());
            if empty(per) || empty(depth) || limit.quantum.is_some_and(too_short) {
                return Err(PolicyError::Window(limit.name.clone()));
            }
        }
        let mut names = BTreeSet::new();
        for target in &targets {
            if !names.insert(target.name.clone()) {
                return Err(PolicyError::TargetTwice(target.name.clone()));
            }
            if let Some(limit) = target
                .limits
                .iter()
                .find(|limit| limit.index() >= limits.len())
            {
                return Err(PolicyError::NoSuchLimit {
                    target: target.name.clone(),
                    limit: limit.index(),
                });
            }
        }
        Ok(Self {
            limits,
            targets,
            tickets_max,
            reservation_ttl,
        })
    }

    /// The limits, in the order of their [`LimitId`]s.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// The targets, in the order of their [`TargetId`]s.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The target of that name.
    pub fn target_named(&self, name: &str) -> Option<TargetId> {
        self.targets
            .iter()
            .position(|target| &*target.name == name)
            .map(TargetId::new)
    }

    pub(crate) fn target(&self, id: TargetId) -> Option<&Target> {
        self.targets.get(id.index())
    }

    pub(crate) fn tickets_max(&self) -> usize {
        self.tickets_max
    }

    pub(crate) fn reservation_ttl(&self) -> Duration {
        self.reservation_ttl
    }
}

impl LimitId {
    /// The limit at `index`.
    ///
    /// # Panics
    ///
    /// Above four thousand million limits.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a policy has fewer limits than a u32 counts"))
    }

    /// Its place.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl TargetId {
    /// The target at `index`.
    ///
    /// # Panics
    ///
    /// Above four thousand million targets.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a policy has fewer targets than a u32 counts"))
    }

    /// Its place.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitTwice(name) => write!(f, "two limits are named \"{name}\""),
            Self::TargetTwice(name) => write!(f, "two targets are named \"{name}\""),
            Self::NoSuchLimit { target, limit } => {
                write!(
                    f,
                    "target \"{target}\" names limit number {limit}, which is not there"
                )
            }
            Self::Window(name) => {
                write!(
                    f,
                    "limit \"{name}\": a window and its quantum need a length, the quantum the shorter one"
                )
            }
        }
    }
}

impl core::error::Error for PolicyError {}
