//! Faults that wait for their calls, and which call takes which.

use std::collections::VecDeque;

use super::Fault;

/// Faults that wait for a call at most.
pub(crate) const QUEUED_MAX: usize = 10_000;

/// Faults that wait for their calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(VecDeque<(Fault, usize)>);

impl Queue {
    /// Adds `faults` at the end; `false`, and nothing is added, if that would be too many.
    #[must_use]
    pub(crate) fn extend(&mut self, faults: Vec<Fault>) -> bool {
        if self.0.len() + faults.len() > QUEUED_MAX {
            return false;
        }
        self.0.extend(faults.into_iter().map(|fault| (fault, 0)));
        true
    }

    /// Those that wait.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first one that is for a call of `model`, for this call.
    pub(crate) fn next(&mut self, model: &str) -> Option<(Fault, Option<u16>)> {
        let index = self
            .0
            .iter()
            .position(|(fault, _)| fault.model.as_deref().is_none_or(|wanted| wanted == model))?;
        let (fault, used) = &mut self.0[index];
        let played = fault
            .for_call(*used)
            .map(|(fault, status)| (fault.clone(), status));
        *used += 1;
        if *used >= fault.queued_times() {
            self.0.remove(index);
        }
        played
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: serde_json::Value) -> Fault {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_queue_serves_models_in_order_and_runs_out() {
        let mut queue = Queue::default();
        assert!(queue.extend(vec![
            fault(serde_json::json!({"model": "b", "status": [503, 429]})),
            fault(serde_json::json!({"status": 500, "times": 2})),
        ]));
        let statuses: Vec<_> = ["a", "b", "b", "b", "b"]
            .iter()
            .map(|model| queue.next(model).and_then(|(_, status)| status))
            .collect();
        assert_eq!(statuses, [Some(500), Some(503), Some(429), Some(500), None]);
        assert_eq!(queue.len(), 0);
    }
}
