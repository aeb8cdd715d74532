//! A request's body on its way out, which tells when it has left.
//!
//! Sending is not arriving: a large body on a slow line arrives long after its admission, and so does what waited for a new
//! connection. When it was handed to the connection is what can be known at our end. It goes out in small pieces, so that not
//! much of it is still with us when the last is taken: what the client library holds back, 16 of them at most, and what the
//! system's send buffer holds, which follows what the line carries.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::driver::Departure;

/// A piece: as much as one frame of HTTP/2 carries unless told otherwise.
const PIECE: usize = 16 * 1024;

/// The body.
#[derive(Debug)]
pub(crate) struct Outgoing {
    rest: Bytes,
    /// `None` once it has left.
    departure: Option<Departure>,
}

impl Outgoing {
    /// `bytes` as a body; `departure` is told when the last of them are taken.
    pub(crate) fn new(bytes: Bytes, departure: Departure) -> Self {
        Self {
            rest: bytes,
            departure: Some(departure),
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        if self.rest.is_empty()
            && let Some(departure) = self.departure.take()
        {
            departure.left();
        }
        Poll::Ready((length > 0).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::BodyExt;
    use sluicegate_core::{Amounts, Lane, TargetId, Timestamp};

    use super::*;
    use crate::clock::Clock;
    use crate::driver::{Place, Reservation, Standing};
    use crate::gateway::Gateway;
    use crate::metrics::OTHER_TASK;
    use crate::snapshot::Snapshot;

    /// A reservation of one request.
    async fn reserved() -> Reservation {
        let text = "accounts: { a: { provider: openai, api_key: k, limits: [{ meter: requests, amount: 5, per: 24h, \
                    window: sliding, start: full }] } }\ndeployments: { m: { account: a } }\n";
        let policy = sluicegate_config::parse("a.yaml", text, &|_| None).expect("a valid policy");
        let snapshot = Snapshot::new(policy, None).expect("a policy that can be served");
        let gateway = Gateway::new(snapshot, Clock::start());
        let place = Place {
            snapshot: gateway.driver().snapshot(),
            target: TargetId::new(0),
        };
        let standing = Standing {
            id: gateway.next_request_id(),
            lane: Lane::default(),
            task: OTHER_TASK.into(),
            bytes: 0,
            deadline: Timestamp::MAX,
        };
        let admission = gateway
            .driver()
            .admit(place, Amounts::one_request(), &standing);
        admission.await.expect("there is room")
    }

    #[tokio::test]
    async fn it_goes_out_in_pieces_and_has_left_with_the_last() {
        let reservation = reserved().await;
        let bytes: Bytes = (0..40_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let mut body = Outgoing::new(bytes.clone(), reservation.departure());
        assert_eq!(body.size_hint().exact(), Some(40_000));
        let mut pieces = Vec::new();
        while let Some(frame) = body.frame().await {
            let piece = frame.expect("nothing fails").into_data();
            pieces.push(piece.expect("no trailers"));
            assert_eq!(body.departure.is_none(), body.is_end_stream());
        }
        let lengths: Vec<usize> = pieces.iter().map(Bytes::len).collect();
        assert_eq!(lengths, [16_384, 16_384, 7_232]);
        assert_eq!(pieces.concat(), bytes);
    }

    #[tokio::test]
    async fn an_empty_one_has_no_piece() {
        let reservation = reserved().await;
        let mut body = Outgoing::new(Bytes::new(), reservation.departure());
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_delay_is_what_the_work_leaves() {
        let reservation = reserved().await;
        let long_after = Timestamp::ZERO.saturating_add(Duration::from_secs(3_600));
        let work = Duration::from_secs(3_000);
        let delay = reservation
            .delay(work, long_after)
            .expect("an hour is longer");
        // Admitted within the first minute of the clock.
        assert!(
            delay <= Duration::from_secs(600) && delay > Duration::from_secs(540),
            "{delay:?}"
        );
        assert_eq!(
            reservation.delay(Duration::from_secs(3_601), long_after),
            None
        );
    }
}
