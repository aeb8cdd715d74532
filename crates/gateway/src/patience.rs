//! A client's socket with patience that ends: for its first bytes, and for taking what it asked for.
//!
//! The HTTP library bounds the time of a request's head, but not the bytes by which it tells HTTP/1.1 from HTTP/2, and it waits for
//! a client that does not read for as long as that client keeps its connection. While it waits nobody looks at the answer's
//! body, which holds a reservation; so the socket itself must say that enough is enough.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// So many bytes tell the version of HTTP.
const FIRST_BYTES: usize = 24;

/// A socket that gives up on its client.
#[derive(Debug)]
pub(crate) struct Patient<S = TcpStream> {
    socket: S,
    /// Bytes read, as far as they matter.
    begun: usize,
    first_bytes: Pin<Box<Sleep>>,
    taking: Duration,
    /// Runs while a write waits for the client.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    /// Waits `first_bytes` for the first bytes, and `taking` for each piece to be taken.
    pub(crate) fn new(socket: S, first_bytes: Duration, taking: Duration) -> Self {
        Self {
            socket,
            begun: 0,
            first_bytes: Box::pin(tokio::time::sleep(first_bytes)),
            taking,
            stalled: None,
        }
    }

    /// What a write came to, unless it has waited for too long.
    fn taken<T>(
        &mut self,
        context: &mut Context<'_>,
        write: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.stalled = None;
            return write;
        }
        let taking = self.taking;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(taking)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client takes nothing any more",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(context, buffer);
        if self.begun >= FIRST_BYTES {
            return read;
        }
        if read.is_ready() {
            self.begun += buffer.filled().len() - before;
            return read;
        }
        ready!(self.first_bytes.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client sent no request",
        )))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.taken(context, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.socket).poll_write_vectored(context, pieces);
        self.taken(context, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flush = Pin::new(&mut self.socket).poll_flush(context);
        self.taken(context, flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const SOON: Duration = Duration::from_millis(30);
    const NEVER: Duration = Duration::from_secs(3_600);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_no_request_is_given_up() {
        let (mut client, socket) = tokio::io::duplex(64);
        let mut socket = Patient::new(socket, SOON, NEVER);
        client.write_all(b"P").await.expect("there is room");
        let mut bytes = [0; 64];
        assert_eq!(socket.read(&mut bytes).await.expect("a byte came"), 1);
        let error = socket
            .read(&mut bytes)
            .await
            .expect_err("nothing more comes");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_begun_may_rest() {
        let (mut client, socket) = tokio::io::duplex(64);
        let mut socket = Patient::new(socket, SOON, NEVER);
        client
            .write_all(&[b'x'; FIRST_BYTES])
            .await
            .expect("there is room");
        let mut bytes = [0; 64];
        assert_eq!(
            socket.read(&mut bytes).await.expect("bytes came"),
            FIRST_BYTES
        );
        let rests = tokio::time::timeout(SOON * 100, socket.read(&mut bytes)).await;
        assert!(rests.is_err(), "{rests:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_given_up_and_a_slow_one_is_not() {
        let (mut client, socket) = tokio::io::duplex(8);
        let mut socket = Patient::new(socket, NEVER, SOON);
        socket.write_all(&[0; 8]).await.expect("there is room");
        let slow = async {
            tokio::time::advance(SOON / 2).await;
            client
                .read_exact(&mut [0; 8])
                .await
                .expect("eight bytes are there");
        };
        let (write, ()) = tokio::join!(socket.write_all(&[1; 8]), slow);
        write.expect("it was taken in time");
        let error = socket
            .write_all(&[2; 8])
            .await
            .expect_err("nobody takes it");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
