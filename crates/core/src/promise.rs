//! The starts that the core promises: the forecasts that it keeps for them, and when they are too old.

use crate::decision::Submission;
use crate::forecast::{Forecast, Placed};
use crate::gate::Core;
use crate::line::Ticket;
use crate::{LimitId, Now, TargetId};

impl Core {
    /// Where `submission` would come to stand behind all that go before it.
    pub(crate) fn place(&mut self, submission: &Submission, now: Now) -> Placed {
        let &Submission {
            target,
            demand,
            lane,
            tenant,
            ..
        } = submission;
        let group = self.groups.of_target(target);
        let targets = self.policy.targets();
        let place = self.forecasts[group]
            .iter()
            .position(|forecast| forecast.is_for(lane, tenant));
        let waiting = self.line.len();
        let serves = place.filter(|&place| self.forecasts[group][place].serves(waiting, now));
        let mut kept = self.forecasts[group].iter();
        let is_one_of_many = place.is_none() && kept.len() >= Forecast::KEPT_MAX;
        if is_one_of_many && let Some(pace) = kept.find_map(|forecast| forecast.pace(waiting, now))
        {
            let ahead = self.line.weight_ahead_of(group, lane, tenant);
            return pace.placed(ahead.saturating_add(demand.weight()), now);
        }
        let place = serves.unwrap_or_else(|| {
            let counts = self.ledger.counts_of(&self.groups.all[group].limits, now);
            let mut forecast = Forecast::new(lane, tenant, counts, now);
            let ahead = self.line.ahead_of(
                group,
                lane,
                tenant,
                self.policy.lanes(),
                Forecast::PLAYED_MAX,
            );
            let limits_of = |ticket: &Ticket| targets[ticket.target.index()].limits.as_slice();
            forecast.play(ahead, limits_of, now);
            let forecasts = &mut self.forecasts[group];
            match place {
                Some(place) => forecasts[place] = forecast,
                None if forecasts.len() < Forecast::KEPT_MAX => forecasts.push(forecast),
                None => {
                    forecasts.rotate_left(1);
                    *forecasts.last_mut().expect("several are kept") = forecast;
                }
            }
            place.unwrap_or(self.forecasts[group].len() - 1)
        });
        self.forecasts[group][place].start_of(&targets[target.index()].limits, demand, now)
    }

    /// A ticket joins: of what it goes before, nothing is certain any more.
    pub(crate) fn foresee(&mut self, submission: &Submission, placed: Placed, now: Now) {
        let &Submission {
            target,
            demand,
            lane,
            tenant,
            ..
        } = submission;
        let limits = &self.policy.targets()[target.index()].limits;
        let has_minimum = self.policy.lanes().of(lane).min_share.points() > 0;
        for forecast in &mut self.forecasts[self.groups.of_target(target)] {
            if forecast.is_for(lane, tenant) {
                forecast.add(limits, demand, placed, now);
            } else if forecast.lane() >= lane || has_minimum {
                forecast.mark_old();
            }
        }
    }

    /// Something starts at once: what was forecast for those who wait is old, and with nobody there it serves nobody.
    pub(crate) fn forget_promises(&mut self, group: usize) {
        let forecasts = &mut self.forecasts[group];
        if self.line.waits(group) {
            forecasts.iter_mut().for_each(Forecast::mark_old);
        } else {
            forecasts.clear();
        }
    }

    pub(crate) fn forget_forecast(&mut self, target: TargetId) {
        self.forget_forecasts_of(self.groups.of_target(target));
    }

    pub(crate) fn forget_forecast_of(&mut self, limit: LimitId) {
        self.forget_forecasts_of(self.groups.of_limit(limit));
    }

    pub(crate) fn forget_forecasts(&mut self) {
        for group in 0..self.groups.all.len() {
            self.forget_forecasts_of(group);
        }
    }

    fn forget_forecasts_of(&mut self, group: usize) {
        self.walks[group].stirred = true;
        self.forecasts[group]
            .iter_mut()
            .for_each(Forecast::mark_old);
    }
}
