//! Every row of the catalog behind a configuration: those whose dialect is spoken work with all that they offer, the
//! others are refused whole.

use sluicegate_catalog::{Dialect, providers};
use sluicegate_config::parse;

#[test]
fn every_provider_of_a_spoken_dialect_works_with_all_its_limits_and_charges() {
    let rows = providers().iter();
    let rows = rows.filter(|row| row.dialect == Dialect::OpenAi);
    let mut count = 0;
    for row in rows {
        let limits: Vec<&str> = row.limit_names().collect();
        for charge in row.charge.names() {
            let amounts: Vec<String> = limits.iter().map(|l| format!("{l}: 900000")).collect();
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
        count += 1;
    }
    assert_eq!(count, 17);
}

#[test]
fn a_provider_of_another_dialect_is_refused_by_its_name() {
    for row in providers() {
        if row.dialect == Dialect::OpenAi {
            continue;
        }
        let text = format!(
            "accounts: {{ a: {{ provider: {}, api_key: k, base_url: https://x.example }} }}\n\
             deployments: {{ m: {{ account: a }} }}\n",
            row.id
        );
        let errors = parse("p.yaml", &text, &|_| None).expect_err("not spoken");
        let said = format!(
            "provider {} speaks the {} dialect, which is not supported yet",
            row.id,
            row.dialect.name()
        );
        assert!(errors.to_string().contains(&said), "{errors}");
    }
}
