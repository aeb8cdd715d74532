//! A connection that can be made to break, and to write its head slowly.
//!
//! An HTTP library owns its socket and ends connections properly. To break one in the middle, it is given this socket
//! instead, which keeps a [`Line`] to whoever plays the fault. The break happens at a flush: what was written before it is
//! on its way.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::fault::Cut;

/// The handle by which an answer reaches under its connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(Arc<Mutex<Wishes>>);

#[derive(Debug, Default)]
struct Wishes {
    cut: Option<Cut>,
    drip: Option<Duration>,
    /// Of the connection's task, which must notice a cut.
    waker: Option<Waker>,
}

impl Line {
    /// Breaks the connection once what was written so far has been handed to the system.
    pub(super) fn cut(&self, cut: Cut) {
        let waker = {
            let mut wishes = self.wishes();
            wishes.cut = Some(cut);
            wishes.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The next head goes out one byte at a time, `pause` apart.
    pub(super) fn drip_head(&self, pause: Duration) {
        self.wishes().drip = Some(pause);
    }

    fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A TCP connection with a [`Line`].
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    line: Line,
    drip: Drip,
}

/// How far a dripping head is.
#[derive(Debug, Default)]
struct Drip {
    /// Line ends in a row: two end the head.
    newlines: u8,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, line: Line) -> Self {
        Self {
            stream,
            line,
            drip: Drip::default(),
        }
    }

    /// Writes one byte, after the pause that the byte before it began. The head's end ends the dripping.
    fn poll_drip(
        &mut self,
        cx: &mut Context<'_>,
        byte: u8,
        pause: Duration,
    ) -> Poll<io::Result<usize>> {
        if let Some(timer) = &mut self.drip.pause {
            ready!(timer.as_mut().poll(cx));
        }
        self.drip.pause = None;
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &[byte]))?;
        self.drip.newlines = match byte {
            b'\n' => self.drip.newlines + 1,
            b'\r' => self.drip.newlines,
            _ => 0,
        };
        if self.drip.newlines == 2 {
            self.drip.newlines = 0;
            self.line.wishes().drip = None;
        } else {
            self.drip.pause = Some(Box::pin(sleep(pause)));
        }
        Poll::Ready(Ok(written))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let drip = self.line.wishes().drip;
        match (drip, bytes.first()) {
            (Some(pause), Some(byte)) => self.poll_drip(cx, *byte, pause),
            _ => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.line.wishes().drip.is_some() {
            let first = slices
                .iter()
                .find(|slice| !slice.is_empty())
                .map_or(&[][..], |first| first);
            return self.poll_write(cx, first);
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        let cut = {
            let mut wishes = self.line.wishes();
            wishes.waker = Some(cx.waker().clone());
            wishes.cut
        };
        match cut {
            None => Poll::Ready(Ok(())),
            Some(cut) => {
                if cut == Cut::Reset {
                    self.stream.set_zero_linger()?;
                }
                Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::ConnectionAborted,
                    "cut on purpose",
                )))
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
