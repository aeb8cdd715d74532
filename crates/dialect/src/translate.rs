//! From one dialect to another: which functions of which folder.
//!
//! A dialect more is a folder and an arm in each of these matches.

mod names;

use bytes::Bytes;

use crate::canonical::{
    Answer, Feature, Inexpressible, Lost, OutputForm, Part, Places, ReadRequest, Request, Source,
    Spot, Stamp, Target, ToolChoice, WrittenRequest,
};
use crate::prune::{self, prune};
use crate::unwritten::without_unwritten;
use crate::{
    ProviderDialect, RequestError, UpstreamError, anthropic, gemini, member_path, openai, responses,
};
use names::Names;

/// A wire format that clients speak, and providers too. Those that only providers speak are in
/// [`ProviderDialect`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// OpenAI's chat completions.
    OpenAiChat,
    /// Anthropic's messages.
    Anthropic,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Google's Gemini.
    Gemini,
}

/// A request in another dialect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The body.
    pub body: Bytes,
    /// What is not in it, or only by what comes nearest, in the words of the dialect that it came in: to be refused by name, or
    /// to be told where the route allows that.
    pub inexpressible: Vec<Inexpressible>,
    /// What is not in it either, though nobody has to be refused for it: to be reported.
    pub foregone: Vec<Inexpressible>,
    /// Whether the model is told of the answer's form in words, which no provider vouches for: the
    /// caller must check it.
    pub must_instruct: bool,
    /// The form of the answer.
    pub form: OutputForm,
}

/// A request of a client that speaks `from`, for a provider that speaks `to`.
///
/// What stands in the path and not in the body is not translated here: see
/// [`Envelope::translated`](crate::Envelope::translated).
///
/// # Errors
/// [`RequestError`] where the body is none of that dialect, or nothing of its conversation but instructions can be said.
///
/// ```
/// use sluicegate_dialect::canonical::{Target, ThinkingForm, CapName};
/// use sluicegate_dialect::{Dialect, translate_request};
/// let target = Target {
///     model: "claude-haiku-4-5".to_owned(),
///     output_cap_default: 4_096,
///     cap_name: CapName::default(),
///     follows_schema: true,
///     thinking: ThinkingForm::None,
///     efforts: Vec::new(),
///     always_thinks: false,
///     fixed_sampling: false,
///     unthinking_sampling: false,
///     thinks_unasked: false,
///     one_sampler: false,
///     unthinking_tools: false,
///     tool_name_max: None,
/// };
/// let body = br#"{"model":"fast","messages":[{"role":"user","content":"hi"}],"seed":7}"#;
/// let translation = translate_request(Dialect::OpenAiChat, Dialect::Anthropic, body, &target)?;
/// assert_eq!(
///     translation.body,
///     r#"{"model":"claude-haiku-4-5","max_tokens":4096,"messages":[{"role":"user","content":"hi"}]}"#
/// );
/// assert_eq!(translation.inexpressible[0].field, "seed");
/// # Ok::<(), sluicegate_dialect::RequestError>(())
/// ```
pub fn translate_request(
    from: Dialect,
    to: impl Into<ProviderDialect>,
    body: &[u8],
    target: &Target,
) -> Result<Translation, RequestError> {
    written(from, to.into(), from.read_request(body)?, body, target)
}

/// A request that was read from `body`, in another dialect.
pub(crate) fn written(
    from: Dialect,
    to: ProviderDialect,
    read: ReadRequest,
    body: &[u8],
    target: &Target,
) -> Result<Translation, RequestError> {
    let Sayable {
        request,
        places,
        mut names,
        written,
    } = sayable(from, to, read, body, target)?;
    names.add_tool_names(from, to, &request, &places, target);
    let (request, written) = to.instructed(request, written, target);
    let foregone = written.foregone.into_iter();
    let foregone = foregone
        .map(|feature| from.foregone(feature, body))
        .collect();
    for lost in written.unsaid {
        names.add(from.paths_of(lost, &places));
    }
    Ok(Translation {
        body: written.body,
        inexpressible: names.list,
        foregone,
        must_instruct: written.must_instruct,
        form: request.output,
    })
}

/// A request without what is left out of it.
pub(crate) struct Sayable<'b> {
    pub(crate) request: Request,
    places: Places,
    /// What was left out.
    names: Names<'b>,
    written: WrittenRequest,
}

/// Leaves out of a request that was read from `body` what no provider takes and what `to` has no words for.
///
/// # Errors
/// [`RequestError`] where nothing is left to answer.
pub(crate) fn sayable<'b>(
    from: Dialect,
    to: ProviderDialect,
    read: ReadRequest,
    body: &'b [u8],
    target: &Target,
) -> Result<Sayable<'b>, RequestError> {
    let ReadRequest {
        mut request,
        inexpressible,
        mut places,
    } = read;
    let mut names = Names::new(body, inexpressible);
    // Instructions alone ask for an answer only where the client has written nothing else.
    let only_instructs = !converses(&request);
    let is_left =
        |request: &Request| (only_instructs || converses(request)) && !prune::is_empty(to, request);
    let left_out = prune(to, &mut request, &mut places);
    if !is_left(&request) {
        let place = left_out.first();
        let place = place.map(|place| member_path::found(body, place).path);
        return Err(from.nothing_said(names.list.first(), place.as_deref()));
    }
    names.add_each(left_out);
    let must_call = matches!(request.tool_choice, ToolChoice::Any | ToolChoice::Named(_));
    if must_call && request.tools.is_empty() {
        request.tool_choice = ToolChoice::Unsaid;
        let members = from.members_of(Feature::ToolChoice).iter();
        names.add(members.map(|member| (*member).to_owned()));
    }
    let mut written = to.write_request(&request, target);
    if !written.unwritten.is_empty() {
        let named_before = names.list.len();
        for lost in written.unsaid.iter().filter(|lost| lost.is_whole_part()) {
            names.add(from.paths_of(*lost, &places));
        }
        let unwritten = &written.unwritten;
        let left_out = without_unwritten(to, unwritten, &mut request, &mut places);
        if !is_left(&request) {
            let lost = names.list.get(named_before).or(names.list.first());
            return Err(from.nothing_said(lost, None));
        }
        names.add_each(left_out);
        written = to.write_request(&request, target);
    }
    // Of thoughts alone a writer makes nothing, and names nothing.
    let first_turn = format!("{}[0]", to.conversation_member());
    if !member_path::found(&written.body, &first_turn).is_whole {
        return Err(from.nothing_said(names.list.first(), None));
    }
    Ok(Sayable {
        request,
        places,
        names,
        written,
    })
}

/// Whether somebody speaks in it, apart from instructions.
fn converses(request: &Request) -> bool {
    request.turns.iter().any(|turn| !turn.role.instructs())
}

impl Dialect {
    /// Reads a request into the canonical form.
    ///
    /// # Errors
    /// [`RequestError`] where the body is none of this dialect.
    pub fn read_request(self, body: &[u8]) -> Result<ReadRequest, RequestError> {
        match self {
            Self::OpenAiChat => openai::read_request(body),
            Self::Anthropic => anthropic::read_request(body),
            Self::OpenAiResponses => responses::read_request(body),
            Self::Gemini => gemini::read_request(body),
        }
    }

    /// Writes a request for a provider of this dialect.
    pub fn write_request(self, request: &Request, target: &Target) -> WrittenRequest {
        match self {
            Self::OpenAiChat => openai::write_request(request, target),
            Self::Anthropic => anthropic::write_request(request, target),
            Self::OpenAiResponses => responses::write_request(request, target),
            Self::Gemini => gemini::write_request(request, target),
        }
    }

    /// The members of a request in which this dialect says `feature`: from the beginning, or behind a dot from where it stands.
    const fn members_of(self, feature: Feature) -> &'static [&'static str] {
        match self {
            Self::OpenAiChat => openai::members_of(feature),
            Self::Anthropic => anthropic::members_of(feature),
            Self::OpenAiResponses => responses::members_of(feature),
            Self::Gemini => gemini::members_of(feature),
        }
    }

    /// The paths at which a client may have written what is lost, those of other spellings included.
    fn paths_of(self, lost: Lost, places: &Places) -> impl Iterator<Item = String> {
        let [stops, ..] = self.members_of(Feature::StopSequences) else {
            unreachable!("every dialect has a name for each feature");
        };
        let place = places.of(lost.spot, stops);
        let members = self.members_of(lost.feature).iter();
        members.map(move |member| match lost.spot {
            Spot::Stop(_) => place.clone(),
            _ if member.is_empty() || member.starts_with('.') => format!("{place}{member}"),
            _ => (*member).to_owned(),
        })
    }

    /// The member of a body that holds the conversation.
    pub(crate) const fn conversation_member(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::Anthropic => "messages",
            Self::OpenAiResponses => "input",
            Self::Gemini => "contents",
        }
    }

    /// What a request in `body` goes without, though nobody has to be refused for it.
    pub(crate) fn foregone(self, feature: Feature, body: &[u8]) -> Inexpressible {
        let members = self.members_of(feature);
        let is_there = |path: &&&str| member_path::found(body, path).is_whole;
        let member = members.iter().find(is_there).or(members.first());
        Inexpressible::new(member.copied().unwrap_or_default())
    }

    /// Nothing is left to answer: `lost` cannot be said, or what stands at `empty` says nothing.
    fn nothing_said(self, lost: Option<&Inexpressible>, empty: Option<&str>) -> RequestError {
        let param = self.conversation_member();
        let why = match lost {
            Some(lost) => format!("`{}` cannot be said to this model", lost.field),
            None => {
                let place = empty.unwrap_or(param);
                format!("`{place}` says nothing that a model could answer")
            }
        };
        let message = format!(
            "{why}, and nothing else is left of `{param}`: let a user say something that is not empty"
        );
        RequestError {
            param: Some(param),
            message,
        }
    }

    /// The members that may hold the schema of an answer, the newest name first.
    pub(crate) const fn schema_members(self) -> &'static [&'static str] {
        match self {
            Self::OpenAiChat => &["response_format.json_schema.schema"],
            Self::Anthropic => &["output_config.format.schema", "output_format.schema"],
            Self::OpenAiResponses => &["text.format.schema"],
            Self::Gemini => &[
                "generationConfig.responseJsonSchema",
                "generationConfig._responseJsonSchema",
                "generationConfig.responseSchema",
            ],
        }
    }

    /// Reads an answer that came whole.
    ///
    /// # Errors
    /// [`RequestError`] where it is none of this dialect: the provider's fault, not the client's.
    pub fn read_answer(self, body: &[u8]) -> Result<Answer, RequestError> {
        match self {
            Self::OpenAiChat => openai::read_answer(body),
            Self::Anthropic => anthropic::read_answer(body),
            Self::OpenAiResponses => responses::read_answer(body),
            Self::Gemini => gemini::read_answer(body),
        }
    }

    /// Writes an answer for a client of this dialect.
    pub fn write_answer(self, answer: &Answer, stamp: &Stamp) -> Bytes {
        let answer = answer.with_arguments();
        match self {
            Self::OpenAiChat => openai::write_answer(&answer, stamp),
            Self::Anthropic => anthropic::write_answer(&answer, stamp),
            Self::OpenAiResponses => responses::write_answer(&answer, stamp),
            Self::Gemini => gemini::write_answer(&answer, stamp),
        }
    }

    /// What of `answer` is not in what [`write_answer`](Self::write_answer) makes of it, each kind once. Of these only Gemini's have
    /// places for what models make besides text, where its bytes came with the answer.
    pub(crate) fn lost_of(self, answer: &Answer) -> Vec<Feature> {
        let mut lost = answer.media();
        let is_elsewhere = |part: &Part| matches!(part, Part::Image(source) if !matches!(source, Source::Base64 { .. }));
        if self == Self::Gemini {
            lost.retain(|feature| match feature {
                Feature::Images => answer.parts.iter().any(is_elsewhere),
                Feature::Audio => false,
                _ => true,
            });
        }
        lost
    }

    /// Writes a provider's failure for a client of this dialect.
    pub fn write_error(self, error: &UpstreamError) -> Bytes {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => openai::write_error(error),
            Self::Anthropic => anthropic::write_error(error),
            Self::Gemini => gemini::write_error(error),
        }
    }
}
