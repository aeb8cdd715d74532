//! Posts notices to the operator's webhook: one after the other, each once, and whatever becomes of it is not waited for elsewhere.
//!
//! The address is a secret, so no message names it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request};
use http_body_util::Full;
use sluicegate_config::Webhook;

use crate::notices::{Notice, Notices};
use crate::upstream::{self, HttpClient};

/// No longer for a connection, and for the whole.
const CONNECT_MAX: Duration = Duration::from_secs(5);
const TOTAL_MAX: Duration = Duration::from_secs(10);

/// Posts what `notices` have until dropped.
pub(crate) async fn run(notices: Arc<Notices>) {
    let mut client = None;
    loop {
        let (notice, webhook) = notices.next().await;
        if client.is_none() {
            match upstream::client(CONNECT_MAX, None) {
                Ok(made) => client = Some(made),
                Err(error) => tracing::warn!(%error, "the operator's webhook cannot be called"),
            }
        }
        if let Some(client) = &client
            && let Err(problem) = post(client, &notice, &webhook).await
        {
            tracing::warn!(problem, "the operator's webhook did not take a notice");
        }
    }
}

async fn post(
    client: &HttpClient<Full<Bytes>>,
    notice: &Notice,
    webhook: &Webhook,
) -> Result<(), String> {
    let body = Full::from(notice.json().to_string());
    let mut request = Request::post(webhook.url.expose())
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(|_| "its address is none that a request can be sent to".to_owned())?;
    if let Some(key) = &webhook.key {
        let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose()))
            .map_err(|_| "its key holds what no header may hold".to_owned())?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    match tokio::time::timeout(TOTAL_MAX, client.request(request)).await {
        Err(_) => Err(format!("no answer within {TOTAL_MAX:?}")),
        Ok(Err(error)) => Err(crate::attempt::innermost(&error)),
        Ok(Ok(answer)) if answer.status().is_success() => Ok(()),
        Ok(Ok(answer)) => Err(format!("it answered {}", answer.status().as_u16())),
    }
}
