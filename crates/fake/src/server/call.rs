//! One call from its first byte to its answer, whatever it speaks.
//!
//! In order: the body's size, the key, the request, the model; then the call arrives at the limits; then what was chosen for
//! it is played. What is refused before the limits costs nothing there and carries no limit headers, as seen at OpenAI for
//! 401 and 404.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Response, Version, request};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::time::sleep;

use crate::Settings;
use crate::answer::Completion;
use crate::ask::{Ask, JsonWish};
use crate::dialect::{Dialect, Door, Task};
use crate::fault::Text;
use crate::model::{Accepted, Call, Charge, Delivery, Header, Usage, Verdict};

use super::body::Body;
use super::clock;
use super::count;
use super::credential::{self, key};
use super::error::{Failure, usual_kind};
use super::framing;
use super::head::{put_headers, respond, spoil_headers};
use super::log::{self, Entry, headers_for_log};
use super::name::work_header;
use super::play::{Play, wait_for_head};
use super::socket::Line;
use super::state::{Ended, Running, Shared};

/// The log keeps so much of a path.
const PATH_CHARS_MAX: usize = 512;

/// Answers a call that came through `door`.
pub(super) async fn answer(
    shared: Shared,
    line: Line,
    request: http::Request<Incoming>,
    door: Door,
) -> Response<Body> {
    let settings = shared.settings();
    let (parts, body) = request.into_parts();
    let key = key(&parts.headers, parts.uri.query());
    let mut entry = entry(&parts, &key);
    match admissible(&settings, &parts, body, &key, &door, &mut entry).await {
        Ok(ask) => {
            let caller = Caller {
                key,
                version: parts.version,
                line,
                door,
            };
            serve(&shared, &settings, caller, ask, entry).await
        }
        Err(failure) => {
            entry.status = Some(failure.status);
            let id = {
                let mut state = shared.lock();
                entry.arrived = clock::unix_nanos();
                entry.ended = Some(entry.arrived);
                state.log.push(entry);
                state.answer_id()
            };
            let manners = door.dialect.manners(settings.provider.profile);
            respond(manners, failure, &id, Vec::new())
        }
    }
}

/// Who calls, and over what.
struct Caller {
    key: String,
    version: Version,
    line: Line,
    door: Door,
}

/// Everything that is checked before the limits see the call.
async fn admissible(
    settings: &Settings,
    parts: &request::Parts,
    body: Incoming,
    key: &str,
    door: &Door,
    entry: &mut Entry,
) -> Result<Ask, Failure> {
    let profile = door.dialect.manners(settings.provider.profile);
    entry.body = read(parts, body, settings.memory.body_bytes_max).await?;
    credential::check(
        &settings.keys,
        door.dialect,
        profile,
        parts,
        key,
        &entry.body,
    )?;
    // A cloud wants the version in the body.
    let versioned = door.model.is_some() || parts.headers.contains_key("anthropic-version");
    if door.dialect == Dialect::Messages && !versioned {
        return Err(Failure::no_version());
    }
    let ask = Ask::read(&entry.body, door)
        .map_err(|complaint| Failure::complaint(profile, &complaint))?;
    entry.model.clone_from(&ask.model);
    entry.stream = ask.stream;
    if !settings.models.is_empty() && !settings.models.contains(&ask.model) {
        return Err(Failure::no_model(profile, &ask.model));
    }
    ask.check_sampling(&settings.sampling)
        .map_err(|complaint| Failure::complaint(profile, &complaint))?;
    Ok(ask)
}

async fn read(parts: &request::Parts, body: Incoming, most: usize) -> Result<Bytes, Failure> {
    let length = parts
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > most) {
        return Err(Failure::too_large(most));
    }
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Failure::too_large(most)),
        Err(_) => Err(Failure::bad_admin(
            "The request body ended before it was complete.",
        )),
    }
}

async fn serve(
    shared: &Shared,
    settings: &Settings,
    caller: Caller,
    mut ask: Ask,
    mut entry: Entry,
) -> Response<Body> {
    let profile = settings.provider.profile;
    let manners = caller.door.dialect.manners(profile);
    if ask.task == Task::Count {
        return count::answer(shared, settings, &ask, entry);
    }
    if !settings.answer.jitter_ms.is_zero() {
        let fraction = shared.lock().jitter();
        sleep(settings.answer.jitter_ms.as_duration().mul_f64(fraction)).await;
    }
    let call = Call {
        model: &ask.model,
        key: &caller.key,
        content_id: ask.content_id,
        prompt_bytes: ask.prompt.bytes,
        image_tokens: ask.prompt.image_tokens,
        messages: ask.prompt.messages,
        prompt_tokens: Some(ask.prompt_tokens()),
        cached_tokens: ask.wishes.cached_tokens,
        output_max: ask.output_max,
        choices: ask.choices,
        best_of: ask.best_of,
        delivery: if ask.stream {
            Delivery::Streamed
        } else {
            Delivery::Whole
        },
    };
    let arrived = clock::monotonic();
    let (admitted, id) = {
        let mut state = shared.lock();
        entry.arrived = clock::unix_nanos();
        let admitted = match state.model.arrive(entry.arrived, &call) {
            Verdict::Accepted(accepted) => {
                entry.charge = accepted.charge;
                entry.verdict = log::Verdict::Accepted;
                let number = state.log.push(entry);
                let fault = state.fault(&ask).unwrap_or_default();
                let once = ask.wishes.json == JsonWish::BrokenOnce && fault.1.is_none();
                let wrong = once && state.is_first_answer(&ask);
                Ok((accepted, number, fault, once && !wrong))
            }
            Verdict::Rejected(rejected) => {
                entry.verdict = log::Verdict::Rejected(rejected.limit.clone());
                entry.status = Some(rejected.status);
                entry.ended = Some(entry.arrived);
                state.log.push(entry);
                Err(rejected)
            }
        };
        (admitted, state.answer_id())
    };
    match admitted {
        Err(rejected) => {
            let failure = Failure::limited(profile, manners, &rejected);
            respond(manners, failure, &id, rejected.headers)
        }
        Ok((
            Accepted {
                ticket, headers, ..
            },
            number,
            (fault, status),
            mended,
        )) => {
            if mended {
                ask.wishes.json = JsonWish::Bare;
            }
            let input = Usage {
                input: ask.prompt_tokens(),
                cached: ask.wishes.cached_tokens,
                output: 0,
            };
            let running = Running::new(shared.clone(), ticket, number, input);
            let pace = ask
                .wishes
                .ms_per_token
                .unwrap_or(settings.answer.ms_per_token)
                .as_duration();
            if !fault.head_byte_ms.is_zero() && caller.version == Version::HTTP_11 {
                caller.line.drip_head(fault.head_byte_ms.as_duration());
            }
            let play = Play {
                fault,
                dialect: ask.dialect,
                framing: caller.door.framing,
                manners,
                pace,
                line: caller.line,
                arrived,
                running,
            };
            perform(settings, &ask, play, status, &id, headers).await
        }
    }
}

/// Plays an admitted call's answer.
async fn perform(
    settings: &Settings,
    ask: &Ask,
    play: Play,
    status: Option<u16>,
    id: &str,
    mut limits: Vec<Header>,
) -> Response<Body> {
    let completion = Completion::new(ask, settings.seed, settings.answer.output_tokens);
    let head = ask
        .wishes
        .head_ms
        .unwrap_or(settings.answer.head_ms)
        .as_duration();
    let streamed = ask.stream && !play.fault.plain;
    let tokens = u32::try_from(completion.output_tokens()).unwrap_or(u32::MAX);
    let speaking = match status {
        None if !streamed => play.pace.saturating_mul(tokens),
        _ => std::time::Duration::ZERO,
    };
    wait_for_head(head, &play.fault, speaking).await;
    let mut play = play.before_head().await;
    play.running.answered(status.unwrap_or(200));
    let fault = play.fault.clone();
    let manners = play.manners;
    let worked = work_header(play.manners, play.arrived.elapsed());
    let mut response = match status {
        Some(status) => {
            play.running.end(Ended::Failed);
            let kind = fault.kind.unwrap_or_else(|| usual_kind(status));
            limits.extend(worked);
            let wait = fault.retry_after.as_ref().map(Text::as_str);
            let failure = Failure::of_kind(manners, kind, status, wait);
            respond(manners, failure, id, limits)
        }
        None => {
            let (content_type, limits, body) = if streamed {
                (
                    framing::content_type(play.framing),
                    limits,
                    play.stream(completion, ask.include_usage),
                )
            } else {
                // The whole answer is there before its head goes out, and so is its usage.
                let settled = play.running.settle(completion.output_tokens());
                ("application/json", settled, play.whole(&completion))
            };
            let mut response = Response::new(body);
            let limits = limits.into_iter().chain(worked).collect();
            put_headers(response.headers_mut(), manners, content_type, id, limits);
            response
        }
    };
    spoil_headers(response.headers_mut(), &fault);
    response
}

fn entry(parts: &request::Parts, key: &str) -> Entry {
    Entry {
        number: 0,
        arrived: 0,
        ended: None,
        path: parts.uri.path().chars().take(PATH_CHARS_MAX).collect(),
        model: String::new(),
        key: key.to_owned(),
        verdict: log::Verdict::Invalid,
        charge: Charge::default(),
        status: None,
        stream: false,
        output_tokens: 0,
        aborted: false,
        headers: headers_for_log(&parts.headers),
        body: Bytes::new(),
    }
}
