//! Every row of the catalog behind a configuration works with all that it offers.

use sluicegate_catalog::{LimitRow, providers};
use sluicegate_config::parse;

#[test]
fn every_provider_works_with_all_its_limits_and_charges() {
    for row in providers() {
        // Where a row knows two names of one limit, either will do.
        let mut limits: Vec<&LimitRow> = Vec::new();
        for limit in &row.limits {
            let same =
                |known: &&LimitRow| known.meter == limit.meter && known.window == limit.window;
            if !limits.iter().any(same) {
                limits.push(limit);
            }
        }
        for charge in row.charge.names() {
            let amounts: Vec<String> = limits
                .iter()
                .map(|l| format!("{}: 900000", l.short))
                .collect();
            let text = format!(
                "accounts: {{ a: {{ provider: {}, api_key: k, base_url: https://x.example, charge: {charge}, limits: {{ {} }} }} }}\n\
                 deployments: {{ m: {{ account: a }} }}\n",
                row.id,
                amounts.join(", ")
            );
            let policy = parse("p.yaml", &text, &|_| None);
            let policy = policy.unwrap_or_else(|errors| panic!("{}: {errors}", row.id));
            let account = &policy.accounts[0];
            assert_eq!(account.limits.len(), limits.len(), "{}", row.id);
            assert_eq!(Some(&*account.charge), row.charge.rule(charge));
        }
    }
}
