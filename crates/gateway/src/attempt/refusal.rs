//! An answer that says no: what it means, what it tells of limits, and whether it is the caller's to see.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use sluicegate_catalog::ErrorClass;
use sluicegate_core::{Outcome, Reception, Signal};
use sluicegate_dialect::classify;
use sluicegate_dialect::{Whole, charge_refused, refusal_facts, retry_hint, told_by_refusal};

use super::{Answer, AnswerBody, Call};
use crate::answer_kind::{is_callers_fault, limit_type, redacted};
use crate::charge_drift::Source;
use crate::driver::Reservation;
use crate::http::{UpstreamFailure, UpstreamFailureKind};

/// An error's body is read so far.
const ERROR_BODY_MAX: usize = 256 * 1024;

impl Call<'_> {
    /// An answer that says no. What the caller caused passes unchanged.
    pub(super) async fn refused(
        &self,
        response: Response<Incoming>,
        mut reservation: Reservation,
        mut told: Vec<Signal>,
        delay: Option<Duration>,
    ) -> Result<Answer, UpstreamFailure> {
        let (head, body) = response.into_parts();
        let body = redacted(self.error_body(body).await, self.route.account);
        let provider = &*self.route.account.provider;
        let error = classify(provider, head.status, &head.headers, &body);
        let wall = self.gateway.clock().now().wall;
        let hint = retry_hint(provider, head.status, &head.headers, &body, wall);
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
        if is_callers_fault(head.status, &error) {
            self.exchange.attempted(error.class.name());
            let mut head = head;
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
        let status = Some(head.status);
        let kind = UpstreamFailureKind::Error {
            status,
            error,
            hint,
            limit_closed,
        };
        Err(self.failure(class.name(), kind))
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
