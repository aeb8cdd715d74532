//! A streamed answer on its way to the client. The reservation travels inside and ends with it: when the upstream ends, when it fails
//! or falls silent, when the client leaves and the body is dropped, when the process halts.
//!
//! Until the first content nothing has reached the client: a failure is a status. After it, a failure is one error event and the end,
//! since a stream that just stops looks like success to most SDKs.

mod hold;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use sluicegate_core::{FailureKind, Outcome, Timestamp};
use sluicegate_dialect::{AnswerStream, Usage};
use tokio::time::Sleep;

use crate::attempt::innermost;
use crate::clock::Clock;
use crate::driver::Reservation;
use crate::exchange::Exchange;
use crate::gateway::{Gateway, Phase};
use crate::health::Passed;
use crate::http::{Failure, UpstreamFailure, UpstreamFailureKind};
use crate::settlement::{self, Settlement};
use crate::snapshot::Route;

/// Behind `[DONE]` the end of the body is awaited for so long.
const END_MAX: Duration = Duration::from_secs(1);

/// The body of a streamed answer.
pub(crate) struct Streamed {
    upstream: Incoming,
    /// `None` where the body is passed on unread.
    answer: Option<AnswerStream>,
    reservation: Reservation,
    exchange: Option<Exchange>,
    /// The upstream's breaker learns how the stream ends.
    pass: Option<Passed>,
    /// What the client gets next.
    out: BytesMut,
    ended: bool,
    clock: Clock,
    idle: Duration,
    last_frame: Timestamp,
    silence: Pin<Box<Sleep>>,
    halted: Pin<Box<dyn Future<Output = ()> + Send>>,
    deployment: String,
    settlement: Settlement,
}

impl Streamed {
    pub(crate) fn new(
        gateway: &Arc<Gateway>,
        upstream: Incoming,
        answer: Option<AnswerStream>,
        reservation: Reservation,
        route: Route<'_>,
        settlement: Settlement,
    ) -> Self {
        let idle = route.timeouts.idle;
        Self {
            upstream,
            answer,
            reservation,
            exchange: None,
            pass: None,
            out: BytesMut::new(),
            ended: false,
            clock: gateway.clock(),
            idle,
            last_frame: gateway.clock().mono(),
            silence: Box::pin(tokio::time::sleep(idle)),
            halted: Box::pin(gateway.reached(Phase::Halting)),
            deployment: route.deployment.name.clone(),
            settlement,
        }
    }

    /// What was read of an unread body before it became one.
    pub(crate) fn begin_with(&mut self, begun: &[u8]) {
        self.out.extend_from_slice(begun);
    }

    /// The first content is there, or as much of the answer as is awaited; how it ends is told to `pass`.
    pub(crate) fn answers(&mut self, mut pass: Option<Passed>) {
        if let Some(pass) = &mut pass
            && self.has_content()
        {
            pass.answers(self.clock.mono());
        }
        self.pass = pass;
    }

    /// The call ends when this body does.
    pub(crate) fn carry(&mut self, exchange: Exchange) {
        self.exchange = Some(exchange);
    }

    /// What it used, where it has said so.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.answer.as_ref()?.progress().usage
    }

    fn take(&mut self, data: Bytes) -> Result<(), UpstreamFailureKind> {
        match &mut self.answer {
            Some(answer) => answer.push(data, &mut self.out).map_err(|_| {
                UpstreamFailureKind::Unreadable("a stream event larger than can be followed")
            }),
            None => {
                self.out.extend_from_slice(&data);
                Ok(())
            }
        }
    }

    fn flush(&mut self) {
        if let Some(answer) = &mut self.answer {
            answer.finish(&mut self.out);
        }
    }

    /// Whether content has come, as far as anybody reads it.
    fn has_content(&self) -> bool {
        self.answer
            .as_ref()
            .is_none_or(|answer| answer.progress().has_content())
    }

    fn is_whole(&self) -> bool {
        self.answer
            .as_ref()
            .is_none_or(|answer| answer.progress().is_complete())
    }

    /// Everything has come.
    fn finish(&mut self) {
        self.flush();
        if self.is_whole() {
            self.served();
        } else {
            self.fail("unfinished", UpstreamFailureKind::Unfinished);
        }
    }

    /// Nothing more will come: the client is told so, unless it has everything already.
    fn fail(&mut self, outcome: &'static str, kind: UpstreamFailureKind) {
        if self.answer.is_some() && self.is_whole() {
            return self.served();
        }
        self.fails();
        let deployment = self.deployment.clone();
        self.break_off(outcome, &UpstreamFailure::new(deployment, kind).into());
    }

    fn served(&mut self) {
        if let Some(pass) = self.pass.take() {
            pass.served(self.clock.mono());
        }
        self.end(StatusCode::OK, "ok");
    }

    /// The upstream did, and no other can take over: the client has seen a part of its answer.
    fn fails(&mut self) {
        if let Some(pass) = self.pass.take() {
            let failure = sluicegate_core::Failure::of(FailureKind::CutAfterContent);
            pass.failed(&failure, self.clock.mono());
        }
    }

    fn break_off(&mut self, outcome: &'static str, failure: &Failure) {
        tracing::warn!(
            deployment = self.deployment,
            reason = failure.message(),
            "stream broken off"
        );
        if let Some(answer) = &mut self.answer {
            failure.break_off(answer, &mut self.out);
        }
        self.end(failure.status(), outcome);
    }

    fn end(&mut self, status: StatusCode, outcome: &'static str) {
        self.ended = true;
        self.settle();
        if let Some(mut exchange) = self.exchange.take() {
            exchange.attempted(outcome);
            exchange.ended(status);
        }
    }

    fn settle(&mut self) {
        let Some(answer) = &self.answer else {
            return self.reservation.settle(Outcome::Unmeasured);
        };
        let progress = answer.progress();
        if let (Some(usage), Some(exchange)) = (progress.usage, &self.exchange) {
            exchange.used(settlement::total(usage));
        }
        self.reservation.settle(self.settlement.of_stream(progress));
    }

    /// Whether nothing has come for too long; wakes the task when that may be so.
    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.silence.as_mut().poll(context).is_ready() {
            let silent = self.clock.mono().saturating_since(self.last_frame);
            if silent >= self.idle {
                return Poll::Ready(());
            }
            // Moving the timer when it fires is cheaper than moving it with every event.
            let due = self.last_frame.saturating_add(self.idle);
            self.silence.as_mut().reset(self.clock.instant(due));
        }
        Poll::Pending
    }

    fn poll_upstream(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match Pin::new(&mut self.upstream).poll_frame(context) {
            Poll::Ready(None) => self.finish(),
            Poll::Ready(Some(Err(error))) => {
                self.fail("connection", UpstreamFailureKind::Cut(innermost(&error)));
            }
            Poll::Ready(Some(Ok(frame))) => {
                self.last_frame = self.clock.mono();
                if let Ok(data) = frame.into_data() {
                    self.follow(data);
                }
            }
            Poll::Pending if self.halted.as_mut().poll(context).is_ready() => {
                self.break_off("halted", &Failure::BrokenOff);
            }
            Poll::Pending if self.poll_silence(context).is_ready() => {
                let what = "the next event of its stream";
                self.fail(
                    "timeout",
                    UpstreamFailureKind::Silent {
                        what,
                        after: self.idle,
                    },
                );
            }
            Poll::Pending => return Poll::Pending,
        }
        Poll::Ready(())
    }

    fn follow(&mut self, data: Bytes) {
        if let Err(kind) = self.take(data) {
            return self.fail("unreadable", kind);
        }
        if self
            .answer
            .as_ref()
            .is_some_and(|answer| answer.progress().done)
        {
            // The answer is complete. The connection may be used again if its end comes soon.
            self.idle = self.idle.min(END_MAX);
            let due = self.last_frame.saturating_add(self.idle);
            self.silence.as_mut().reset(self.clock.instant(due));
        }
    }

    /// Whether the answer has ended and is not of the form that it has to have. The client has been told.
    fn is_misshapen(&self) -> bool {
        self.answer
            .as_ref()
            .is_some_and(|answer| answer.misshapen().is_some())
    }

    /// Whether the upstream has said that it failed. The client has that event; nothing that follows counts.
    fn has_failed(&self) -> bool {
        self.answer
            .as_ref()
            .is_some_and(|answer| answer.progress().error.is_some())
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        loop {
            if !this.out.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(this.out.split().freeze()))));
            }
            if this.ended {
                return Poll::Ready(None);
            }
            if this.is_misshapen() {
                // The upstream works: what it said is of no use.
                if let Some(pass) = this.pass.take() {
                    pass.served(this.clock.mono());
                }
                this.end(StatusCode::BAD_GATEWAY, "misshapen");
                continue;
            }
            if this.has_failed() {
                // What frames the events may have an end of its own.
                this.flush();
                this.fails();
                this.end(StatusCode::BAD_GATEWAY, "error_event");
                continue;
            }
            if this.poll_upstream(context).is_pending() {
                return Poll::Pending;
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.out.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl Drop for Streamed {
    fn drop(&mut self) {
        if !self.ended {
            // The client left. Its call counts as such, what it held is settled for what came.
            self.settle();
            if let Some(exchange) = &self.exchange {
                exchange.attempted("client_left");
            }
        }
    }
}

impl std::fmt::Debug for Streamed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streamed")
            .field("deployment", &self.deployment)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
