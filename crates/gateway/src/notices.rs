//! What the operator is told because it needs a hand: a breaker that opened, a key or an account that rests.

/// Something that needs a hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// A deployment is left alone.
    BreakerOpened {
        deployment: String,
        /// How it failed last.
        reason: &'static str,
    },
    /// All deployments of an account are left alone.
    AccountBenched {
        account: String,
        reason: &'static str,
    },
    /// A key rests.
    KeyBenched {
        account: String,
        /// As much of it as may be shown.
        key: String,
        minutes: u64,
    },
}

/// Tells the operator.
#[derive(Debug, Default)]
pub(crate) struct Notices {}

impl Notices {
    /// Tells it in the log.
    pub(crate) fn tell(&self, notice: &Notice) {
        match notice {
            Notice::BreakerOpened { deployment, reason } => tracing::warn!(
                deployment,
                reason,
                "the breaker opens: requests go elsewhere where they can"
            ),
            Notice::AccountBenched { account, reason } => tracing::warn!(
                account,
                reason,
                "the account is of no use: its deployments are left alone where others can serve"
            ),
            Notice::KeyBenched {
                account,
                key,
                minutes,
            } => tracing::warn!(
                account,
                key,
                "the provider refused a key (401): it rests for {minutes} min while others are used"
            ),
        }
    }
}
