//! Made JSON: lists of records as interfaces give them, indented or dense.

use super::samples::{Dice, Part};

/// Names of members with what they hold. The first half is learned from, the second judged by.
const MEMBERS: &[(&str, Held)] = &[
    ("id", Held::Number),
    ("name", Held::Person),
    ("email", Held::Mail),
    ("created_at", Held::Instant),
    ("status", Held::Word),
    ("total", Held::Price),
    ("currency", Held::Word),
    ("is_active", Held::Flag),
    ("tags", Held::Words),
    ("description", Held::Sentence),
    ("url", Held::Address),
    ("userId", Held::Number),
    ("latitude", Held::Fraction),
    ("version", Held::Version),
    ("parent", Held::Nothing),
    ("order_id", Held::Key),
    ("quantity", Held::Number),
    ("shippingAddress", Held::Sentence),
    ("city", Held::Word),
    ("score", Held::Fraction),
    ("uuid", Held::Key),
    ("full_name", Held::Person),
    ("contact", Held::Mail),
    ("updatedAt", Held::Instant),
    ("state", Held::Word),
    ("amount", Held::Price),
    ("unit", Held::Word),
    ("enabled", Held::Flag),
    ("categories", Held::Words),
    ("summary", Held::Sentence),
    ("thumbnail", Held::Address),
    ("account_id", Held::Number),
    ("longitude", Held::Fraction),
    ("release", Held::Version),
    ("deleted_at", Held::Nothing),
    ("transactionId", Held::Key),
    ("retries", Held::Number),
    ("message", Held::Sentence),
    ("country", Held::Word),
    ("confidence", Held::Fraction),
];

#[derive(Clone, Copy)]
enum Held {
    Number,
    Person,
    Mail,
    Instant,
    Word,
    Price,
    Flag,
    Words,
    Sentence,
    Address,
    Fraction,
    Version,
    Nothing,
    Key,
}

const WORDS: &[&str] = &[
    "active",
    "EUR",
    "Berlin",
    "shipped",
    "outdoor",
    "kitchen",
    "premium",
    "Ontario",
    "draft",
    "blue",
    "garden",
    "weekly",
    "kg",
    "failed",
    "Osaka",
    "running",
    "beta",
    "fragile",
    "north",
    "invoice",
    "pending",
    "USD",
    "Lisbon",
    "returned",
    "camping",
    "office",
    "basic",
    "Bavaria",
    "final",
    "green",
    "bathroom",
    "monthly",
    "litre",
    "succeeded",
    "Incheon",
    "stopped",
    "stable",
    "heavy",
    "south",
    "receipt",
];
const PEOPLE: &[&str] = &[
    "Ada Keller",
    "Jun Park",
    "Maria Santos",
    "Tom O'Neill",
    "Yuki Mori",
    "Lena Fischer",
    "Omar Haddad",
    "Priya Nair",
    "Ines Costa",
    "Sam Weber",
    "Chloe Martin",
    "Hana Sato",
    "Igor Petrov",
    "Nina Lund",
    "Carlos Vega",
    "Ruth Adler",
];
const SENTENCES: &[&str] = &[
    "Delivered to the side door, no signature",
    "Pump housing, cast aluminium, 40 mm",
    "Customer asked for a later slot",
    "14 Mill Lane, second floor",
    "Retry after the upstream timed out",
    "Two-person tent with a spare pole",
    "Invoice sent twice by mistake",
    "Connection refused by 10.0.3.17:5432",
    "Left with the neighbour at number nine",
    "Brass valve, half inch, pack of ten",
    "The card was declined by the issuer",
    "Room 204, Harbour Building, Pier Road",
    "Rate limit reached for the account",
    "Folding chair, oak, set of four",
    "Address could not be verified",
    "Disk usage above 91% on node-7",
];

/// A list of one to six records, or a page of them.
pub(crate) fn document(part: Part, dice: &mut Dice) -> String {
    let indented = dice.chance(50);
    let members: Vec<_> = (0..4 + dice.below(7))
        .map(|_| dice.one_of(half(MEMBERS, part)))
        .collect();
    let count = 2 + dice.below(5);
    let records: Vec<_> = (0..count)
        .map(|_| record(&members, indented, part, dice))
        .collect();
    if indented {
        format!(
            "{{\n  \"count\": {count},\n  \"items\": [\n{}\n  ]\n}}",
            records.join(",\n")
        )
    } else {
        format!("{{\"count\":{count},\"items\":[{}]}}", records.join(","))
    }
}

fn half<T>(list: &'static [T], part: Part) -> &'static [T] {
    let (learned, held_out) = list.split_at(list.len() / 2);
    match part {
        Part::Learned => learned,
        Part::HeldOut => held_out,
    }
}

fn record(members: &[(&str, Held)], indented: bool, part: Part, dice: &mut Dice) -> String {
    let fields: Vec<_> = members
        .iter()
        .map(|(name, held)| {
            let value = value(*held, part, dice);
            if indented {
                format!("      \"{name}\": {value}")
            } else {
                format!("\"{name}\":{value}")
            }
        })
        .collect();
    if indented {
        format!("    {{\n{}\n    }}", fields.join(",\n"))
    } else {
        format!("{{{}}}", fields.join(","))
    }
}

fn value(held: Held, part: Part, dice: &mut Dice) -> String {
    let word = |dice: &mut Dice| dice.one_of(half(WORDS, part));
    let person = |dice: &mut Dice| dice.one_of(half(PEOPLE, part));
    match held {
        Held::Number => (dice.below(10)
            * 10_usize.pow(u32::try_from(dice.below(5)).expect("a small number"))
            + dice.below(1_000))
        .to_string(),
        Held::Person => format!("\"{}\"", person(dice)),
        Held::Mail => format!(
            "\"{}@example.com\"",
            person(dice).to_lowercase().replace([' ', '\''], ".")
        ),
        Held::Instant => format!(
            "\"20{}-{:02}-{:02}T{:02}:{:02}:{:02}Z\"",
            10 + dice.below(17),
            1 + dice.below(12),
            1 + dice.below(28),
            dice.below(24),
            dice.below(60),
            dice.below(60)
        ),
        Held::Word => format!("\"{}\"", word(dice)),
        Held::Price => format!("{}.{:02}", dice.below(2_000), dice.below(100)),
        Held::Flag => dice.chance(50).to_string(),
        Held::Words => format!("[\"{}\", \"{}\"]", word(dice), word(dice)),
        Held::Sentence => format!("\"{}\"", dice.one_of(half(SENTENCES, part))),
        Held::Address => format!(
            "\"https://example.com/{}/{}/{}.png\"",
            word(dice),
            word(dice),
            dice.below(100_000)
        ),
        Held::Fraction => format!("{}.{:06}", dice.below(180), dice.below(1_000_000)),
        Held::Version => format!(
            "\"{}.{}.{}\"",
            dice.below(5),
            dice.below(30),
            dice.below(12)
        ),
        Held::Nothing => "null".to_owned(),
        Held::Key => format!(
            "\"{:08x}-{:04x}-4{:03x}\"",
            dice.below(1 << 32),
            dice.below(1 << 16),
            dice.below(1 << 12)
        ),
    }
}
