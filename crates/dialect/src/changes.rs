//! What is to be different in a request upstream.

/// What is to be different upstream. A dialect writes what it has a place for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes<'a> {
    /// The model to ask for instead.
    pub model: Option<&'a str>,
    /// What to do about the usage of a stream.
    pub include_usage: IncludeUsage,
    /// No output maximum above this: those that are written are lowered, and where none is, one is
    /// added.
    pub output_cap: Option<u64>,
    /// How soon it is to be served, for servers that order their own queue by it. A client that says so itself is heard.
    pub priority: Option<Priority<'a>>,
    /// Which thoughts of earlier turns go along.
    pub seals: Seals,
}

/// Which thoughts of earlier turns go along: only who sealed one takes it back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Seals {
    /// All: nobody has decided yet to whom the body goes.
    #[default]
    All,
    /// Those of providers of this dialect: it goes to one, who would refuse others.
    Own,
}

/// A number by which a server orders its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Priority<'a> {
    /// The member of the body that carries it.
    pub field: &'a str,
    /// The number.
    pub value: u8,
}

/// What to do about the usage of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IncludeUsage {
    /// As the client wrote it.
    #[default]
    Keep,
    /// Ask for it where the answer is streamed, whatever the client wrote.
    Ask,
}
