//! Where the gateway listens, and what it allows a client.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Where the gateway listens and what it allows a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The address for clients.
    pub listen: SocketAddr,
    /// The address for `/`, `/admin` and `/metrics`; may be `listen` itself.
    pub admin_listen: SocketAddr,
    /// The largest request body, in bytes.
    pub body_max: u64,
    /// How long a client may take to send the head of a request. HTTP/1.1 counts from the end of the answer before, so this
    /// is also how long a connection rests between two requests: shorter than a client's own pool would trust it, requests
    /// would be lost to the race.
    pub header_timeout: Duration,
    /// How long a stopping gateway waits for what is under way.
    pub drain: Duration,
}

impl Server {
    /// Where the admin pages are unless told otherwise and `listen` is not loopback.
    pub(crate) const ADMIN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);

    /// Whether only programs on this machine can reach the address for clients.
    pub const fn is_loopback(&self) -> bool {
        is_loopback(self.listen.ip())
    }

    /// The same server with clients at `listen`. The admin pages move along where they shared the address and the new one is
    /// loopback too.
    #[must_use]
    pub fn listening_on(mut self, listen: SocketAddr) -> Self {
        let by_default = is_loopback(self.admin_listen.ip()) && self.admin_is_shared();
        self.listen = listen;
        if by_default {
            self.admin_listen = if is_loopback(listen.ip()) {
                listen
            } else {
                Self::ADMIN
            };
        }
        self
    }

    /// Whether the admin pages are on the address for clients.
    pub fn admin_is_shared(&self) -> bool {
        self.admin_listen == self.listen
    }
}

pub(crate) const fn is_loopback(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => ip.is_loopback(),
            None => ip.is_loopback(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_in_every_notation() {
        for (ip, expected) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(
                is_loopback(ip.parse().expect("an address")),
                expected,
                "{ip}"
            );
        }
    }
}
