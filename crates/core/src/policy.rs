//! What the core is told to hold to: limits, and which of them apply to which target. Plain comparable data.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

use crate::{LaneRules, Limit, Window};

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

/// Names a tenant of the policy in force: its place in [`Policy::tenants`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TenantId(u32);

/// Somebody who gets a share of what is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tenant {
    /// Unique in a policy; ties waiting tickets to the tenant across a change of policy.
    pub name: Arc<str>,
    /// While several tenants wait in one lane, each starts so many parts of the tokens.
    pub weight: NonZeroU32,
}

/// Limits and targets, who shares them and in which order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    limits: Vec<Limit>,
    targets: Vec<Target>,
    lanes: LaneRules,
    tenants: Vec<Tenant>,
    tickets_max: usize,
    bytes_max: u64,
    reservation_ttl: Duration,
}

/// Why a policy cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicyError {
    /// Two limits have one name.
    LimitTwice(Arc<str>),
    /// Two targets have one name.
    TargetTwice(Arc<str>),
    /// Two tenants have one name.
    TenantTwice(Arc<str>),
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
    /// `reservation_ttl`. It has the lanes' default rules and no tenants.
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
            lanes: LaneRules::default(),
            tenants: Vec::new(),
            tickets_max,
            bytes_max: u64::MAX,
            reservation_ttl,
        })
    }

    /// The same policy with other rules for the lanes.
    #[must_use]
    pub fn with_lanes(self, lanes: LaneRules) -> Self {
        Self { lanes, ..self }
    }

    /// The same policy for `tenants`.
    ///
    /// # Errors
    ///
    /// Where two have one name.
    pub fn with_tenants(self, tenants: Vec<Tenant>) -> Result<Self, PolicyError> {
        let mut names = BTreeSet::new();
        if let Some(twice) = tenants.iter().find(|tenant| !names.insert(&tenant.name)) {
            return Err(PolicyError::TenantTwice(twice.name.clone()));
        }
        Ok(Self { tenants, ..self })
    }

    /// The same policy, under which no more tickets wait than hold `bytes_max` bytes together.
    #[must_use]
    pub fn with_bytes_max(self, bytes_max: u64) -> Self {
        Self { bytes_max, ..self }
    }

    /// The limits, in the order of their [`LimitId`]s.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// The targets, in the order of their [`TargetId`]s.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The rules of the lanes.
    pub fn lanes(&self) -> &LaneRules {
        &self.lanes
    }

    /// The tenants, in the order of their [`TenantId`]s.
    pub fn tenants(&self) -> &[Tenant] {
        &self.tenants
    }

    /// The tenant of that name.
    pub fn tenant_named(&self, name: &str) -> Option<TenantId> {
        self.tenants
            .iter()
            .position(|tenant| &*tenant.name == name)
            .map(TenantId::new)
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

    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// The weight of a tenant; whoever is none of the policy's has a weight of one.
    pub(crate) fn weight(&self, tenant: TenantId) -> NonZeroU32 {
        self.tenants
            .get(tenant.index())
            .map_or(NonZeroU32::MIN, |tenant| tenant.weight)
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

impl TenantId {
    /// Nobody in particular: all callers where there are no tenants.
    pub const NONE: Self = Self(u32::MAX);

    /// The tenant at `index`.
    ///
    /// # Panics
    ///
    /// Above four thousand million tenants.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a policy has fewer tenants than a u32 counts"))
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
            Self::TenantTwice(name) => write!(f, "two tenants are named \"{name}\""),
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
