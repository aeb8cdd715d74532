//! A virtual world: the core against the fake provider's model in virtual time.
