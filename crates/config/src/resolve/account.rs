//! Accounts: provider, keys, address, families.

use std::net::IpAddr;
use std::sync::Arc;

use sluicegate_catalog::{ChargeRule, Endpoint, Provider};
use sluicegate_core::Headroom;

use super::failures::breaker;
use super::limits::{Scope, limits, refuse_adaptive, slots};
use super::provider::{Row, find};
use super::server::timeouts;
use super::{Outer, pattern};
use crate::checked::{Data, Named, Section};
use crate::errors::Problems;
use crate::policy::is_loopback;
use crate::shape::listed;
use crate::{Account, AwsCredentials, Family, Pattern, Secret};

/// An entry of `accounts`; the name stands also where the rest is wrong, so that a deployment that names it is not.
pub(super) struct Slot<'a> {
    pub(super) name: &'a str,
    pub(super) account: Option<Account>,
}

pub(super) fn accounts<'a>(
    entries: &'a [Named],
    rows: &[Row<'_>],
    outer: Outer,
    problems: &mut Problems,
) -> Vec<Slot<'a>> {
    entries
        .iter()
        .map(|entry| Slot {
            name: &entry.name,
            account: match &entry.value.data {
                Data::Section(section) => account(&entry.name, section, rows, outer, problems),
                _ => None,
            },
        })
        .collect()
}

fn account(
    name: &str,
    section: &Section,
    rows: &[Row<'_>],
    outer: Outer,
    problems: &mut Problems,
) -> Option<Account> {
    let provider = find(section.value("provider")?, rows, problems)?;
    let headroom = headroom(section);
    let region = region(section, &provider, problems);
    let base_url = base_url(section, &provider, region, problems);
    let aws = aws(section, &provider, region, problems);
    let api_keys = api_keys(section, &provider, base_url.as_deref(), problems);
    let scope = Scope {
        name: format!("account {name}"),
        provider: Arc::clone(&provider),
        headroom,
    };
    let limits = limits(section.value("limits"), &scope, problems);
    let families = families(name, section, &provider, headroom, problems);
    Some(Account {
        name: name.into(),
        charge: charge(section, &provider, problems)?,
        provider,
        api_keys,
        aws,
        base_url: base_url?,
        headroom,
        limits,
        families,
        timeouts: timeouts(section.section("timeouts"), outer.timeouts),
        breaker: breaker(section.section("breaker"), outer.breaker),
        slots: slots(section.value("limits")),
        ca_file: section
            .text("ca_file")
            .map(|path| path.value.clone().into()),
    })
}

fn headroom(section: &Section) -> Headroom {
    match section.value("headroom").map(|value| &value.data) {
        Some(Data::Share(share)) => Headroom::Share(*share),
        _ => Headroom::Auto,
    }
}

/// The region, if it is one of a provider that has any: it becomes a part of a host's name.
fn region<'a>(section: &'a Section, row: &Provider, problems: &mut Problems) -> Option<&'a str> {
    let region = section.text("region")?;
    let value = section.value("region")?;
    if row.region_url.is_none() && row.aws_service.is_none() {
        let problem = format!("{} has no address by region", row.name);
        problems
            .add(value.at, &value.path, problem)
            .mend("remove it, or write the address as base_url");
        return None;
    }
    if !is_region(&region.value) {
        let problem = format!("{} is no region", region.shown);
        problems
            .add(value.at, &value.path, problem)
            .expected("a name like us-east-1");
        return None;
    }
    Some(&region.value)
}

/// Whether `name` may become a part of a host's name.
pub(crate) fn is_region(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(is_part)
}

fn base_url(
    section: &Section,
    row: &Provider,
    region: Option<&str>,
    problems: &mut Problems,
) -> Option<String> {
    if let Some(value) = section.value("base_url") {
        let url = section.url("base_url")?;
        if let Some(path) = row.paths.of(Endpoint::Chat)
            && path.matches('/').count() > 1
            && url.ends_with(path)
        {
            let problem = format!("ends in {path}, which is added to it");
            problems
                .add(value.at, &value.path, problem)
                .mend(format!("leave {path} out"));
        }
        return Some(url.to_owned());
    }
    let in_region = region.and_then(|region| row.url_in(region));
    let url = in_region.or_else(|| row.base_url.clone());
    if url.is_none() && row.region_url.is_some() {
        if !section.has("region") {
            let mend = "add `region: us-east-1`, or your own address as base_url";
            problems
                .add(section.at, &section.path, "\"region\" is missing")
                .mend(mend);
        }
    } else if url.is_none() {
        problems
            .add(section.at, &section.path, "\"base_url\" is missing")
            .expected(format!(
                "your own address, since {} has none for all",
                row.name
            ));
    }
    url
}

/// What requests are signed with, where the provider takes that.
fn aws(
    section: &Section,
    row: &Provider,
    region: Option<&str>,
    problems: &mut Problems,
) -> Option<AwsCredentials> {
    let value = section.value("aws")?;
    if row.aws_service.is_none() {
        let problem = format!("{} takes no signed requests", row.name);
        problems
            .add(value.at, &value.path, problem)
            .mend("write a key as api_key");
        return None;
    }
    if section.has("api_key") || section.has("api_keys") {
        problems
            .add(value.at, &value.path, "stands beside a key")
            .mend("remove one of them: a request is signed or carries a key");
    }
    // Without an address too it has been said.
    if !section.has("region") && section.has("base_url") {
        problems
            .add(
                value.at,
                &value.path,
                "signs for a region, which is missing",
            )
            .mend("add `region: us-east-1` to the account");
    }
    let credentials = section.section("aws")?;
    let secret = |key| match &credentials.value(key)?.data {
        Data::Secret(secret) => Some(secret.clone()),
        _ => None,
    };
    Some(AwsCredentials {
        access_key_id: secret("access_key_id")?,
        secret_access_key: secret("secret_access_key")?,
        session_token: secret("session_token").filter(|token| !token.expose().is_empty()),
        region: region?.to_owned(),
    })
}

fn api_keys(
    section: &Section,
    row: &Provider,
    base_url: Option<&str>,
    problems: &mut Problems,
) -> Vec<Secret<String>> {
    if let Some(several) = section.value("api_keys")
        && section.has("api_key")
    {
        problems
            .add(several.at, &several.path, "stands beside api_key")
            .mend("move all keys to api_keys");
    }
    let mut keys: Vec<Secret<String>> = Vec::new();
    for value in section
        .value("api_key")
        .into_iter()
        .chain(section.list("api_keys"))
    {
        if let Data::Secret(key) = &value.data {
            if keys.contains(key) {
                problems
                    .add(value.at, &value.path, "the same key as one before")
                    .mend("remove it: a key counts once");
            }
            keys.push(key.clone());
        }
    }
    let given = section.has("api_key") || section.has("api_keys") || section.has("aws");
    if !given && base_url.is_some_and(|url| !is_loopback_url(url)) {
        let variable = row.env_keys.first().map_or("API_KEY", String::as_str);
        let or_aws = if row.aws_service.is_some() {
            ", or `aws` with credentials to sign with"
        } else {
            ""
        };
        problems
            .add(section.at, &section.path, "no key")
            .mend(format!("add `api_key: ${{{variable}}}`{or_aws}"));
    }
    keys
}

fn is_loopback_url(url: &str) -> bool {
    let Ok(uri) = url.parse::<http::Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(is_loopback)
}

fn charge(section: &Section, row: &Provider, problems: &mut Problems) -> Option<Arc<ChargeRule>> {
    if !section.has("charge") {
        return Some(Arc::new(row.charge.default_rule().clone()));
    }
    let name = section.text("charge")?;
    let found = row.charge.rule(&name.value);
    if found.is_none() {
        let value = section.value("charge")?;
        problems
            .add(
                value.at,
                &value.path,
                format!("{} has no charge rule {}", row.name, name.shown),
            )
            .expected(listed(row.charge.names()));
    }
    found.cloned().map(Arc::new)
}

fn families(
    account: &str,
    section: &Section,
    provider: &Arc<Provider>,
    headroom: Headroom,
    problems: &mut Problems,
) -> Vec<Family> {
    let mut families = Vec::new();
    for entry in section.map("families") {
        let Data::Section(section) = &entry.value.data else {
            continue;
        };
        let scope = Scope {
            name: format!("account {account} family {}", entry.name),
            provider: Arc::clone(provider),
            headroom,
        };
        refuse_adaptive(section.value("limits"), problems);
        families.push(Family {
            name: Arc::from(entry.name.as_str()),
            models: models(section, problems),
            limits: limits(section.value("limits"), &scope, problems),
        });
    }
    families
}

fn models(section: &Section, problems: &mut Problems) -> Vec<Pattern> {
    let mut models = Vec::new();
    for value in section.list("models") {
        let Data::Text(text) = &value.data else {
            continue;
        };
        match pattern(&text.value) {
            Ok(model) => models.push(model),
            Err(why) => {
                problems.add(
                    value.at,
                    &value.path,
                    format!("{} is not the name of a model: {why}", text.shown),
                );
            }
        }
    }
    models
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_urls() {
        for url in [
            "http://localhost:1/v1",
            "http://127.0.0.1",
            "https://[::1]:9/v1",
        ] {
            assert!(is_loopback_url(url), "{url}");
        }
        for url in [
            "http://localhost.example.net",
            "http://10.0.0.1",
            "http://example.net/127.0.0.1",
        ] {
            assert!(!is_loopback_url(url), "{url}");
        }
    }
}
