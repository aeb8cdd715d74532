//! What the operator is told because it needs a hand: a breaker that opened, a key or an account that rests.
//!
//! The log has it at once. Where a webhook is configured it waits in a short line for [`webhook`](crate::webhook): whoever notices
//! something serves a request and waits for nobody. What does not fit in the line is in the log only, the oldest first.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use sluicegate_config::Webhook;
use tokio::sync::Notify;

/// Notices that wait to be posted.
const WAITING_MAX: usize = 64;

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
pub(crate) struct Notices {
    state: Mutex<State>,
    more: Notify,
}

#[derive(Debug, Default)]
struct State {
    webhook: Option<Webhook>,
    waiting: VecDeque<Notice>,
}

impl Notices {
    /// From now on they are posted to `webhook`, where there is one.
    pub(crate) fn post_to(&self, webhook: Option<Webhook>) {
        self.state().webhook = webhook;
    }

    /// Tells it.
    pub(crate) fn tell(&self, notice: Notice) {
        notice.log();
        let mut state = self.state();
        if state.webhook.is_none() {
            return;
        }
        if state.waiting.len() == WAITING_MAX {
            state.waiting.pop_front();
        }
        state.waiting.push_back(notice);
        drop(state);
        self.more.notify_one();
    }

    /// The next one to post, and where; waits for it.
    pub(crate) async fn next(&self) -> (Notice, Webhook) {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.more.notified().await;
        }
    }

    fn take(&self) -> Option<(Notice, Webhook)> {
        let mut state = self.state();
        let webhook = state.webhook.clone()?;
        Some((state.waiting.pop_front()?, webhook))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A line and an address, each whole at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notice {
    fn log(&self) {
        let text = self.text();
        match self {
            Self::BreakerOpened { deployment, reason } => {
                tracing::warn!(deployment, reason, "{text}");
            }
            Self::AccountBenched { account, reason } => tracing::warn!(account, reason, "{text}"),
            Self::KeyBenched { account, key, .. } => tracing::warn!(account, key, "{text}"),
        }
    }

    /// As a webhook gets it. `text` is what chat services show.
    pub(crate) fn json(&self) -> Value {
        let text = self.text();
        match self {
            Self::BreakerOpened { deployment, reason } => json!({
                "event": "breaker_opened", "deployment": deployment, "reason": reason, "text": format!("{deployment}: {text}"),
            }),
            Self::AccountBenched { account, reason } => json!({
                "event": "account_benched", "account": account, "reason": reason, "text": format!("{account}: {text}"),
            }),
            Self::KeyBenched {
                account,
                key,
                minutes,
            } => json!({
                "event": "key_benched", "account": account, "key": key, "minutes": minutes,
                "text": format!("{account}, key {key}: {text}"),
            }),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::BreakerOpened { .. } => {
                "the breaker opens: requests go elsewhere where they can".to_owned()
            }
            Self::AccountBenched { .. } => {
                "the account is of no use: its deployments are left alone where others can serve"
                    .to_owned()
            }
            Self::KeyBenched { minutes, .. } => format!(
                "the provider refused a key (401): it rests for {minutes} min while others are used"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(number: usize) -> Notice {
        Notice::BreakerOpened {
            deployment: format!("m{number}"),
            reason: "server",
        }
    }

    fn webhook() -> Option<Webhook> {
        let text = "operator: { webhook: \"http://127.0.0.1:9/hook\" }\n\
                    accounts: { a: { provider: openai, api_key: k } }\ndeployments: { m: { account: a } }";
        let policy = sluicegate_config::parse("a.yaml", text, &|_| None).expect("a valid policy");
        policy.operator.webhook
    }

    #[tokio::test]
    async fn of_too_many_the_newest_are_posted_in_their_order() {
        let notices = Notices::default();
        notices.tell(opened(0));
        notices.post_to(webhook());
        for number in 1..=WAITING_MAX + 3 {
            notices.tell(opened(number));
        }
        for number in 4..=WAITING_MAX + 3 {
            let (notice, _) = notices.next().await;
            assert_eq!(notice, opened(number), "the first was told nobody");
        }
        assert!(notices.state().waiting.is_empty());
    }

    #[test]
    fn a_chat_service_gets_words() {
        let key = Notice::KeyBenched {
            account: "main".to_owned(),
            key: "number 1 (…cdef)".to_owned(),
            minutes: 5,
        };
        let json = key.json();
        assert_eq!(json["event"], "key_benched");
        let text = json["text"].as_str().expect("words");
        assert!(text.starts_with("main, key number 1 (…cdef): "), "{text}");
    }
}
