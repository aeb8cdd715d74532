//! The call that only counts the tokens of a prompt: it costs nothing at the limits, as at Anthropic and Gemini, and meets
//! the faults that end a call with a status.

use http::Response;

use crate::Settings;
use crate::answer::Completion;
use crate::ask::Ask;

use super::body::Body;
use super::clock;
use super::error::{Failure, usual_kind};
use super::head::{put_headers, respond, spoil_headers};
use super::log::{End, Entry, Verdict};
use super::state::Shared;

/// Counts.
pub(super) fn answer(
    shared: &Shared,
    settings: &Settings,
    ask: &Ask,
    mut entry: Entry,
) -> Response<Body> {
    let manners = ask.dialect.manners(settings.provider.profile);
    let (fault, status, id) = {
        let mut state = shared.lock();
        let (fault, status) = state.fault(ask).unwrap_or_default();
        let at = clock::unix_nanos();
        entry.arrived = at;
        entry.verdict = Verdict::Accepted;
        let number = state.log.push(entry);
        let end = End {
            at,
            status: Some(status.unwrap_or(200)),
            output_tokens: 0,
            failed: status.is_some(),
            aborted: false,
        };
        state.log.end(number, end);
        (fault, status, state.answer_id())
    };
    let mut response = match status {
        Some(status) => {
            let kind = fault.kind.unwrap_or_else(|| usual_kind(status));
            let failure = Failure::of_kind(manners, kind, status, None);
            respond(manners, failure, &id, Vec::new())
        }
        None => {
            let counted = Completion::new(ask, settings.seed, 0);
            let mut response = Response::new(Body::full(counted.whole(fault.usage)));
            let headers = response.headers_mut();
            put_headers(headers, manners, "application/json", &id, Vec::new());
            response
        }
    };
    spoil_headers(response.headers_mut(), &fault);
    response
}
