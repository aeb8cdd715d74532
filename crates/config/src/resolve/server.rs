//! The sections that stand alone: server, stream, operator; and timeouts, which stand at several levels.

use std::net::SocketAddr;

use crate::checked::{Data, Section};
use crate::errors::Problems;
use crate::{Estimates, Operator, Secret, Server, Stream, Timeouts, Webhook};

/// The server, and the timeouts that hold where no inner level says otherwise.
pub(super) fn server(
    section: Option<&Section>,
    problems: &mut Problems,
) -> (Option<Server>, Timeouts) {
    let Some(section) = section else {
        return (None, Timeouts::default());
    };
    let timeouts = timeouts(section.section("timeouts"), Timeouts::default());
    (fields(section, problems), timeouts)
}

/// Bytes. Whatever is less holds hardly a request, and is more likely a unit that was forgotten.
const BODY_MAX_LEAST: u64 = 1024;

fn fields(section: &Section, problems: &mut Problems) -> Option<Server> {
    if let Some(value) = section.value("body_max")
        && section.bytes("body_max")? < BODY_MAX_LEAST
    {
        problems
            .add(value.at, &value.path, "is less than any request needs")
            .mend("allow 1KiB at least; a number without a unit is bytes, so write `32MiB` for 32 mebibytes");
    }
    let listen = section.address("listen")?;
    let mut server = Server {
        listen,
        admin_listen: listen,
        body_max: section.bytes("body_max")?,
        header_timeout: section.duration("header_timeout")?,
        drain: section.duration("drain")?,
    };
    if let Some(admin) = section.address("admin_listen") {
        server.admin_listen = admin;
    } else if !server.is_loopback() {
        server.admin_listen = Server::ADMIN;
    }
    if collide(server.listen, server.admin_listen) {
        let given = section.value("admin_listen");
        let value = given.or(section.value("listen"))?;
        problems
            .add(
                value.at,
                &value.path,
                format!(
                    "the addresses for clients ({}) and for the admin pages ({}) cannot both be bound",
                    server.listen, server.admin_listen
                ),
            )
            .mend("set admin_listen to another port, or to exactly the address of listen");
    }
    Some(server)
}

/// Whether two different addresses claim one port of one interface.
fn collide(a: SocketAddr, b: SocketAddr) -> bool {
    a != b
        && a.port() == b.port()
        && a.port() != 0
        && (a.ip().is_unspecified() || b.ip().is_unspecified())
}

/// What `section` says, and else what `outer` does.
pub(super) fn timeouts(section: Option<&Section>, outer: Timeouts) -> Timeouts {
    let Some(section) = section else {
        return outer;
    };
    Timeouts {
        connect: section.duration("connect").unwrap_or(outer.connect),
        head: section.duration("head").unwrap_or(outer.head),
        idle: section.duration("idle").unwrap_or(outer.idle),
        total: match section.value("total").map(|value| &value.data) {
            Some(Data::Duration(total)) => Some(*total),
            Some(Data::Word(_)) => None,
            _ => outer.total,
        },
    }
}

pub(super) fn stream(section: Option<&Section>) -> Option<Stream> {
    Some(Stream {
        head_hold: section?.duration("head_hold")?,
    })
}

pub(super) fn estimates(section: Option<&Section>) -> Option<Estimates> {
    Some(Estimates {
        sampled: section?.share("sampled")?,
    })
}

/// A key that nothing is sent with is a mistake: the URL was forgotten.
pub(super) fn operator(section: Option<&Section>, problems: &mut Problems) -> Operator {
    let Some(section) = section else {
        return Operator::default();
    };
    let key = section.value("webhook_key");
    if let Some(value) = key
        && !section.has("webhook")
    {
        problems
            .add(value.at, &value.path, "stands without webhook")
            .mend("add `webhook: https://…`, or remove the key");
    }
    let key = key.and_then(|value| match &value.data {
        Data::Secret(key) => Some(key.clone()),
        _ => None,
    });
    Operator {
        webhook: section.url("webhook").map(|url| Webhook {
            url: Secret::new(url.to_owned()),
            key,
        }),
    }
}
