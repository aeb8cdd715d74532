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
/// A body that has not come after that long is given up, however steadily it drips.
const TIME_MAX: Duration = Duration::from_secs(600);
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

/// The whole body, if it is not longer than `max` bytes.
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
    let whole = read_pieces(body, max, room);
    let whole = tokio::time::timeout(TIME_MAX, whole).await;
    whole.unwrap_or(Err(Failure::BodyBroken("took too long")))
}

async fn read_pieces(body: Body, max: u64, room: &Room) -> Result<Held, Failure> {
    let limit = usize::try_from(max).unwrap_or(usize::MAX);
    let mut body = Limited::new(body, limit);
    // Most bodies come in one piece, and that piece is passed on as it is.
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    let mut held = None;
    loop {
        let frame = tokio::time::timeout(SILENCE_MAX, body.frame()).await;
        let data = match frame.map_err(|_| Failure::BodyBroken("fell silent"))? {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(error)) if error.is::<LengthLimitError>() => {
                return Err(Failure::BodyTooLarge { max });
            }
            Some(Err(_)) => return Err(Failure::BodyBroken("ended")),
        };
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

/// Reads a body that nobody wants, as far as it is short: an answer before its end would cost the client its connection.
pub(super) async fn pass_over(body: Body) {
    let short = Limited::new(body, UNWANTED_MAX).collect();
    // A long one loses its connection after all.
    let _ = tokio::time::timeout(UNWANTED_TIME, short).await;
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
