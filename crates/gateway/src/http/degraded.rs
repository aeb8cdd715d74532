//! What load changes about one request, and how its client is told.
//!
//! A lowered maximum is written into the body before anything else looks at it, so that what is reserved, what is sent and what is
//! taken for a cut answer are of one and the same request.

use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use sluicegate_config::Route;
use sluicegate_core::{LoadEffects, LoadLevel};
use sluicegate_dialect::Changes;
use sluicegate_dialect::canonical::{Feature, Inexpressible};
use sluicegate_dialect::{Envelope, RequestError};

use crate::gateway::{Gateway, RequestId};

const LOAD: HeaderName = HeaderName::from_static("x-sluicegate-load");
const DEGRADED: HeaderName = HeaderName::from_static("x-sluicegate-degraded");

/// How loaded everything was when a request came, and what that changed about it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Degraded {
    level: LoadLevel,
    what: Option<What>,
    /// A smaller model answered.
    smaller: bool,
    /// Members of the request that were dropped.
    dropped: Vec<String>,
    /// What of the provider's answer is not in the client's.
    lost: Vec<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// The maximum of output tokens was lowered.
    Cap { asked: u64, given: u64 },
    /// The route's template was the answer.
    Template,
}

impl Degraded {
    /// The level of load is `level`.
    pub(super) fn at(&mut self, level: LoadLevel) {
        self.level = level;
    }

    /// The request with the maximum of output tokens that `effects` leave it, never below `floor`. One that names none is as it was:
    /// nobody knows what it needs.
    ///
    /// # Errors
    ///
    /// None that a body which was read could cause.
    pub(super) fn lower(
        &mut self,
        envelope: &Envelope,
        effects: LoadEffects,
        floor: u64,
    ) -> Result<Option<Envelope>, RequestError> {
        let Some((asked, given)) = envelope
            .facts()
            .output_cap
            .and_then(|asked| Some((asked, effects.output_cap(asked, floor)?)))
        else {
            return Ok(None);
        };
        let lowered = envelope.rewrite(&Changes {
            output_cap: Some(given),
            ..Changes::default()
        });
        self.what = Some(What::Cap { asked, given });
        envelope.again(&lowered).map(Some)
    }

    /// The maximum that a cut answer was asked for once more with.
    pub(super) fn raised(&mut self, cap: Option<u64>) {
        if let (Some(What::Cap { asked, .. }), Some(given)) = (self.what, cap) {
            self.what = (given < asked).then_some(What::Cap { asked, given });
        }
    }

    /// The answer from the template of `route`, where it has one and `effects` are to use it.
    pub(super) fn template(
        &mut self,
        gateway: &Gateway,
        id: RequestId,
        route: &Route,
        envelope: &Envelope,
        effects: LoadEffects,
    ) -> Option<Response> {
        let text = route.template.as_deref();
        let text = text.filter(|_| effects.answers_from_template)?;
        let wall = gateway.clock().now().wall;
        let created_s = wall.as_unix_nanos() / 1_000_000_000;
        let body = envelope.templated(text, &id.to_string(), created_s)?;
        self.what = Some(What::Template);
        let media_type = if envelope.facts().stream {
            "text/event-stream; charset=utf-8"
        } else {
            "application/json"
        };
        let mut response = Response::new(Body::from(body));
        let media_type = HeaderValue::from_static(media_type);
        response.headers_mut().insert(CONTENT_TYPE, media_type);
        Some(response)
    }

    /// The route's smaller model answered.
    pub(super) fn by_smaller_model(&mut self) {
        self.smaller = true;
    }

    /// These members of the request were dropped.
    pub(super) fn without(&mut self, members: &[Inexpressible]) {
        let fields = members.iter().map(|member| member.field.clone());
        self.dropped = fields.collect();
    }

    /// The client's dialect has no words for these of the answer.
    pub(super) fn answered_without(&mut self, lost: &[Feature]) {
        let names = lost.iter().map(|feature| match feature {
            Feature::Images => "answer.images",
            Feature::Audio => "answer.audio",
            _ => "answer.documents",
        });
        self.lost = names.collect();
    }

    /// What was degraded, as metrics name it.
    pub(super) fn effects(&self) -> impl Iterator<Item = &'static str> {
        let what = self.what.map(|what| match what {
            What::Cap { .. } => "max_tokens",
            What::Template => "template",
        });
        let dropped = (!self.dropped.is_empty()).then_some("members");
        let lost = (!self.lost.is_empty()).then_some("answer");
        what.into_iter()
            .chain(self.smaller.then_some("model"))
            .chain(dropped)
            .chain(lost)
    }

    /// Tells the client, where there is something to tell.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        if self.level > LoadLevel::Normal {
            headers.insert(LOAD, HeaderValue::from_static(self.level.name()));
        }
        let what = match self.what {
            None => None,
            Some(What::Template) => Some("template".to_owned()),
            Some(What::Cap { asked, given }) => Some(format!("max_tokens {asked}->{given}")),
        };
        let smaller = self.smaller.then(|| "model".to_owned());
        let dropped = self.dropped.iter().map(|field| format!("-{field}"));
        let lost = self.lost.iter().map(|name| format!("-{name}"));
        let told = smaller.into_iter().chain(what).chain(dropped).chain(lost);
        let all: Vec<String> = told.collect();
        // A name is the client's own, and may be one that no header can say.
        if !all.is_empty()
            && let Ok(all) = HeaderValue::try_from(all.join(", "))
        {
            headers.insert(DEGRADED, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use sluicegate_dialect::Operation;

    use super::*;
    use sluicegate_core::LoadRules;

    fn request(members: &str) -> Envelope {
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user"}}]{members}}}"#);
        Envelope::decode(Operation::ChatCompletions, "", &body.into()).expect("a request")
    }

    fn told(degraded: &Degraded) -> Vec<(String, String)> {
        let mut headers = HeaderMap::new();
        degraded.tell(&mut headers);
        let text = |(name, value): (&HeaderName, &HeaderValue)| {
            let value = value.to_str().expect("text");
            (name.to_string(), value.to_owned())
        };
        headers.iter().map(text).collect()
    }

    #[test]
    fn a_lowered_maximum_is_in_the_body_and_in_the_header() {
        let effects = LoadRules::default().effects(LoadLevel::Critical);
        let mut degraded = Degraded::default();
        degraded.at(LoadLevel::Critical);
        let asked = request(r#","max_tokens":4096"#);
        let lowered = degraded
            .lower(&asked, effects, 256)
            .expect("still a request");
        let lowered = lowered.expect("half is above the floor");
        assert_eq!(lowered.facts().output_cap, Some(2_048));
        let said = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            told(&degraded),
            [
                said("x-sluicegate-load", "critical"),
                said("x-sluicegate-degraded", "max_tokens 4096->2048"),
            ]
        );
    }

    #[test]
    fn a_maximum_that_was_raised_again_is_said_as_it_is() {
        let effects = LoadRules::default().effects(LoadLevel::Critical);
        let said = |raised| {
            let mut degraded = Degraded::default();
            let lowered = degraded.lower(&request(r#","max_tokens":400"#), effects, 1);
            assert!(matches!(lowered, Ok(Some(_))));
            degraded.raised(Some(raised));
            told(&degraded)
        };
        let degraded = "x-sluicegate-degraded".to_owned();
        assert_eq!(said(300), [(degraded, "max_tokens 400->300".to_owned())]);
        assert_eq!(said(400), []);
    }

    #[test]
    fn what_stays_as_it_is_is_not_said_to_be_degraded() {
        let effects = LoadRules::default().effects(LoadLevel::Critical);
        for members in [r#","max_tokens":256"#, ""] {
            let mut degraded = Degraded::default();
            let lowered = degraded.lower(&request(members), effects, 256);
            assert_eq!(lowered, Ok(None), "{members}");
            assert_eq!(told(&degraded), [], "{members}");
        }
    }

    #[test]
    fn what_is_lost_of_an_answer_stands_behind_what_was_dropped_of_the_request() {
        let mut degraded = Degraded::default();
        let mut headers = HeaderMap::new();
        degraded.tell(&mut headers);
        assert_eq!(headers.get(DEGRADED), None);
        degraded.dropped = vec!["seed".to_owned()];
        degraded.answered_without(&[Feature::Images, Feature::Audio]);
        degraded.tell(&mut headers);
        let told = headers.get(DEGRADED).map(HeaderValue::as_bytes);
        assert_eq!(told, Some(&b"-seed, -answer.images, -answer.audio"[..]));
        assert!(degraded.effects().eq(["members", "answer"]));
    }
}
