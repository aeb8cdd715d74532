//! An answer that says no: what it means, what it tells of limits, and whether it is the caller's to see.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode, response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use sluicegate_catalog::ErrorClass;
use sluicegate_core::{Outcome, Reception, Signal};
use sluicegate_dialect::{
    ToldFailure, UpstreamError, Whole, charge_refused, classify, refusal_facts, retry_hint,
    told_by_refusal,
};

use super::{Answer, AnswerBody, Call};
use crate::answer_kind::{is_callers_fault, limit_type, redacted};
use crate::charge_drift::Source;
use crate::driver::Reservation;
use crate::http::{UpstreamFailure, UpstreamFailureKind};

/// An error's body is read so far.
const ERROR_BODY_MAX: usize = 256 * 1024;

/// What an upstream refuses with.
struct Refusal {
    head: response::Parts,
    body: Bytes,
    error: UpstreamError,
    /// The status that it names, of which the error's may be our reading.
    named: Option<StatusCode>,
}

impl Call<'_> {
    /// An answer that says no. What the caller caused passes unchanged.
    pub(super) async fn refused(
        &self,
        response: Response<Incoming>,
        reservation: Reservation,
        told: Vec<Signal>,
        delay: Option<Duration>,
    ) -> Result<Answer, UpstreamFailure> {
        let (head, body) = response.into_parts();
        let body = redacted(self.error_body(body).await, self.route.account);
        let provider = &*self.route.account.provider;
        let refusal = Refusal {
            error: classify(provider, head.status, &head.headers, &body),
            named: Some(head.status),
            head,
            body,
        };
        self.refuses(refusal, reservation, told, delay)
            .map_err(|failure| *failure)
    }

    /// The same where the answer calls itself a success. Its client gets it with the status that it should have had, unless it reads
    /// that it failed from the body: then as it came.
    pub(super) fn refused_by_success(
        &self,
        mut head: response::Parts,
        body: Bytes,
        failure: ToldFailure,
        reservation: Reservation,
    ) -> Result<Answer, Box<UpstreamFailure>> {
        let stays = failure.is_answer && self.crossing.keeps_dialect();
        if let Some(status) = failure.error.status
            && (!stays || self.envelope.facts().stream)
        {
            head.status = status;
        }
        let refusal = Refusal {
            head,
            body: redacted(body, self.route.account),
            error: failure.error,
            named: failure.named,
        };
        self.refuses(refusal, reservation, Vec::new(), None)
    }

    fn refuses(
        &self,
        refusal: Refusal,
        mut reservation: Reservation,
        mut told: Vec<Signal>,
        delay: Option<Duration>,
    ) -> Result<Answer, Box<UpstreamFailure>> {
        let Refusal {
            mut head,
            body,
            error,
            named,
        } = refusal;
        let provider = &*self.route.account.provider;
        let wall = self.gateway.clock().now().wall;
        let status = error.status.unwrap_or(head.status);
        let hint = retry_hint(provider, status, &head.headers, &body, wall);
        if error.class == ErrorClass::Rate {
            self.exchange.rate_limited(limit_type(&error));
            // Its window is full, whatever we believed: nothing more is sent into it.
            let asked = refusal_facts(&body).as_ref().and_then(charge_refused);
            self.compare(Source::Refusal, asked, self.demand);
            self.learn(&mut told, &mut reservation);
        }
        told.extend(told_by_refusal(&error, &body, hint));
        reservation.observe(Reception::Refused, &told, delay);
        reservation.settle(Outcome::Failed);
        let limit_closed = reservation.is_closed_by(&told);
        if is_callers_fault(status, &error) {
            self.exchange.attempted(error.class.name());
            let body = self.crossing.error(&error, body);
            if !self.crossing.keeps_dialect() {
                let json = HeaderValue::from_static("application/json");
                head.headers.insert(CONTENT_TYPE, json);
            }
            return Ok(Answer {
                head,
                body: AnswerBody::Whole(Whole {
                    body,
                    usage: None,
                    estimated: false,
                    cut: false,
                    lost: Vec::new(),
                    emptied: false,
                    misshapen: None,
                }),
                fault: Some(error.class),
            });
        }
        let class = error.class;
        let kind = UpstreamFailureKind::Error {
            status: named,
            error,
            hint,
            limit_closed,
        };
        Err(Box::new(self.failure(class.name(), kind)))
    }

    /// As much of an error's body as is worth reading, empty where it does not come.
    async fn error_body(&self, body: Incoming) -> Bytes {
        let limited = http_body_util::Limited::new(body, ERROR_BODY_MAX).collect();
        match tokio::time::timeout(self.route.timeouts.idle, limited).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) | Err(_) => Bytes::new(),
        }
    }
}
