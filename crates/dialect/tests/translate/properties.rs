//! What both sides can say survives the way there and back.

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use sluicegate_dialect::canonical::{
    Address, Base64, CallsInOrder, Event, FinishReason, JsonText, MediaType, OutputForm, Part,
    Request, Role, Sampling, Source, Thinking, ThinkingEffort, Tool, ToolChoice, Turn,
};
use sluicegate_dialect::openai::UsageChunk;
use sluicegate_dialect::{Dialect, Usage, anthropic, gemini, openai, responses};

use crate::fixtures::{DIALECTS, row, stamp, targets};

const CLOSED: &str = r#"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}},"required":["a","b"],"additionalProperties":false}"#;

proptest! {
    #[test]
    fn a_request_that_both_can_say_comes_back(request in request()) {
        let [(_, target), _] = targets();
        for dialect in DIALECTS.map(|(dialect, _, _)| dialect) {
            let request = sayable(dialect, request.clone());
            let written = dialect.write_request(&request, &target);
            prop_assert_eq!(&written.unsaid, &[]);
            let read = dialect.read_request(&written.body).expect("what is written can be read");
            prop_assert_eq!(&read.inexpressible, &[]);
            prop_assert_eq!(plain(sayable(dialect, read.request)), plain(request));
        }
    }

    #[test]
    fn a_stream_comes_back_wherever_it_is_cut(
        events in events(),
        cuts in prop::collection::vec(0_usize..3_000, 0..9),
    ) {
        for dialect in DIALECTS.map(|(dialect, _, _)| dialect) {
            let wire = written(dialect, &events);
            let whole = read(dialect, &wire, &[]);
            prop_assert_eq!(Told::of(&whole), Told::of(&events));
            prop_assert_eq!(read(dialect, &wire, &cuts), whole);
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-z한🌊\"\\\\\n ]{0,8}[a-z수]"
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        "[A-Za-z0-9+/]{4}".prop_map(|data| base64("image/png", data)),
        "https://[a-z]{3}\\.example/[a-z]{0,5}"
            .prop_map(|url| { Source::Url(Address::parse(url).expect("it is a URL")) }),
    ]
}

fn base64(media_type: &str, data: String) -> Source {
    Source::Base64 {
        media_type: MediaType::parse(media_type).expect("it is a media type"),
        data: Base64::parse(data).expect("it is base64"),
    }
}

fn said_by_user() -> impl Strategy<Value = Part> {
    let pdf = |(data, title): (String, String)| Part::Document {
        source: base64("application/pdf", data),
        title: Some(title),
    };
    prop_oneof![
        3 => text().prop_map(Part::Text),
        1 => source().prop_map(Part::Image),
        1 => ("[A-Za-z0-9+/]{4}", "[a-z]{1,5}\\.pdf").prop_map(pdf),
    ]
}

/// What the model said and the results of its calls.
fn exchange() -> impl Strategy<Value = [Turn; 2]> {
    let calls = prop::collection::vec((text(), text()), 0..3);
    let user = prop::collection::vec(said_by_user(), 1..3);
    (text(), calls, user, any::<u16>()).prop_map(|(said, calls, user, salt)| {
        let mut parts = vec![Part::Text(said)];
        let mut results = Vec::new();
        for (index, (argument, result)) in calls.into_iter().enumerate() {
            let id = format!("call_{salt}_{index}");
            let argument = serde_json::Value::from(argument);
            parts.push(Part::ToolCall {
                id: id.clone(),
                name: "look".to_owned(),
                arguments: format!(r#"{{"q": {argument}}}"#),
                signature: None,
            });
            results.push(Part::ToolResult {
                id,
                parts: vec![Part::Text(result)],
                is_error: false,
            });
        }
        results.extend(user);
        let turn = |role, parts| Turn { role, parts };
        [turn(Role::Assistant, parts), turn(Role::User, results)]
    })
}

fn conversation() -> impl Strategy<Value = Vec<Turn>> {
    let system = prop::option::of(text());
    let first = prop::collection::vec(said_by_user(), 1..4);
    (system, first, prop::collection::vec(exchange(), 0..3)).prop_map(|(system, first, rest)| {
        let turn = |role, parts| Turn { role, parts };
        let system = system.map(|text| turn(Role::System, vec![Part::Text(text)]));
        let mut turns: Vec<_> = system.into_iter().collect();
        turns.push(turn(Role::User, first));
        turns.extend(rest.into_iter().flatten());
        turns
    })
}

fn request() -> impl Strategy<Value = Request> {
    let tool = prop::option::of((text(), prop::option::of(Just(true)))).prop_map(|tool| {
        let (description, strict) = tool?;
        Some(Tool {
            name: "look".to_owned(),
            description: Some(description),
            parameters: JsonText::parse(CLOSED),
            strict,
        })
    });
    let choice = prop_oneof![
        Just((ToolChoice::Unsaid, None)),
        Just((ToolChoice::Auto, Some(false))),
        Just((ToolChoice::None, None)),
        Just((ToolChoice::Any, None)),
        Just((ToolChoice::Named("look".to_owned()), None)),
    ];
    let thinking = prop_oneof![
        Just(Thinking::Unsaid),
        Just(Thinking::Off),
        Just(Thinking::Adaptive(Some(ThinkingEffort::Low))),
        Just(Thinking::Adaptive(Some(ThinkingEffort::ExtraHigh))),
    ];
    let output = prop_oneof![
        Just(OutputForm::Text),
        Just(OutputForm::Schema {
            name: Some("answer".to_owned()),
            description: None,
            schema: JsonText::parse(CLOSED).expect("it is JSON"),
            strict: true,
        }),
    ];
    let numbers = (
        1_u64..9_000,
        0_u8..=10,
        prop::option::of(0_u8..=10),
        any::<bool>(),
    );
    let stop = prop::collection::vec("[a-z]{1,4}", 0..4);
    let user = prop::option::of("[a-z0-9]{1,64}");
    (
        conversation(),
        tool,
        choice,
        thinking,
        output,
        numbers,
        stop,
        user,
    )
        .prop_map(
            |(turns, tool, (tool_choice, parallel), thinking, output, numbers, stop, user)| {
                let (cap, temperature, top_p, stream) = numbers;
                let has_tools = tool.is_some();
                let forces = has_tools && tool_choice.forces();
                // Thinking goes with neither a forced call nor a temperature.
                let thinks = thinking != Thinking::Unsaid && !forces;
                Request {
                    model: "target".to_owned(),
                    turns,
                    tools: tool.into_iter().collect(),
                    tool_choice: if has_tools {
                        tool_choice
                    } else {
                        ToolChoice::Unsaid
                    },
                    parallel_tool_calls: parallel.filter(|_| has_tools),
                    output,
                    output_cap: Some(cap),
                    stop,
                    sampling: Sampling {
                        temperature: (!thinks).then(|| f64::from(temperature) / 10.0),
                        top_p: top_p.map(|top_p| f64::from(top_p) / 10.0),
                        ..Sampling::default()
                    },
                    thinking: if thinks { thinking } else { Thinking::Unsaid },
                    stream,
                    usage_wanted: true,
                    user,
                }
            },
        )
}

/// A request as far as a dialect can say it. Gemini's has the model and the stream in its path, no
/// user, no titles and no calls one by one; its models think a little or much, and are held to all
/// schemas or none. It seals the first call of a turn.
fn sayable(dialect: Dialect, mut request: Request) -> Request {
    if dialect == Dialect::OpenAiResponses {
        request.stop.clear();
        request.output_cap = request.output_cap.map(|cap| cap.max(16));
    }
    if dialect != Dialect::Gemini {
        return request;
    }
    request.model.clear();
    request.stream = false;
    request.user = None;
    request.parallel_tool_calls = None;
    request.thinking = match request.thinking {
        Thinking::Off => Thinking::Adaptive(Some(ThinkingEffort::Low)),
        Thinking::Adaptive(Some(ThinkingEffort::ExtraHigh)) => {
            Thinking::Adaptive(Some(ThinkingEffort::High))
        }
        thinking => thinking,
    };
    for tool in &mut request.tools {
        if request.tool_choice == ToolChoice::Unsaid && tool.strict == Some(true) {
            request.tool_choice = ToolChoice::Auto;
        }
        if request.tool_choice != ToolChoice::Auto {
            tool.strict = None;
        }
    }
    for part in request.turns.iter_mut().flat_map(|turn| &mut turn.parts) {
        match part {
            Part::Document { title, .. } => *title = None,
            Part::ToolCall { signature, .. } => *signature = None,
            _ => {}
        }
    }
    request
}

/// A request apart from what dialects say each in its own way: where the turns of one side are
/// parted, who sees the usage, what a schema is called, and that a tool need not be strict.
fn plain(mut request: Request) -> Request {
    request.usage_wanted = true;
    if let OutputForm::Schema { name, .. } = &mut request.output {
        name.get_or_insert_with(|| "answer".to_owned());
    }
    for tool in &mut request.tools {
        tool.strict = tool.strict.filter(|strict| *strict);
    }
    let mut turns: Vec<Turn> = Vec::new();
    for turn in request.turns {
        match turns.last_mut().filter(|last| last.role == turn.role) {
            Some(last) => last.parts.extend(turn.parts),
            None => turns.push(turn),
        }
    }
    Request { turns, ..request }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let thoughts = prop::collection::vec(text().prop_map(Event::Thinking), 0..3);
    let texts = prop::collection::vec(text().prop_map(Event::Text), 0..4);
    let calls = prop::collection::vec((text(), 1_usize..9, any::<bool>()), 0..4);
    let finish = prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::Length),
        Just(FinishReason::Refusal),
    ];
    let usage = prop::option::of((0_u64..99, 0_u64..99, 0_u64..99));
    (thoughts, texts, calls, finish, usage).prop_map(|(thoughts, texts, calls, finish, usage)| {
        let start = Event::Start {
            id: "id-1".to_owned(),
            model: "m".to_owned(),
            usage: None,
        };
        let mut events = vec![start];
        events.extend(thoughts);
        events.extend(texts);
        let calls_any = !calls.is_empty();
        events.extend(called(calls));
        events.push(Event::End {
            finish: finish.with_calls(calls_any),
            usage: usage.map(|(fresh, cached, output)| Usage {
                input_tokens: fresh + cached,
                cached_input_tokens: cached,
                output_tokens: output,
                ..Usage::default()
            }),
        });
        events
    })
}

/// Calls in pieces of so many characters; some pieces wait for the next call, as servers mix them.
fn called(calls: Vec<(String, usize, bool)>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut late = Vec::new();
    for (index, (argument, step, is_late)) in calls.into_iter().enumerate() {
        let index = u32::try_from(index).expect("there are few");
        let arguments: Vec<_> = format!(r#"{{"q":{}}}"#, serde_json::Value::from(argument))
            .chars()
            .collect();
        events.push(Event::ToolCall {
            index,
            id: format!("call_{index}"),
            name: "look".to_owned(),
            signature: None,
        });
        let mut pieces: Vec<_> = arguments
            .chunks(step)
            .map(|piece| Event::Arguments {
                index,
                text: piece.iter().collect(),
            })
            .collect();
        if is_late {
            late.extend(pieces.split_off(pieces.len() / 2));
        }
        events.extend(pieces);
    }
    events.extend(late);
    events
}

fn written(dialect: Dialect, events: &[Event]) -> Bytes {
    let mut out = BytesMut::new();
    let mut openai = openai::StreamWriter::new(stamp(), UsageChunk::Pass);
    let mut anthropic = anthropic::StreamWriter::new(stamp());
    let mut responses = responses::StreamWriter::new(stamp());
    let mut gemini = gemini::StreamWriter::new(stamp(), gemini::Framing::Events);
    let mut order = CallsInOrder::default();
    let mut ordered = Vec::new();
    for event in events {
        order.take(event.clone(), &mut ordered);
    }
    for event in &ordered {
        match dialect {
            Dialect::OpenAiChat => openai.write(event, &mut out),
            Dialect::Anthropic => anthropic.write(event, &mut out),
            Dialect::OpenAiResponses => responses.write(event, &mut out),
            Dialect::Gemini => gemini.write(event, &mut out),
        }
    }
    out.freeze()
}

fn read(dialect: Dialect, wire: &Bytes, cuts: &[usize]) -> Vec<Event> {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| (*cut).min(wire.len())).collect();
    cuts.extend([0, wire.len()]);
    cuts.sort_unstable();
    let chunks = cuts.windows(2).map(|ends| wire.slice(ends[0]..ends[1]));
    let mut events = Vec::new();
    let mut openai = openai::StreamReader::new(row("openai"));
    let mut anthropic = anthropic::StreamReader::new(row("anthropic"));
    let mut responses = responses::StreamReader::new(row("openai"));
    let mut gemini = gemini::StreamReader::new(row("gemini"));
    for chunk in chunks {
        match dialect {
            Dialect::OpenAiChat => openai.push(chunk, &mut events),
            Dialect::Anthropic => anthropic.push(chunk, &mut events),
            Dialect::OpenAiResponses => responses.push(chunk, &mut events),
            Dialect::Gemini => gemini.push(chunk, &mut events),
        }
        .expect("no event is too large");
    }
    match dialect {
        Dialect::OpenAiChat => openai.finish(&mut events),
        Dialect::Anthropic => anthropic.finish(&mut events),
        Dialect::OpenAiResponses => responses.finish(&mut events),
        Dialect::Gemini => gemini.finish(&mut events),
    }
    events
}

/// What a stream told, whatever its pieces.
#[derive(PartialEq, Debug, Default)]
struct Told {
    text: String,
    thoughts: String,
    calls: Vec<(String, String)>,
    end: Option<(FinishReason, Usage)>,
}

impl Told {
    fn of(events: &[Event]) -> Self {
        let mut told = Self::default();
        for event in events {
            match event {
                Event::Text(text) => told.text += text,
                Event::Thinking(text) => told.thoughts += text,
                Event::ToolCall { id, name, .. } => {
                    told.calls.push((format!("{id} {name}"), String::new()));
                }
                Event::Arguments { index, text } => told.calls[*index as usize].1 += text,
                Event::End { finish, usage } => {
                    told.end = Some((finish.clone(), usage.unwrap_or_default()));
                }
                _ => {}
            }
        }
        told
    }
}
