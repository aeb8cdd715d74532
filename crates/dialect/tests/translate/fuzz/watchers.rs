//! Streams that pass as they came: every byte of them up to an error, whatever was cut where, and what is seen on the way does not depend
//! on it.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use sluicegate_dialect::anthropic::MessageStream;
use sluicegate_dialect::gemini::{ContentStream, Framing};
use sluicegate_dialect::openai::{ChatStream, UsageChunk};
use sluicegate_dialect::responses::ResponseStream;
use sluicegate_dialect::{AnswerStream, ErrorOut, Progress, sse};

use super::fuzz;
use crate::fixtures::row;

#[test]
fn streams_that_pass() {
    fuzz(".stream.sse", |text, draws| {
        let cuts = draws.cuts(text.len());
        let chunks = cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]);
        assert_eq!(watched(chunks), watched([text]), "cut at {cuts:?}");
    });
}

/// What the streams that pass their bytes have seen, and what is left where some of it is hidden or framed otherwise.
fn watched<'t>(chunks: impl IntoIterator<Item = &'t [u8]>) -> ([Progress; 4], [Vec<u8>; 3]) {
    let mut chat = ChatStream::new(row("openai"), UsageChunk::Hide);
    let mut message = MessageStream::new(row("anthropic"));
    let mut response = ResponseStream::new(row("openai"));
    let mut content = ContentStream::new(row("gemini"), Framing::Events);
    let mut array = ContentStream::new(row("gemini"), Framing::Array);
    let [mut hidden, mut listed] = [(); 2].map(|()| BytesMut::new());
    let mut passed = [(); 3].map(|()| BytesMut::new());
    let mut came = Vec::new();
    for chunk in chunks {
        came.extend_from_slice(chunk);
        let chunk = Bytes::copy_from_slice(chunk);
        let pushed = [
            chat.push(chunk.clone(), &mut hidden),
            message.push(chunk.clone(), &mut passed[0]),
            response.push(chunk.clone(), &mut passed[1]),
            content.push(chunk.clone(), &mut passed[2]),
            array.push(chunk, &mut listed),
        ];
        assert_eq!(pushed, [Ok(()); 5], "no event is too large");
    }
    chat.finish(&mut hidden);
    message.finish(&mut passed[0]);
    response.finish(&mut passed[1]);
    content.finish(&mut passed[2]);
    array.finish(&mut listed);
    let [messages, others @ ..] = &passed;
    for passed in others {
        assert_eq!(passed, &came, "every byte passes");
    }
    match &message.progress().error {
        None => assert_eq!(messages, &came, "every byte passes"),
        Some(_) => {
            let passed = messages.strip_suffix(UNFINISHED).unwrap_or(messages);
            assert!(
                came.starts_with(passed),
                "every byte before an error passes"
            );
        }
    }
    assert_eq!(content.progress(), array.progress());
    let progress = [
        chat.progress(),
        message.progress(),
        response.progress(),
        content.progress(),
    ];
    (
        progress.map(Progress::clone),
        [hidden.to_vec(), listed.to_vec(), messages.to_vec()],
    )
}

/// What stands where a stream of messages said that it is over before its message was.
const UNFINISHED: &[u8] = b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"the provider ended its stream before the answer was finished\"}}\n\n";

/// With an error of ours, wherever it is: that is the last thing that its client reads.
#[test]
fn streams_that_are_broken_off() {
    fuzz(".stream.sse", |text, draws| {
        let framing = *draws.pick(&[Framing::Events, Framing::Array]);
        let streams = [
            AnswerStream::Chat(ChatStream::new(row("openai"), UsageChunk::Pass)),
            AnswerStream::Message(MessageStream::new(row("anthropic"))),
            AnswerStream::Response(ResponseStream::new(row("openai"))),
            AnswerStream::Content(ContentStream::new(row("gemini"), framing)),
        ];
        for mut stream in streams {
            let mut out = BytesMut::new();
            let pushed = stream.push(Bytes::copy_from_slice(text), &mut out);
            assert_eq!(pushed, Ok(()), "no event is too large");
            let before = out.len();
            stream.break_off(&FAILURE, &mut out);
            let said = String::from_utf8_lossy(&out[before..]);
            assert!(said.contains(FAILURE.message), "{said}");
            assert!(said.len() <= 1_024, "{said}");
        }
    });
}

const FAILURE: ErrorOut<'_> = ErrorOut {
    status: StatusCode::BAD_GATEWAY,
    message: "the upstream broke off",
    kind: "api_error",
    code: "upstream_error",
    param: None,
    wait: None,
};

/// The events are the stream, and are the same ones wherever it is cut.
#[test]
fn events() {
    fuzz(".stream.sse", |text, draws| {
        let cuts = draws.cuts(text.len());
        let chunks = cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]);
        let whole = taken_apart([text]);
        assert_eq!(whole.concat(), text);
        assert_eq!(taken_apart(chunks), whole, "cut at {cuts:?}");
    });
}

fn taken_apart<'t>(chunks: impl IntoIterator<Item = &'t [u8]>) -> Vec<Vec<u8>> {
    let mut decoder = sse::Decoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(event) = decoder.next_event().expect("no event is too large") {
            assert!(
                event
                    .data()
                    .is_none_or(|data| data.len() <= event.raw.len())
            );
            assert!(
                event
                    .name()
                    .is_none_or(|name| name.len() <= event.raw.len())
            );
            events.push(event.raw.to_vec());
        }
    }
    events.extend(decoder.finish().map(|event| event.raw.to_vec()));
    events
}
