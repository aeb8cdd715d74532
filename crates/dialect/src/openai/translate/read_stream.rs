//! A streamed chat completion into canonical events.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::Provider;

use super::read_answer::{call_id, finish};
use super::{logprobs, read_media, wire};
use crate::canonical::{Event, FinishReason};
use crate::json::{self, Cursor};
use crate::openai::endings::choice_failure;
use crate::sse::{self, Decoder, EventTooLarge};
use crate::wire_form::TextOr;
use crate::{UpstreamError, Usage, lenient, upstream_error};

/// As many calls of tools are followed; the pieces of more belong to the last.
const CALLS_MAX: usize = 1_024;

/// So much of a call's id tells it from others.
const ID_BYTES_MAX: usize = 128;

/// Reads one streamed answer.
///
/// The end is told when the stream says that it is over, not when the choice has ended: the usage
/// comes between the two.
#[derive(Debug)]
pub struct StreamReader {
    provider: Arc<Provider>,
    decoder: Decoder,
    id: String,
    started: bool,
    ended: bool,
    /// The calls so far: the index that the server gave each, and the beginning of its id.
    calls: Vec<(Option<u32>, String)>,
    /// The last call, as long as its name has not come.
    nameless: Option<Nameless>,
    /// Whether anything was told, and whether an image or a sound came, for which there is no event.
    says: bool,
    left_out: bool,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
}

/// A call that is not told yet.
#[derive(Debug)]
struct Nameless {
    index: usize,
    id: Option<String>,
    name: String,
    signature: Option<String>,
}

impl StreamReader {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            decoder: Decoder::default(),
            id: String::new(),
            started: false,
            ended: false,
            calls: Vec::new(),
            nameless: None,
            says: false,
            left_out: false,
            finish: None,
            usage: None,
        }
    }

    /// Takes a chunk as it came from the wire and appends what it tells to `events`. Nothing comes
    /// after an end or an error.
    ///
    /// # Errors
    /// [`EventTooLarge`]: the stream cannot be followed any further and has to be ended.
    pub fn push(&mut self, chunk: Bytes, events: &mut Vec<Event>) -> Result<(), EventTooLarge> {
        self.decoder.push(chunk);
        while let Some(event) = self.decoder.next_event()? {
            self.read(&event, events);
        }
        Ok(())
    }

    /// The upstream has closed. Where no [`Event::End`] and no [`Event::Error`] has come by now, the
    /// stream was cut.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        if let Some(event) = self.decoder.finish() {
            self.read(&event, events);
        }
        if self.finish.is_some() {
            self.end(events);
        }
    }

    fn read(&mut self, event: &sse::Event, events: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        let Some(data) = event.data() else {
            if event.raw.starts_with(b":") {
                events.push(Event::Ping);
            }
            return;
        };
        if data == b"[DONE]" {
            self.end(events);
            return;
        }
        let root = Cursor::new(data).position();
        let error = json::member(data, root, "error");
        let error = error.filter(|at| matches!(data[at.start], b'{' | b'"'));
        if error.is_some() || event.name() == Some(b"error") {
            let at = error.map_or(root, |at| at.start);
            self.fail(upstream_error::in_stream(&self.provider, data, at), events);
            return;
        }
        match lenient::from_slice::<wire::Answer>(data) {
            Ok(chunk) => self.read_chunk(chunk, data, events),
            Err(_) => self.fail(UpstreamError::not_readable(), events),
        }
    }

    fn read_chunk(&mut self, chunk: wire::Answer, data: &[u8], events: &mut Vec<Event>) {
        self.usage = Usage::from_completion(data).or(self.usage);
        let choices = chunk.choices.unwrap_or_default();
        let is_ours = |choice: &wire::Choice| choice.index.unwrap_or(0) == 0;
        let Some(choice) = choices.into_iter().find(is_ours) else {
            return;
        };
        if choice.has_failed() {
            let error = choice.error.as_ref().map_or("", |error| error.get());
            let error = choice_failure(&self.provider, error.as_bytes(), 0);
            return self.fail(error, events);
        }
        if !std::mem::replace(&mut self.started, true) {
            self.id = chunk.id.unwrap_or_default();
            events.push(Event::Start {
                id: self.id.clone(),
                model: chunk.model.unwrap_or_default(),
                usage: None,
            });
        }
        let delta = choice.delta.or(choice.message);
        let begun = events.len();
        self.read_delta(delta.unwrap_or_default(), events);
        self.says |= events[begun..].iter().any(|event| match event {
            Event::Thinking(_) => false,
            event => event.is_content(),
        });
        let told = logprobs::read_choice(choice.logprobs.as_deref());
        if !told.is_empty() {
            events.push(Event::Logprobs(told));
        }
        // Some servers write an empty one until there is one.
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(finish(Some(&reason)));
        }
    }

    fn read_delta(&mut self, delta: wire::Message, events: &mut Vec<Event>) {
        let is_some = |text: &String| !text.is_empty();
        let thoughts = delta.reasoning_content.or(delta.reasoning);
        events.extend(thoughts.filter(is_some).map(Event::Thinking));
        match delta.content {
            Some(TextOr::Text(text)) if !text.is_empty() => events.push(Event::Text(text)),
            Some(TextOr::List(parts)) => {
                for part in parts {
                    events.extend(part.thought().map(Event::Thinking));
                    events.extend(part.text.filter(is_some).map(Event::Text));
                }
            }
            _ => {}
        }
        let audio = delta.audio.as_deref();
        events.extend(read_media::transcript(audio).map(Event::Text));
        self.left_out |= audio.is_some() || delta.images.is_some();
        events.extend(delta.refusal.filter(is_some).map(Event::Refusal));
        for call in delta.tool_calls.into_iter().flatten() {
            self.read_call(call, events);
        }
    }

    fn read_call(&mut self, call: wire::Call, events: &mut Vec<Event>) {
        let function = call.function.unwrap_or_default();
        let id = call.id.filter(|id| !id.is_empty());
        let index = match self.known(call.index, id.as_deref()) {
            Some(index) => index,
            None => {
                self.tell_nameless(events);
                let index = self.calls.len();
                let known = id.as_deref().map_or("", beginning).to_owned();
                self.calls.push((call.index, known));
                self.nameless = Some(Nameless {
                    index,
                    id: None,
                    name: String::new(),
                    signature: None,
                });
                index
            }
        };
        let text = function.arguments.filter(|text| !text.is_empty());
        if let Some(nameless) = &mut self.nameless
            && nameless.index == index
        {
            nameless.id = nameless.id.take().or(id);
            nameless.name = function.name.unwrap_or_default();
            let seal = call.extra_content;
            let seal = seal.and_then(wire::ExtraContent::into_signature);
            nameless.signature = nameless.signature.take().or(seal);
            // Some servers send the name behind the id; none sends it behind arguments.
            if !nameless.name.is_empty() || text.is_some() {
                self.tell_nameless(events);
            }
        }
        if let Some(text) = text {
            events.push(Event::Arguments {
                index: number(index),
                text,
            });
        }
    }

    fn tell_nameless(&mut self, events: &mut Vec<Event>) {
        if let Some(call) = self.nameless.take() {
            events.push(Event::ToolCall {
                index: number(call.index),
                id: call_id(call.id, &self.id, call.index),
                name: call.name,
                signature: call.signature,
            });
        }
    }

    /// The call to which a piece belongs; `None` for the first piece of one. Servers that give all
    /// calls the same index, or none, still give each its id.
    fn known(&self, index: Option<u32>, id: Option<&str>) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        if self.calls.len() >= CALLS_MAX {
            return Some(last);
        }
        let fits = |(known_index, known_id): &(Option<u32>, String)| {
            *known_index == index && id.is_none_or(|id| beginning(id) == known_id)
        };
        let found = self.calls.iter().rposition(fits);
        let is_more = index.is_none() && id.is_none();
        found.or(is_more.then_some(last))
    }

    fn end(&mut self, events: &mut Vec<Event>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if self.left_out && !self.says {
            return self.fail(UpstreamError::media_alone(), events);
        }
        let Some(finish) = self.finish.take() else {
            return events.push(Event::Error(UpstreamError::unfinished()));
        };
        self.tell_nameless(events);
        events.push(Event::End {
            finish: finish.with_calls(!self.calls.is_empty()),
            usage: self.usage,
        });
    }

    fn fail(&mut self, error: UpstreamError, events: &mut Vec<Event>) {
        self.ended = true;
        events.push(Event::Error(error));
    }
}

fn beginning(id: &str) -> &str {
    &id[..id.floor_char_boundary(ID_BYTES_MAX)]
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("there are at most 1,024 calls")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::{ErrorClass, provider};

    fn read(stream: &str) -> Vec<Event> {
        let mut reader = StreamReader::new(Arc::clone(provider("openai").expect("a row")));
        let mut events = Vec::new();
        let chunk = Bytes::copy_from_slice(stream.as_bytes());
        reader
            .push(chunk, &mut events)
            .expect("no event is too large");
        reader.finish(&mut events);
        events
    }

    fn calls(deltas: &[&str]) -> Vec<(u32, String)> {
        let chunk = |delta: &&str| {
            format!(
                "data: {{\"id\":\"x\",\"choices\":[{{\"delta\":{{\"tool_calls\":[{delta}]}}}}]}}\n\n"
            )
        };
        let stream: String = deltas.iter().map(chunk).collect();
        let told = read(&stream).into_iter().filter_map(|event| match event {
            Event::ToolCall { index, id, .. } => Some((index, format!("id {id}"))),
            Event::Arguments { index, text } => Some((index, text)),
            _ => None,
        });
        told.collect()
    }

    fn told(list: &[(u32, &str)]) -> Vec<(u32, String)> {
        list.iter()
            .map(|(index, text)| (*index, (*text).to_owned()))
            .collect()
    }

    #[test]
    fn pieces_find_their_call() {
        let interleaved = [
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}"#,
            r#"{"index":0,"function":{"arguments":"{}"}}"#,
            r#"{"index":1,"id":"b","function":{"arguments":"}"}}"#,
        ];
        let expected = told(&[(0, "id a"), (1, "id b"), (1, "{"), (0, "{}"), (1, "}")]);
        assert_eq!(calls(&interleaved), expected);
        let all_alike = [
            r#"{"index":0,"id":"a","function":{"arguments":"1"}}"#,
            r#"{"index":0,"id":"b","function":{"arguments":"2"}}"#,
            r#"{"index":0,"function":{"arguments":"3"}}"#,
        ];
        let expected = told(&[(0, "id a"), (0, "1"), (1, "id b"), (1, "2"), (1, "3")]);
        assert_eq!(calls(&all_alike), expected);
        let nameless = [
            r#"{"function":{"arguments":"1"}}"#,
            r#"{"function":{"arguments":"2"}}"#,
        ];
        assert_eq!(
            calls(&nameless),
            told(&[(0, "id call_x_0"), (0, "1"), (0, "2")])
        );
    }

    #[test]
    fn the_end_waits_for_the_usage() {
        let stream = "data: {\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n\
            data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}";
        let usage = Usage {
            input_tokens: 3,
            output_tokens: 1,
            ..Usage::default()
        };
        let start = Event::Start {
            id: "x".to_owned(),
            model: "m".to_owned(),
            usage: None,
        };
        let end = Event::End {
            finish: FinishReason::Length,
            usage: Some(usage),
        };
        assert_eq!(read(stream), [start, Event::Text("a".to_owned()), end]);
    }

    #[test]
    fn a_cut_stream_has_no_end() {
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        assert!(
            !read(stream)
                .iter()
                .any(|event| matches!(event, Event::End { .. }))
        );
        let empty = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}]}\n\n";
        assert!(!matches!(read(empty).last(), Some(Event::End { .. })));
        let unfinished = Some(Event::Error(UpstreamError::unfinished()));
        for begun in ["", stream, empty] {
            let done = format!("{begun}data: [DONE]\n\n{stream}");
            assert_eq!(read(&done).last(), unfinished.as_ref(), "{begun}");
        }
        let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        let done = format!("{stream}{stop}data: [DONE]\n\n{stream}");
        assert!(matches!(read(&done).last(), Some(Event::End { .. })));
    }

    #[test]
    fn a_choice_that_ended_with_an_error_failed() {
        let text = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        let error = r#","error":{"code":429,"message":"slow"}"#;
        for (more, class) in [("", ErrorClass::Server), (error, ErrorClass::Rate)] {
            let failed = format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":\"b\"}},\"finish_reason\":\"error\"{more}}}]}}\n\ndata: [DONE]\n\n"
            );
            let events = read(&[text, &failed].concat());
            assert!(
                matches!(&events[..], [Event::Start { .. }, Event::Text(_), Event::Error(error)] if error.class == class),
                "{events:?}"
            );
            assert!(matches!(&read(&failed)[..], [Event::Error(_)]), "{failed}");
        }
    }

    #[test]
    fn errors_come_last() {
        for stream in [
            "data: {\"error\":{\"code\":503}}\n\ndata: [DONE]\n\n",
            "event: error\ndata: {\"message\":\"m\",\"code\":503}\n\n",
        ] {
            let events = read(stream);
            assert!(
                matches!(&events[..], [Event::Error(error)] if error.class == ErrorClass::Overload),
                "{events:?}"
            );
        }
        for stream in ["data: {\n\n", "data: {\"choices\":7}\n\ndata: [DONE]\n\n"] {
            assert_eq!(
                read(stream),
                [Event::Error(UpstreamError::not_readable())],
                "{stream}"
            );
        }
    }
}
