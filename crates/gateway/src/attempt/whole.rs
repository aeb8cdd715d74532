//! An answer that comes whole: read to its end, translated where it has to be, settled by what it says.

use std::time::Duration;

use bytes::BytesMut;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use sluicegate_core::Outcome;
use sluicegate_dialect::{Success, charge_told};

use super::{Answer, AnswerBody, Call, innermost};
use crate::charge_drift::Source;
use crate::driver::Reservation;
use crate::health::Passed;
use crate::http::{UpstreamFailure, UpstreamFailureKind};
use crate::settlement;

/// A whole answer above this is passed on unread.
const WHOLE_MAX: usize = 32 * 1024 * 1024;

impl Call<'_> {
    /// A whole answer, within what is left of the call's time.
    pub(super) async fn whole_in_time(
        &self,
        response: Response<Incoming>,
        reservation: Reservation,
        took: Duration,
        pass: &mut Option<Passed>,
    ) -> Result<Answer, UpstreamFailure> {
        let Some(total) = self.route.timeouts.total else {
            return self.whole(response, reservation, pass).await;
        };
        let whole = self.whole(response, reservation, pass);
        match tokio::time::timeout(total.saturating_sub(took), whole).await {
            Ok(answer) => answer,
            Err(_) => Err(self.silent("the whole of its answer", total)),
        }
    }

    async fn whole(
        &self,
        response: Response<Incoming>,
        mut reservation: Reservation,
        pass: &mut Option<Passed>,
    ) -> Result<Answer, UpstreamFailure> {
        let (mut head, mut incoming) = response.into_parts();
        let timeouts = &self.route.timeouts;
        let mut body = BytesMut::new();
        loop {
            let frame = tokio::time::timeout(timeouts.idle, incoming.frame()).await;
            match frame {
                Err(_) => return Err(self.silent("the rest of its answer", timeouts.idle)),
                Ok(None) => break,
                Ok(Some(Err(error))) => {
                    let kind = UpstreamFailureKind::Cut(innermost(&error));
                    return Err(self.failure("connection", kind));
                }
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        body.extend_from_slice(&data);
                    }
                }
            }
            if body.len() > WHOLE_MAX && !self.passes_unread() {
                let what = "an answer that is too large to be translated";
                return Err(self.failure("unreadable", UpstreamFailureKind::Unreadable(what)));
            }
            if body.len() > WHOLE_MAX {
                let response = Response::from_parts(head, incoming);
                return Ok(self.unread(response, &body, reservation, pass));
            }
        }
        let body = body.freeze();
        // Whatever its type says: every whole answer of every dialect is a JSON object.
        let provider = &*self.route.account.provider;
        match self.crossing.success(provider, &head.headers, &body) {
            Success::Answer => {}
            Success::Unreadable(what) => {
                return Err(self.failure("unreadable", UpstreamFailureKind::Unreadable(what)));
            }
            Success::Failure(failure) => {
                let refused = self.refused_by_success(head, body, *failure, reservation);
                return refused.map_err(|failure| *failure);
            }
        }
        let shape = self.shape.map(|shape| &**shape);
        if !self.crossing.is_same() {
            let json = HeaderValue::from_static("application/json");
            head.headers.insert(CONTENT_TYPE, json);
        }
        let read = if self.envelope.facts().stream {
            let usage_chunk = self.envelope.usage_chunk();
            head.headers.insert(CONTENT_TYPE, self.stream_type());
            self.crossing
                .streamed(&body, shape, self.stamp(), usage_chunk)
        } else {
            self.crossing.whole(body, shape, || self.stamp())
        };
        let mut whole = read.map_err(|error| {
            tracing::debug!(
                deployment = self.route.deployment.name,
                reason = error.message,
                "unreadable answer"
            );
            let kind = UpstreamFailureKind::Unreadable("a body that is no answer of its dialect");
            self.failure("unreadable", kind)
        })?;
        if let Some(usage) = whole.usage {
            self.exchange.used(settlement::total(usage));
        }
        let settlement = self.settlement();
        let outcome = whole.usage.map_or(Outcome::Unmeasured, |usage| {
            settlement.answered(usage, settlement::ending(whole.cut))
        });
        if let Outcome::Used(counted) = outcome {
            let told = charge_told(&self.route.account.provider, &head.headers);
            self.compare(Source::Header, told, counted);
        }
        reservation.settle(outcome);
        if let Some(wrong) = whole.misshapen.take() {
            return Err(self.failure("misshapen", UpstreamFailureKind::Misshapen(wrong)));
        }
        if whole.emptied {
            let what = "nothing but images or sound, which an answer to this client cannot carry";
            return Err(self.failure("unreadable", UpstreamFailureKind::Unreadable(what)));
        }
        self.exchange.attempted("ok");
        if let Some(pass) = pass.take() {
            pass.served(self.gateway.clock().mono());
        }
        Ok(Answer {
            head,
            body: AnswerBody::Whole(whole),
            fault: None,
        })
    }

    /// Whether an answer may reach the client as it comes, whatever it is.
    fn passes_unread(&self) -> bool {
        self.crossing.is_same() && !self.envelope.facts().stream
    }
}
