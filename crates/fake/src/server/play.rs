//! Plays an answer: its timing and the faults that were chosen for it.
//!
//! Scripts that run inside a response body. They say in order what goes over the wire; what a fault does stands next to
//! the place where it happens.

use std::future::pending;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep, sleep_until};

use crate::answer::{ChunkUsage, Completion, Progress};
use crate::dialect::{Dialect, Framing};
use crate::fault::{BeforeHead, Cut, ErrorKind, Fault, UsageFault};
use crate::model::Profile;

use super::body::{Body, Outlet};
use super::clock;
use super::error;
use super::framing::{self, Place};
use super::socket::Line;
use super::state::{Ended, Running};

/// One answer to play.
#[derive(Debug)]
pub(super) struct Play {
    pub(super) fault: Fault,
    pub(super) dialect: Dialect,
    pub(super) framing: Framing,
    /// In whose form errors come.
    pub(super) manners: Profile,
    pub(super) pace: Duration,
    pub(super) line: Line,
    /// When the call arrived at the limits.
    pub(super) arrived: Instant,
    pub(super) running: Running,
}

impl Play {
    /// Does what must happen instead of a head; returns if there will be one.
    pub(super) async fn before_head(self) -> Self {
        let cut = match self.fault.before_head {
            None => return self,
            Some(BeforeHead::Hang) => return pending().await,
            Some(BeforeHead::Reset) => Cut::Reset,
            Some(BeforeHead::Close) => Cut::Close,
        };
        self.running.end(Ended::Failed);
        self.line.cut(cut);
        pending().await
    }

    /// The body of an answer in one piece.
    pub(super) fn whole(self, completion: &Completion) -> Body {
        let text = self.fault.body.clone();
        let text = text.unwrap_or_else(|| completion.whole(self.fault.usage));
        let mut text = text.into_bytes();
        text.truncate(text.len().saturating_sub(self.fault.truncate));
        let tokens = completion.output_tokens();
        let length = text.len() as u64;
        let text = Bytes::from(text);
        Body::scripted(Some(length), |outlet| self.play_whole(outlet, text, tokens))
    }

    async fn play_whole(mut self, outlet: Outlet, text: Bytes, tokens: u64) {
        let Self { fault, line, .. } = &self;
        if let Some(bytes) = fault.cut_after {
            send(&outlet, fault, text.slice(..bytes.min(text.len()))).await;
            let (line, cut) = (line.clone(), fault.cut);
            self.running.end(Ended::Failed);
            line.cut(cut);
            return pending().await;
        }
        if let Some(bytes) = fault.hang_after {
            send(&outlet, fault, text.slice(..bytes.min(text.len()))).await;
            return pending().await;
        }
        // A body of known length is not asked again after its last byte, so the call ends before that is handed over.
        self.running.sent(tokens);
        self.running.end(Ended::Served);
        send(&outlet, &self.fault, text).await;
    }

    /// The body of a stream.
    pub(super) fn stream(self, completion: Completion, include_usage: bool) -> Body {
        Body::scripted(None, move |outlet| {
            self.play_stream(outlet, completion, include_usage)
        })
    }

    async fn play_stream(mut self, outlet: Outlet, completion: Completion, include_usage: bool) {
        let include_usage = include_usage && self.fault.usage != UsageFault::Missing;
        let usage = match self.fault.usage {
            UsageFault::Every => ChunkUsage::Cumulative,
            _ if include_usage => ChunkUsage::Null,
            _ => ChunkUsage::Absent,
        };
        let mut steps = completion.steps(include_usage);
        let done = self.dialect.says_done() && bool::from(self.fault.done);
        if !self.dialect.says_done() && !bool::from(self.fault.done) {
            steps.pop();
        }
        let begun = clock::monotonic();
        let mut tokens = 0_u32;
        let mut pen = Pen {
            outlet,
            held: Vec::new(),
        };
        for (sent, step) in steps.iter().enumerate() {
            let Some(mut play) = self.interlude(&mut pen, sent).await else {
                return;
            };
            let new = completion.tokens(*step);
            if new > 0 && !play.pace.is_zero() {
                pen.write_out(&play.fault).await;
                tokens = tokens.saturating_add(1);
                sleep_until(begun + play.pace.saturating_mul(tokens)).await;
            }
            play.running.produced(new);
            let progress = Progress {
                number: sent,
                tokens: play.running.output_tokens(),
                usage,
            };
            let place = Place::after(sent, sent + 1 == steps.len() && !done);
            let frame = completion.frame(*step, progress);
            let bytes = framing::event(play.framing, &play.fault, &frame, place);
            pen.write(&play.fault, bytes).await;
            self = play;
        }
        let Some(play) = self.interlude(&mut pen, steps.len()).await else {
            return;
        };
        if done {
            pen.write(&play.fault, framing::done(&play.fault)).await;
        }
        pen.write_out(&play.fault).await;
        play.running.end(Ended::Served);
    }

    /// What a fault does after `sent` events; nothing is left to play if it ended the stream.
    async fn interlude(self, pen: &mut Pen, sent: usize) -> Option<Self> {
        let now = Some(sent);
        let fault = &self.fault;
        if fault.pause_after == now {
            pen.write_out(fault).await;
            silence(
                &pen.outlet,
                fault,
                self.framing,
                Some(fault.pause_ms.as_duration()),
            )
            .await;
        }
        if fault.hang_after == now {
            pen.write_out(fault).await;
            silence(&pen.outlet, fault, self.framing, None).await;
        }
        if fault.error_after == now {
            let kind = fault.kind.unwrap_or(ErrorKind::Server);
            let frame = error::frame(self.dialect, self.manners, kind, sent);
            let bytes = framing::error(self.framing, fault, &frame, sent);
            pen.write(fault, bytes).await;
            pen.write_out(fault).await;
            self.running.end(Ended::Failed);
            return None;
        }
        if fault.cut_after == now {
            pen.write_out(fault).await;
            let (line, cut) = (self.line.clone(), fault.cut);
            self.running.end(Ended::Failed);
            line.cut(cut);
            return pending().await;
        }
        Some(self)
    }
}

/// Writes events, or holds them to write them together.
struct Pen {
    outlet: Outlet,
    held: Vec<u8>,
}

impl Pen {
    async fn write(&mut self, fault: &Fault, event: Vec<u8>) {
        if fault.coalesce {
            self.held.extend(event);
        } else {
            send(&self.outlet, fault, event.into()).await;
        }
    }

    async fn write_out(&mut self, fault: &Fault) {
        send(&self.outlet, fault, std::mem::take(&mut self.held).into()).await;
    }
}

/// Sends `bytes`, in pieces where the fault splits writes.
async fn send(outlet: &Outlet, fault: &Fault, mut bytes: Bytes) {
    while fault.split > 0 && bytes.len() > fault.split {
        outlet.send(bytes.split_to(fault.split)).await;
        outlet.flush().await;
    }
    outlet.send(bytes).await;
}

/// Nothing for this long, or for ever, but for comments where the fault wants them.
async fn silence(outlet: &Outlet, fault: &Fault, framing: Framing, length: Option<Duration>) {
    let begun = clock::monotonic();
    let end = length.map(|length| begun + length);
    let between = fault.comment_ms.as_duration();
    let mut next = begun;
    while !between.is_zero() {
        next += between;
        if end.is_some_and(|end| next >= end) {
            break;
        }
        sleep_until(next).await;
        outlet
            .send(framing::keep_alive(framing, fault).into())
            .await;
    }
    match end {
        Some(end) => sleep_until(end).await,
        None => pending().await,
    }
}

/// The wait for the head: the usual one and the fault's, and for an answer in one piece the time of its tokens.
pub(super) async fn wait_for_head(head: Duration, fault: &Fault, tokens: Duration) {
    let wait = head + fault.head_ms.as_duration() + tokens;
    if !wait.is_zero() {
        sleep(wait).await;
    }
}
