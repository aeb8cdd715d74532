//! How long a provider says that it worked at an answer.

use std::time::Duration;

use http::HeaderMap;
use sluicegate_catalog::Provider;

use crate::header_text::{text, whole};

/// How long `provider` worked until the head of its answer, by these headers of it; `None` where they do not say so.
///
/// ```
/// use std::time::Duration;
/// let openai = sluicegate_catalog::provider("openai").expect("a row of that name");
/// let mut headers = http::HeaderMap::new();
/// headers.insert("openai-processing-ms", http::HeaderValue::from_static("312"));
/// let work = sluicegate_dialect::work_time(openai, &headers);
/// assert_eq!(work, Some(Duration::from_millis(312)));
/// ```
pub fn work_time(provider: &Provider, headers: &HeaderMap) -> Option<Duration> {
    let names = provider.work_ms.iter().flat_map(|work| &work.headers);
    let mut told = names.filter_map(|name| text(headers, name));
    told.next().and_then(whole).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn told(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let row =
            "like = \"openai\"\nid = \"x\"\nwork_ms = { headers = [\"x-best\", \"x-other\"] }";
        let provider = Provider::from_toml(row).expect("a row");
        let header = |&(name, value)| {
            let name = HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        };
        work_time(&provider, &headers.iter().map(header).collect())
    }

    #[test]
    fn the_first_that_is_there_counts() {
        let milliseconds = |ms| Some(Duration::from_millis(ms));
        assert_eq!(told(&[("x-other", "7")]), milliseconds(7));
        assert_eq!(told(&[("x-other", "7"), ("x-best", "5")]), milliseconds(5));
    }

    #[test]
    fn what_is_no_whole_number_says_nothing() {
        for value in ["", "-3", "12.5", "1s"] {
            assert_eq!(
                told(&[("x-best", value), ("x-other", "7")]),
                None,
                "{value}"
            );
        }
        assert_eq!(told(&[]), None);
    }

    #[test]
    fn a_provider_without_such_headers_says_nothing() {
        let groq = sluicegate_catalog::provider("groq").expect("a row");
        let mut headers = HeaderMap::new();
        headers.insert("openai-processing-ms", HeaderValue::from_static("3"));
        assert_eq!(work_time(groq, &headers), None);
    }
}
