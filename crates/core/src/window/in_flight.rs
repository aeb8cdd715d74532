//! What is in flight: taken at the start, given back at the end, no time in it.

use super::{Ceiling, Earliest};
use crate::Now;

#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight(u64);

impl InFlight {
    pub(crate) fn earliest(&self, ceiling: Ceiling, charge: u64, now: Now) -> Earliest {
        if ceiling.fits(self.0, charge) {
            Earliest::At(now.mono)
        } else {
            Earliest::OnRelease(None)
        }
    }

    pub(crate) fn charge(&mut self, charge: u64) {
        self.0 = self.0.saturating_add(charge);
    }

    pub(crate) fn give_back(&mut self, amount: u64) {
        self.0 = self.0.saturating_sub(amount);
    }

    pub(crate) fn used(&self) -> u64 {
        self.0
    }
}
