//! What an answer is held against, and how a request asks for it where the dialect stays the same.
//!
//! A client that asks for a form gets it from whoever answers. So a provider that its client did not choose is read through the
//! canonical form though it speaks the same dialect, and only its answer passes through: the request stays the client's own bytes
//! unless the form has to be said in words.

use std::sync::Arc;

use super::{Crossing, Outbound};
use crate::canonical::{OutputForm, ReadRequest, Target};
use crate::prune::prune;
use crate::{Changes, Envelope, Operation, ProviderDialect, RequestError, Shape, member_path};

/// A request that asks for a form, to a provider of the same dialect that its client did not choose. As it is where the provider
/// has a feature for it, else with the form in words. `None` where it asks for none, or holds what only its own dialect can say: then
/// nothing of it, nor of its answer, must pass through another form.
pub(super) fn shaped(
    operation: Operation,
    envelope: &Envelope,
    changes: &Changes<'_>,
    target: impl FnOnce() -> Target,
) -> Result<Option<Outbound>, RequestError> {
    if !operation.is_answered_by_model() {
        return Ok(None);
    }
    let provider = ProviderDialect::from(operation.dialect());
    let Ok(ReadRequest {
        mut request,
        inexpressible,
        mut places,
    }) = envelope.read()
    else {
        return Ok(None);
    };
    if !inexpressible.is_empty() || request.sampling.logprobs.is_some() {
        return Ok(None);
    }
    let Some(shape) = shape_of(&request.output, envelope)? else {
        return Ok(None);
    };
    let target = target();
    let (body, foregone) = match &request.output {
        OutputForm::Schema { .. } if !target.follows_schema => {
            if !prune(provider, &mut request, &mut places).is_empty() {
                return Ok(None);
            }
            let (_, written) = provider.write_instructed(request, &target);
            if !written.unsaid.is_empty() {
                return Ok(None);
            }
            let named = |feature| operation.dialect().foregone(feature, envelope.body());
            (
                written.body,
                written.foregone.into_iter().map(named).collect(),
            )
        }
        _ => (
            envelope.rewrite(changes),
            envelope.foregone().into_iter().collect(),
        ),
    };
    Ok(Some(Outbound {
        body,
        inexpressible,
        foregone,
        crossing: Crossing::Translated {
            client: operation,
            provider,
        },
        shape: Some(Arc::new(shape)),
    }))
}

/// What an answer has to be.
///
/// # Errors
/// What is wrong with the client's schema, by the name that it has in the client's request.
pub(super) fn shape_of(
    form: &OutputForm,
    envelope: &Envelope,
) -> Result<Option<Shape>, RequestError> {
    Shape::of(form).map_err(|why| {
        let members = envelope.operation().dialect().schema_members();
        let body = envelope.body();
        let is_there = |path: &&&str| member_path::found(body, path).is_whole;
        let param = *members.iter().find(is_there).unwrap_or(&members[0]);
        let place = member_path::found(body, param).path;
        let message =
            format!("`{place}` is no JSON Schema that an answer can be held against: {why}");
        RequestError {
            param: Some(param),
            message,
        }
    })
}
