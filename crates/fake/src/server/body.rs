//! A response body that a script writes: an async function that sends bytes, waits, and ends.
//!
//! The script lives inside the body and goes when the body goes, so that a client that leaves ends it at once, wherever it
//! waits; no task and no channel outlives an answer.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// A body that is complete, or that a script writes.
pub(super) struct Body {
    script: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    outlet: Outlet,
    length: Option<u64>,
}

/// Where a script writes to.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlet(Arc<Mutex<Option<Bytes>>>);

impl Body {
    /// All of it at once.
    pub(super) fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let length = Some(bytes.len() as u64);
        let outlet = Outlet::default();
        outlet.put(bytes);
        Self {
            script: None,
            outlet,
            length,
        }
    }

    /// What `script` writes. `length` is promised to the client; without it the end is marked by framing.
    pub(super) fn scripted<F>(length: Option<u64>, script: impl FnOnce(Outlet) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let outlet = Outlet::default();
        Self {
            script: Some(Box::pin(script(outlet.clone()))),
            outlet,
            length,
        }
    }
}

impl Outlet {
    /// Hands `bytes` to the connection; returns when it asks for more.
    pub(super) async fn send(&self, bytes: Bytes) {
        let mut bytes = Some(bytes);
        poll_fn(|_| match bytes.take() {
            Some(bytes) if !bytes.is_empty() => {
                self.put(bytes);
                Poll::Pending
            }
            _ => Poll::Ready(()),
        })
        .await;
    }

    /// Lets the connection write out what it has before more comes.
    pub(super) async fn flush(&self) {
        let mut flushed = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut flushed, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    fn put(&self, bytes: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(bytes).filter(|b| !b.is_empty());
    }

    fn take(&self) -> Option<Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let running = match self.script.as_mut() {
            Some(script) => script.as_mut().poll(cx).is_pending(),
            None => false,
        };
        if !running {
            self.script = None;
        }
        match self.outlet.take() {
            Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            None if running => Poll::Pending,
            None => Poll::Ready(None),
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.length
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }

    fn is_end_stream(&self) -> bool {
        self.length == Some(0) && self.script.is_none()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_script_writes_frames_in_order() {
        let body = Body::scripted(None, |outlet| async move {
            outlet.send(Bytes::from_static(b"one ")).await;
            outlet.flush().await;
            outlet.send(Bytes::new()).await;
            outlet.send(Bytes::from_static(b"two")).await;
        });
        assert_eq!(body.collect().await.unwrap().to_bytes(), "one two");
        assert_eq!(Body::full("").collect().await.unwrap().to_bytes(), "");
        assert_eq!(Body::full("x").collect().await.unwrap().to_bytes(), "x");
    }

    #[tokio::test]
    async fn a_flush_leaves_the_connection_time_to_write() {
        let mut body = Body::scripted(None, |outlet| async move {
            outlet.send(Bytes::from_static(b"one")).await;
            outlet.flush().await;
            outlet.send(Bytes::from_static(b"two")).await;
        });
        let mut frames = Vec::new();
        for _ in 0..4 {
            let frame = poll_fn(|cx| {
                Poll::Ready(match http_body::Body::poll_frame(Pin::new(&mut body), cx) {
                    Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
                    Poll::Ready(None) => Some(Bytes::from_static(b"end")),
                    Poll::Pending => None,
                })
            });
            frames.push(frame.await);
        }
        let frame = |text: &'static str| Some(Bytes::from_static(text.as_bytes()));
        assert_eq!(frames, [frame("one"), None, frame("two"), frame("end")]);
    }
}
