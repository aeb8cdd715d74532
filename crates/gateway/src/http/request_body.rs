//! A client's body, read whole, and the memory for all of them.
//!
//! One body is bounded, and so are all together: a few hundred clients that upload at once must not take the machine's memory.
//! Room is taken as the bytes come, so that who promises much and sends nothing takes none.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Failure;

/// A client that is silent for so long in the middle of its body is given up.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// So long a body may take, and for each byte as much longer as it takes at [`RATE_LEAST`]: who drips is given up soon, and who is
/// on a slow line is not.
const TIME_FREE: Duration = Duration::from_secs(60);
/// Bytes a second, on average, below which a client is given up.
const RATE_LEAST: u64 = 8 * 1024;
/// Bodies of all requests that have not ended, at least this much or four of the largest.
const ALL_MAX: u64 = 512 * 1024 * 1024;
/// Room is taken in pieces of this size.
const PIECE: usize = 4 * 1024;
/// So much of a body that nobody wants is read, so that its connection can be used again.
const UNWANTED_MAX: usize = 64 * 1024;
/// And for so long.
const UNWANTED_TIME: Duration = Duration::from_secs(1);

/// Memory for the bodies of all requests.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Semaphore>);

/// A body, and the memory that it takes until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) body: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Room for bodies of up to `body_max` bytes each.
    pub(crate) fn new(body_max: u64) -> Self {
        let bytes = usize::try_from(ALL_MAX.max(body_max.saturating_mul(4))).unwrap_or(usize::MAX);
        Self(Arc::new(Semaphore::new(
            (bytes / PIECE).min(Semaphore::MAX_PERMITS),
        )))
    }

    /// Takes room for a body of `length` bytes beside what it has.
    fn grow(&self, room: &mut Option<OwnedSemaphorePermit>, length: usize) -> Result<(), Failure> {
        let has = room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let wants = length.div_ceil(PIECE).saturating_sub(has);
        if wants == 0 {
            return Ok(());
        }
        let wants = u32::try_from(wants).map_err(|_| Failure::NoRoom)?;
        let more = Arc::clone(&self.0).try_acquire_many_owned(wants);
        let more = more.map_err(|_| Failure::NoRoom)?;
        match room {
            Some(room) => room.merge(more),
            None => *room = Some(more),
        }
        Ok(())
    }
}

/// The whole body, if it is not longer than `max` bytes. It fails where the client is silent for [`SILENCE_MAX`], or slower than
/// [`RATE_LEAST`] once [`TIME_FREE`] is over.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    max: u64,
    room: &Room,
) -> Result<Held, Failure> {
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok());
    let length = length.and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length > max) {
        return Err(Failure::BodyTooLarge { max });
    }
    let limit = usize::try_from(max).unwrap_or(usize::MAX);
    let mut body = Limited::new(body, limit);
    // Most bodies come in one piece, and that piece is passed on as it is.
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    let mut held = None;
    let patience = tokio::time::sleep(TIME_FREE);
    tokio::pin!(patience);
    let mut earned = Duration::ZERO;
    loop {
        // The body is asked first: what has come already costs no timer.
        let frame = tokio::select! {
            biased;
            frame = tokio::time::timeout(SILENCE_MAX, body.frame()) => frame,
            () = &mut patience => {
                if earned.is_zero() {
                    return Err(Failure::BodySlow("took too long"));
                }
                let later = patience.deadline() + std::mem::take(&mut earned);
                patience.as_mut().reset(later);
                continue;
            }
        };
        let data = match frame.map_err(|_| Failure::BodySlow("fell silent"))? {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(error)) if error.is::<LengthLimitError>() => {
                return Err(Failure::BodyTooLarge { max });
            }
            Some(Err(_)) => return Err(Failure::BodyBroken),
        };
        earned += time_of(data.len());
        room.grow(&mut held, first.len() + whole.len() + data.len())?;
        if first.is_empty() && whole.is_empty() {
            first = data;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&data);
        }
    }
    let body = if whole.is_empty() {
        first
    } else {
        whole.freeze()
    };
    Ok(Held { body, _room: held })
}

/// How long that many bytes may take.
fn time_of(bytes: usize) -> Duration {
    let nanos = (bytes as u64).saturating_mul(1_000_000_000) / RATE_LEAST;
    Duration::from_nanos(nanos)
}

/// Reads a body that nobody wants, as far as it is short: an answer before its end would cost the client its connection.
pub(super) async fn pass_over(body: Body) {
    let short = Limited::new(body, UNWANTED_MAX).collect();
    // A long one loses its connection after all.
    let _ = tokio::time::timeout(UNWANTED_TIME, short).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::channel::Channel;

    fn room(pieces: usize) -> Room {
        Room(Arc::new(Semaphore::new(pieces)))
    }

    #[tokio::test]
    async fn a_body_takes_room_until_it_is_dropped() {
        let room = room(2);
        let headers = HeaderMap::new();
        let body = || Body::from(vec![b'x'; PIECE + 1]);
        let held = read(&headers, body(), 1 << 20, &room)
            .await
            .expect("there is room");
        assert_eq!(held.body.len(), PIECE + 1);
        let refused = read(&headers, body(), 1 << 20, &room).await;
        assert!(matches!(refused, Err(Failure::NoRoom)), "{refused:?}");
        drop(held);
        read(&headers, body(), 1 << 20, &room)
            .await
            .expect("there is room again");
    }

    #[tokio::test]
    async fn a_body_over_its_bound_is_refused_and_takes_nothing() {
        let room = room(100);
        let refused = read(&HeaderMap::new(), Body::from("12345"), 4, &room).await;
        assert!(
            matches!(refused, Err(Failure::BodyTooLarge { max: 4 })),
            "{refused:?}"
        );
        assert_eq!(room.0.available_permits(), 100);
    }

    /// How long the body is that comes in `pieces` of that `length`, one after each `pause`.
    async fn in_pieces(pieces: usize, length: usize, pause: Duration) -> Result<usize, Failure> {
        let (mut client, body) = Channel::<Bytes, std::io::Error>::new(1);
        let sends = async move {
            for _ in 0..pieces {
                tokio::time::advance(pause).await;
                let piece = Bytes::from(vec![b'x'; length]);
                if client.send_data(piece).await.is_err() {
                    return;
                }
            }
        };
        let (headers, room) = (HeaderMap::new(), room(1_000));
        let read = read(&headers, Body::new(body), 4 << 20, &room);
        let (read, ()) = tokio::join!(read, sends);
        read.map(|held| held.body.len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_given_up_and_one_on_a_slow_line_is_not() {
        let dripped = in_pieces(70, 1, Duration::from_secs(1)).await;
        assert!(
            matches!(dripped, Err(Failure::BodySlow("took too long"))),
            "{dripped:?}"
        );
        let soon = in_pieces(50, 1, Duration::from_secs(1)).await;
        assert_eq!(soon.expect("it takes less than it may"), 50);
        let slow = in_pieces(100, 16 * 1024, Duration::from_secs(2)).await;
        assert_eq!(slow.expect("it comes at the least rate"), 100 * 16 * 1024);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_falls_silent_is_given_up() {
        let (mut client, body) = Channel::<Bytes, std::io::Error>::new(1);
        let piece = client.send_data(Bytes::from_static(b"{")).await;
        piece.expect("there is room for one");
        let read = read(&HeaderMap::new(), Body::new(body), 4, &room(1)).await;
        assert!(
            matches!(read, Err(Failure::BodySlow("fell silent"))),
            "{read:?}"
        );
        drop(client);
    }
}
