//! From an answer's word on the provider's limits to a snapshot that holds to it.

use sluicegate_core::{Limit, Signal};

use crate::driver::Place;
use crate::gateway::Gateway;
use crate::snapshot::Route;

/// Whose answer it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<'a> {
    /// As it was routed.
    pub(crate) route: Route<'a>,
    /// The model by the client's name.
    pub(crate) requested: &'a str,
    /// And by the provider's.
    pub(crate) model: &'a str,
}

impl Gateway {
    /// Learns limits that nobody configured from the `signals` of an answer, and completes these where the provider's row knows more.
    /// Tells where such requests are counted now; `None` where its account is gone.
    pub(crate) fn learn(&self, answered: Answered<'_>, signals: &mut [Signal]) -> Option<Place> {
        let Answered {
            route,
            requested,
            model,
        } = answered;
        let now = self.clock().mono();
        let mut snapshot = self.driver().snapshot();
        let same = |other: &Route<'_>| std::ptr::eq(other.upstream, route.upstream);
        let place = snapshot.route(requested).filter(same)?;
        snapshot.complete(place, signals);
        if let Some(news) = snapshot.news(place, model, signals, now) {
            let begins = |limit: &Limit| !snapshot.is_learned(limit);
            let begun: Vec<Limit> = news.changed.into_iter().filter(begins).collect();
            let reshaped = self.reshape(|before| {
                let place = before.route(requested).filter(same);
                let news = place.and_then(|place| before.news(place, model, signals, now));
                let Some(news) = news else {
                    return Ok(None);
                };
                for limit in &news.changed {
                    tracing::info!(
                        limit = &*limit.name,
                        amount = limit.amount,
                        "the provider told a limit that is not configured"
                    );
                }
                before.learned(news.limits).map(Some)
            });
            match reshaped {
                Ok(reshaped) => snapshot = reshaped,
                // Nothing is held to that cannot be; the configuration itself is as good as before.
                Err(error) => {
                    tracing::warn!(%error, "a limit that the provider told cannot be held to")
                }
            }
            // A count begins with what the provider says is left. What is on its way may not be in that yet.
            for signal in signals.iter_mut() {
                let begins = begun
                    .iter()
                    .any(|limit| limit.meter == signal.meter && limit.window.per() == signal.per);
                if begins && let Some(remaining) = &mut signal.remaining {
                    let on_the_way = route.upstream.drift().on_the_way(model, signal.meter);
                    *remaining = remaining.saturating_sub(on_the_way);
                }
            }
        }
        let target = snapshot.route(requested).filter(same)?.target;
        Some(Place { snapshot, target })
    }
}
