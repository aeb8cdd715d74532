//! The head of a stream is held back until its first content: a failure until then is a status, and another target may take over.

use std::time::Duration;

use http_body_util::BodyExt;
use sluicegate_core::Outcome;

use super::Streamed;
use crate::attempt::innermost;
use crate::http::UpstreamFailureKind;

/// So much of a stream may be held back for its first content.
const HELD_MAX: usize = 1024 * 1024;

impl Streamed {
    /// Reads until the first content has come, `patience` is over or the stream has ended.
    ///
    /// # Errors
    ///
    /// When it fails before any content came: the outcome's name, and what happened.
    pub(crate) async fn hold(
        &mut self,
        patience: Duration,
    ) -> Result<(), (&'static str, UpstreamFailureKind)> {
        let patience_ends = tokio::time::sleep(patience);
        tokio::pin!(patience_ends);
        loop {
            let Some(answer) = &self.answer else {
                return Ok(());
            };
            let progress = answer.progress();
            if let Some(wrong) = answer.misshapen().filter(|_| !progress.has_content()) {
                let wrong = wrong.clone();
                self.settle();
                return Err(("misshapen", UpstreamFailureKind::Misshapen(wrong)));
            }
            if let Some(error) = progress.error.clone().filter(|_| !progress.has_content()) {
                self.reservation.settle(Outcome::Failed);
                let name = error.class.name();
                return Err((
                    name,
                    UpstreamFailureKind::Error {
                        status: None,
                        error,
                        hint: None,
                        limit_closed: false,
                    },
                ));
            }
            if progress.has_content() || self.out.len() > HELD_MAX {
                return Ok(());
            }
            let frame = tokio::select! {
                biased;
                frame = tokio::time::timeout(self.idle, self.upstream.frame()) => frame,
                () = &mut patience_ends => return Ok(()),
            };
            self.last_frame = self.clock.mono();
            match frame {
                Err(_) => {
                    let what = "the first content of its stream";
                    return Err((
                        "timeout",
                        UpstreamFailureKind::Silent {
                            what,
                            after: self.idle,
                        },
                    ));
                }
                Ok(Some(Err(error))) => {
                    return Err(("connection", UpstreamFailureKind::Cut(innermost(&error))));
                }
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data()
                        && let Err(kind) = self.take(data)
                    {
                        return Err(("unreadable", kind));
                    }
                }
                Ok(None) => {
                    self.flush();
                    if self.has_failed() {
                        continue;
                    }
                    if !self.is_whole() {
                        return Err(("unfinished", UpstreamFailureKind::Unfinished));
                    }
                    // The end is seen again, and settled, when the client reads this far.
                    return Ok(());
                }
            }
        }
    }
}
