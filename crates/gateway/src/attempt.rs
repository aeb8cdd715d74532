//! One call of an upstream: send, wait for the head, tell what kind of answer it is.
//!
//! The reservation comes in and goes out with the answer's body, or ends here: given back where nothing was sent, kept where
//! nobody can say what came of it.

mod refusal;
mod whole;

use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode, response};
use hyper::body::{Body, Incoming};
use hyper_util::client::legacy::connect::capture_connection;
use sluicegate_catalog::ErrorClass;
use sluicegate_core::{Amounts, Answered, Outcome, Reception};
use sluicegate_dialect::canonical::Stamp;
use sluicegate_dialect::gemini::Framing;
use sluicegate_dialect::{
    AnswerStream, Crossing, Envelope, Shape, Whole, charge_told, signals, work_time,
};

use crate::answer_kind::{Form, answer_form, is_encoded};
use crate::body::Streamed;
use crate::charge_drift::Source;
use crate::driver::Reservation;
use crate::exchange::Exchange;
use crate::gateway::{Gateway, Phase, RequestId};
use crate::health::Passed;
use crate::http::{Failure, UpstreamFailure, UpstreamFailureKind};
use crate::metrics::{Estimate, tokens};
use crate::outgoing::Outgoing;
use crate::settlement::{self, Settlement};
use crate::snapshot::Route;

/// What an upstream answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: response::Parts,
    pub(crate) body: AnswerBody,
    /// Where it says no for what the caller caused: why.
    pub(crate) fault: Option<ErrorClass>,
}

#[derive(Debug)]
pub(crate) enum AnswerBody {
    /// Everything there is of it; what it held is settled.
    Whole(Whole),
    /// It goes on, and holds its reservation until it ends.
    Streamed(Box<Streamed>),
}

/// One call, ready to be sent.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) gateway: &'a Arc<Gateway>,
    pub(crate) route: Route<'a>,
    pub(crate) envelope: &'a Envelope,
    /// How it gets there, and the answer back.
    pub(crate) crossing: Crossing,
    /// What the text of the answer has to be, where that is checked.
    pub(crate) shape: Option<&'a Arc<Shape>>,
    /// What the client's request is called, which an answer that is translated is called after.
    pub(crate) id: RequestId,
    /// What it is charged before it is sent.
    pub(crate) demand: Amounts,
    pub(crate) exchange: &'a Exchange,
    /// How long the head of a stream is held back for its first content.
    pub(crate) head_hold: Duration,
}

impl Call<'_> {
    /// Sends `request` and waits until it is known what kind of answer this is: a failure, a whole body, or a stream that has
    /// brought its first content.
    ///
    /// # Errors
    ///
    /// When the upstream fails before anything of its answer must reach the client.
    ///
    /// What `pass` is gives the call's end back to whoever asked for it, unless the answer goes on: then it is taken along.
    pub(crate) async fn send(
        &self,
        request: Request<Outgoing>,
        reservation: Reservation,
        pass: &mut Option<Passed>,
    ) -> Result<Answer, Failure> {
        let left = LeftByClient(Some(self.exchange));
        let answer = tokio::select! {
            biased;
            answer = self.sent(request, reservation, pass) => Some(answer),
            () = self.gateway.reached(Phase::Halting) => None,
        };
        left.ends();
        match answer {
            Some(answer) => Ok(answer?),
            None => {
                self.exchange.attempted("halted");
                Err(Failure::BrokenOff)
            }
        }
    }

    async fn sent(
        &self,
        request: Request<Outgoing>,
        mut reservation: Reservation,
        pass: &mut Option<Passed>,
    ) -> Result<Answer, UpstreamFailure> {
        let begun = self.gateway.clock().mono();
        let drift = self.route.upstream.drift();
        let sent = drift.send(self.route.model, self.demand, begun);
        let response = self.head(request, &mut reservation).await?;
        let now = self.gateway.clock().now();
        let took = now.mono.saturating_since(begun);
        self.exchange.head_took(took);
        reservation.answered(answered_with(response.status(), took));
        if let Some(pass) = pass {
            pass.head_took(took);
        }
        let provider = &*self.route.account.provider;
        let work = work_time(provider, response.headers());
        let delay = work.and_then(|work| reservation.delay(work, now.mono));
        let mut told = signals(provider, response.headers(), now.wall);
        let taken = sent.answered(&told, now.mono);
        self.compare(Source::Remainders, Some(taken), self.demand);
        if !response.status().is_success() {
            return self.refused(response, reservation, told, delay).await;
        }
        self.learn(&mut told, &mut reservation);
        reservation.observe(Reception::Accepted, &told, delay);
        let unread = is_encoded(response.headers()) && self.crossing.is_same();
        if unread && !response.body().is_end_stream() {
            // It was asked for in the clear; whoever compresses it anyway is passed on unread.
            return Ok(self.unread(response, &[], reservation, pass));
        }
        let streams = self.envelope.facts().stream;
        match answer_form(response.headers()) {
            Form::Stream if streams => self.stream(response, reservation, pass).await,
            Form::Other if streams => {
                reservation.settle(Outcome::Failed);
                let what = "a body that is no event stream though a stream was asked for";
                Err(self.failure("unreadable", UpstreamFailureKind::Unreadable(what)))
            }
            Form::Stream | Form::Json | Form::Other => {
                self.whole_in_time(response, reservation, took, pass).await
            }
        }
    }

    /// Until there is a connection nothing is sent: whatever ends the wait for it gives everything back.
    async fn head(
        &self,
        mut request: Request<Outgoing>,
        reservation: &mut Reservation,
    ) -> Result<Response<Incoming>, UpstreamFailure> {
        let timeouts = &self.route.timeouts;
        let mut connection = capture_connection(&mut request);
        let head = self.route.upstream.send(request);
        tokio::pin!(head);
        let connected = async {
            tokio::select! {
                // The sending first: where a connection is at hand, it is known right after, and no timer was set for it.
                biased;
                response = &mut head => Some(response),
                _ = connection.wait_for_connection_metadata() => None,
            }
        };
        let response = match tokio::time::timeout(timeouts.connect, connected).await {
            Err(_) => {
                let kind = UpstreamFailureKind::ConnectTimeout(timeouts.connect);
                return Err(self.failure("connect", kind));
            }
            Ok(Some(response)) => response,
            Ok(None) => {
                reservation.sent();
                let total = timeouts.total.unwrap_or(timeouts.head);
                let patience = timeouts.head.min(total);
                match tokio::time::timeout(patience, head).await {
                    Ok(response) => response,
                    Err(_) => {
                        reservation.answered(Answered::Dropped(patience));
                        return Err(self.silent("the head of its answer", patience));
                    }
                }
            }
        };
        match response {
            Ok(response) => {
                reservation.sent();
                Ok(response)
            }
            Err(error) if error.is_connect() => {
                reservation.settle(Outcome::Void);
                let problem = innermost(&error);
                Err(self.failure("connect", UpstreamFailureKind::Connect(problem)))
            }
            Err(error) => {
                reservation.sent();
                Err(self.failure("connection", UpstreamFailureKind::Lost(innermost(&error))))
            }
        }
    }

    async fn stream(
        &self,
        response: Response<Incoming>,
        reservation: Reservation,
        pass: &mut Option<Passed>,
    ) -> Result<Answer, UpstreamFailure> {
        let (mut head, incoming) = response.into_parts();
        let framing = self.envelope.operation().framing();
        if !self.crossing.is_same() || framing != Framing::Events {
            head.headers.insert(CONTENT_TYPE, self.stream_type());
        }
        // Before there is a usage to tell of, it is the charge at admission.
        let told = charge_told(&self.route.account.provider, &head.headers);
        self.compare(Source::Header, told, self.demand);
        let answer = self.crossing.stream(
            &self.route.account.provider,
            self.shape,
            || self.stamp(),
            self.envelope.usage_chunk(),
        );
        let mut streamed = Box::new(self.streamed(incoming, Some(answer), reservation));
        match streamed.hold(self.head_hold).await {
            Ok(()) => {
                streamed.answers(pass.take());
                Ok(Answer {
                    head,
                    body: AnswerBody::Streamed(streamed),
                    fault: None,
                })
            }
            Err((outcome, kind)) => {
                if let Some(usage) = streamed.usage() {
                    self.exchange.used(settlement::total(usage));
                }
                Err(self.failure(outcome, kind))
            }
        }
    }

    fn unread(
        &self,
        response: Response<Incoming>,
        begun: &[u8],
        reservation: Reservation,
        pass: &mut Option<Passed>,
    ) -> Answer {
        let (head, incoming) = response.into_parts();
        let mut streamed = self.streamed(incoming, None, reservation);
        streamed.begin_with(begun);
        streamed.answers(pass.take());
        Answer {
            head,
            body: AnswerBody::Streamed(Box::new(streamed)),
            fault: None,
        }
    }

    fn streamed(
        &self,
        incoming: Incoming,
        answer: Option<AnswerStream>,
        reservation: Reservation,
    ) -> Streamed {
        Streamed::new(
            self.gateway,
            incoming,
            answer,
            reservation,
            self.route,
            self.settlement(),
        )
    }

    /// The provider told by `source` what it charged, where it told anything, for what we `charged`.
    fn compare(&self, source: Source, told: Option<Amounts>, charged: Amounts) {
        if let Some(told) = told {
            let drift = self.route.upstream.drift();
            let taken = drift.compare(self.route.account, source, told, charged);
            let estimate = Estimate {
                provider: self.route.account.provider.id.clone(),
                model: self.route.deployment.name.clone(),
                estimate: "charge",
            };
            self.gateway
                .metrics()
                .estimated(&estimate, tokens(charged), tokens(taken));
        }
    }

    fn settlement(&self) -> Settlement {
        settlement::sample(
            self.route,
            self.envelope.body(),
            self.gateway.sampled_counts(),
        );
        Settlement::new(
            self.route,
            self.envelope.facts(),
            self.gateway.answer_lengths(),
            self.gateway.calibrations(),
        )
        .of_route(self.exchange.route_name())
    }

    /// For an answer that is translated: as of now, and with an estimate of its own, so it is for others not to ask.
    fn stamp(&self) -> Stamp {
        let wall = self.gateway.clock().now().wall;
        let created_s = wall.as_unix_nanos() / 1_000_000_000;
        let (dialect, facts) = (self.envelope.operation().dialect(), self.envelope.facts());
        let input = settlement::input(self.route, facts, self.gateway.calibrations());
        Stamp {
            input_tokens: input.central,
            request: self.envelope.body().clone(),
            ..dialect.stamp(&self.id.to_string(), &facts.model, created_s)
        }
    }

    /// What a stream is in the client's eyes.
    fn stream_type(&self) -> HeaderValue {
        HeaderValue::from_static(self.envelope.operation().framing().content_type())
    }

    fn silent(&self, what: &'static str, after: Duration) -> UpstreamFailure {
        self.failure("timeout", UpstreamFailureKind::Silent { what, after })
    }

    fn failure(&self, outcome: &'static str, kind: UpstreamFailureKind) -> UpstreamFailure {
        self.exchange.attempted(outcome);
        UpstreamFailure::new(self.route.deployment.name.clone(), kind)
    }
}

/// A call whose client is still there. Dropped before it is over, it counts as one whose client left.
struct LeftByClient<'a>(Option<&'a Exchange>);

impl LeftByClient<'_> {
    /// The call came to something, which is counted by what it was.
    fn ends(mut self) {
        self.0 = None;
    }
}

impl Drop for LeftByClient<'_> {
    fn drop(&mut self) {
        if let Some(exchange) = self.0 {
            exchange.attempted("client_left");
        }
    }
}

/// What an answer's `status` after so long says of the upstream's slots.
fn answered_with(status: StatusCode, took: Duration) -> Answered {
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Answered::Dropped(took),
        _ => Answered::Served(took),
    }
}

/// The cause that says most: the last of the chain.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
