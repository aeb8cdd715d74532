//! From an answer's word on the provider's limits to a snapshot that holds to it.

use sluicegate_core::{Limit, Signal};

use crate::attempt::Call;
use crate::driver::{Place, Reservation};

impl Call<'_> {
    /// Holds from now on to limits that nobody configured and `signals` of its answer tell, and adds to these what the provider's row
    /// knows more. `reservation` is the call's.
    pub(crate) fn learn(&self, signals: &mut [Signal], reservation: &mut Reservation) {
        if signals.iter().all(|signal| signal.limit.is_none()) {
            return;
        }
        if let Some(place) = self.learned(signals) {
            reservation.moved_to(place);
        }
    }

    /// Where such calls are counted now; `None` where the account is gone.
    fn learned(&self, signals: &mut [Signal]) -> Option<Place> {
        let (gateway, route) = (self.gateway, self.route);
        let model = route.model;
        let now = gateway.clock().mono();
        let mut snapshot = gateway.driver().snapshot();
        let place = snapshot.again(route)?;
        snapshot.complete(place, signals);
        if let Some(news) = snapshot.news(place, model, signals, now) {
            let begins = |limit: &Limit| !snapshot.is_learned(limit);
            let begun: Vec<Limit> = news.changed.into_iter().filter(begins).collect();
            let reshaped = gateway.reshape(|before| {
                let place = before.again(route);
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
                    tracing::warn!(%error, "a limit that the provider told cannot be held to");
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
        let target = snapshot.again(route)?.target;
        Some(Place { snapshot, target })
    }
}
