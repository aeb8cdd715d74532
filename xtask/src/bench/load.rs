//! The load: a fixed number of chat completions over a fixed number of kept connections, each as soon as the last is answered.
//!
//! It is a program of its own, so that it can be pinned to the upstream's core. One thread; what it measures is latency
//! and counts, never the CPU time of others. An answer that is not a success ends it: a fast failure is not a result.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::clock;

const TIME_MAX: Duration = Duration::from_secs(15 * 60);

#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    address: SocketAddr,
    #[arg(long)]
    connections: u32,
    /// Of all connections together
    #[arg(long)]
    requests: u32,
    #[arg(long)]
    prompt_bytes: usize,
    /// Content chunks per streamed answer; 0 for plain answers
    #[arg(long)]
    events: u32,
}

/// What the load saw.
#[derive(Serialize, Deserialize, Default)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
    /// Of streams: blocks that an event parser would dispatch, `[DONE]` included.
    pub(crate) events: u64,
    pub(crate) seconds: f64,
    pub(crate) p50_us: u64,
    pub(crate) p99_us: u64,
}

/// Offers the load and prints what was seen.
///
/// # Errors
///
/// When a connection or an answer fails.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let offered = async { tokio::time::timeout(TIME_MAX, offer(args)).await };
    let seen = runtime
        .block_on(offered)
        .context("the load took too long")??;
    println!("{}", serde_json::to_string(&seen)?);
    Ok(ExitCode::SUCCESS)
}

async fn offer(args: &Args) -> anyhow::Result<Seen> {
    ensure!(args.connections > 0, "a load needs a connection");
    let body = body(args);
    let mut connections = JoinSet::new();
    let started = clock::now();
    for index in 0..args.connections {
        // The remainder goes to the first ones.
        let requests =
            args.requests / args.connections + u32::from(index < args.requests % args.connections);
        connections.spawn(one_connection(
            args.address,
            requests,
            args.events,
            body.clone(),
        ));
    }
    let mut latencies_us = Vec::new();
    let mut seen = Seen::default();
    while let Some(joined) = connections.join_next().await {
        let (of_connection, events) = joined.context("a connection's task failed")??;
        latencies_us.extend(of_connection);
        seen.events += events;
    }
    seen.seconds = started.elapsed().as_secs_f64();
    seen.requests = latencies_us.len() as u64;
    latencies_us.sort_unstable();
    seen.p50_us = quantile(&latencies_us, 50);
    seen.p99_us = quantile(&latencies_us, 99);
    Ok(seen)
}

/// One request's body. Streams come an event a millisecond, so that each event is a write of its own on the way.
fn body(args: &Args) -> Bytes {
    let mut body = json!({
        "model": "bench",
        "messages": [{ "role": "user", "content": "four".repeat(args.prompt_bytes / 4) }],
        "max_tokens": 256,
        "fake": { "output_tokens": 32 },
    });
    if args.events > 0 {
        body["stream"] = json!(true);
        body["fake"] = json!({ "output_tokens": args.events, "ms_per_token": 1 });
    }
    Bytes::from(body.to_string())
}

async fn one_connection(
    address: SocketAddr,
    requests: u32,
    events: u32,
    body: Bytes,
) -> anyhow::Result<(Vec<u64>, u64)> {
    let stream = TcpStream::connect(address)
        .await
        .context("cannot connect")?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut latencies_us = Vec::with_capacity(requests as usize);
    let mut events_seen = 0;
    for _ in 0..requests {
        let started = clock::now();
        let seen = one_request(&mut sender, address, body.clone()).await?;
        latencies_us.push(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX));
        if events > 0 {
            ensure!(
                seen >= u64::from(events),
                "a stream of {seen} events instead of {events}"
            );
            events_seen += seen;
        }
    }
    Ok((latencies_us, events_seen))
}

/// The number of event blocks in the answer.
async fn one_request(
    sender: &mut SendRequest<Full<Bytes>>,
    address: SocketAddr,
    body: Bytes,
) -> anyhow::Result<u64> {
    let request = Request::post("/v1/chat/completions")
        .header(header::HOST, address.to_string())
        .header(header::AUTHORIZATION, "Bearer bench")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(body))?;
    sender.ready().await?;
    let mut answer = sender.send_request(request).await.context("no answer")?;
    if !answer.status().is_success() {
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        bail!("answered {status}: {}", String::from_utf8_lossy(&body));
    }
    let mut blocks = Blocks::default();
    while let Some(frame) = answer.frame().await {
        if let Some(data) = frame.context("the answer broke off")?.data_ref() {
            blocks.feed(data);
        }
    }
    Ok(blocks.seen)
}

/// Counts empty lines, each of which ends a block, wherever the chunks break.
#[derive(Default)]
struct Blocks {
    at_line_end: bool,
    seen: u64,
}

impl Blocks {
    fn feed(&mut self, data: &[u8]) {
        for byte in data {
            let is_line_end = *byte == b'\n';
            if is_line_end && self.at_line_end {
                self.seen += 1;
            }
            self.at_line_end = is_line_end;
        }
    }
}

/// Of sorted values; zero where there are none.
fn quantile(sorted: &[u64], percent: usize) -> u64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * percent / 100).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_depend_on_where_chunks_break() {
        let text = b"data: a\n\ndata: b\n\ndata: [DONE]\n\n";
        for cut in 0..=text.len() {
            let mut blocks = Blocks::default();
            blocks.feed(&text[..cut]);
            blocks.feed(&text[cut..]);
            assert_eq!(blocks.seen, 3, "cut at {cut}");
        }
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        assert_eq!(quantile(&[], 50), 0);
        assert_eq!(quantile(&[7], 99), 7);
        assert_eq!(quantile(&[1, 2, 3, 4, 5], 50), 3);
    }

    #[test]
    fn a_prompt_has_the_size_that_was_asked_for() {
        let args = Args {
            address: SocketAddr::from(([127, 0, 0, 1], 1)),
            connections: 1,
            requests: 1,
            prompt_bytes: 1_000,
            events: 200,
        };
        let body: serde_json::Value = serde_json::from_slice(&body(&args)).expect("JSON");
        assert_eq!(
            body["messages"][0]["content"].as_str().map(str::len),
            Some(1_000)
        );
        assert_eq!(body["fake"]["output_tokens"], 200);
        assert_eq!(body["stream"], true);
    }
}
