// A user of the official OpenAI SDK for Node: chat completions in every way in which programs use them.

import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";

import { Level, PIXEL, QUESTION } from "./questions.mjs";
import { errors, raised, run } from "./report.mjs";

const messages = [
  { role: "system", content: "Answer briefly." },
  { role: "user", content: QUESTION },
];
const readLevel = {
  type: "function",
  function: {
    name: "read_level",
    description: "Reads the water's level",
    parameters: {
      type: "object",
      properties: { gate: { type: "string" } },
      required: ["gate"],
      additionalProperties: false,
    },
  },
};

await run({ plain, stream, tools, streamedTools, loop, structured, streamedStructured, images, failures });

function sdk(args) {
  return new OpenAI({ baseURL: args["base-url"], apiKey: args["api-key"], maxRetries: 0 });
}

async function plain(outcome, args) {
  const answer = await sdk(args).chat.completions.create({ model: args.model, messages, max_completion_tokens: 200 });
  outcome.equal("object", answer.object, "chat.completion");
  outcome.check(answer.choices[0].message.content.length > 0, "an empty answer");
  outcome.equal("end", answer.choices[0].finish_reason, "stop");
  usage(outcome, answer.usage);
}

async function stream(outcome, args) {
  const chunks = await sdk(args).chat.completions.create({
    model: args.model,
    messages,
    max_completion_tokens: 200,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let end = null;
  let last;
  for await (const chunk of chunks) {
    text += chunk.choices[0]?.delta.content ?? "";
    end = chunk.choices[0]?.finish_reason ?? end;
    last = chunk;
  }
  outcome.check(text.length > 0, "an empty stream");
  outcome.equal("end", end, "stop");
  usage(outcome, last.usage);
}

async function tools(outcome, args) {
  const answer = await sdk(args).chat.completions.create({
    model: args.model,
    messages,
    tools: [readLevel],
    tool_choice: "required",
  });
  outcome.equal("end", answer.choices[0].finish_reason, "tool_calls");
  const [call] = answer.choices[0].message.tool_calls;
  isCall(outcome, call);
}

async function streamedTools(outcome, args) {
  const completion = await sdk(args)
    .chat.completions.stream({ model: args.model, messages, tools: [readLevel], tool_choice: "required" })
    .finalChatCompletion();
  outcome.equal("end", completion.choices[0].finish_reason, "tool_calls");
  const [call] = completion.choices[0].message.tool_calls;
  isCall(outcome, call);
}

/** The SDK's own loop: the model calls, the function answers, the model concludes. */
async function loop(outcome, args) {
  const gates = [];
  const tool = {
    type: "function",
    function: {
      ...readLevel.function,
      parse: JSON.parse,
      function: ({ gate }) => {
        gates.push(gate);
        return "412 cm";
      },
    },
  };
  const runner = sdk(args).chat.completions.runTools({ model: args.model, messages, tools: [tool] });
  const text = await runner.finalContent();
  outcome.equal("calls of the function", gates.length, 1);
  outcome.check(typeof gates[0] === "string", `the function was given ${gates}`);
  outcome.check(text.length > 0, "no conclusion");
}

async function structured(outcome, args) {
  const completion = await sdk(args).chat.completions.parse({
    model: args.model,
    messages,
    response_format: zodResponseFormat(Level, "level"),
  });
  const { parsed, refusal } = completion.choices[0].message;
  outcome.equal("refusal", refusal ?? null, null);
  outcome.check(Level.safeParse(parsed).success, `not as the schema says: ${JSON.stringify(parsed)}`);
}

async function streamedStructured(outcome, args) {
  const completion = await sdk(args)
    .chat.completions.stream({ model: args.model, messages, response_format: zodResponseFormat(Level, "level") })
    .finalChatCompletion();
  const { parsed } = completion.choices[0].message;
  outcome.check(Level.safeParse(parsed).success, `not as the schema says: ${JSON.stringify(parsed)}`);
}

async function images(outcome, args) {
  const content = [
    { type: "text", text: "Is the gate open?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
  ];
  const answer = await sdk(args).chat.completions.create({ model: args.model, messages: [{ role: "user", content }] });
  outcome.check(answer.choices[0].message.content.length > 0, "an empty answer");
  usage(outcome, answer.usage);
}

async function failures(outcome, args) {
  for (const [model, kind, status] of errors(args)) {
    for (const stream of [false, true]) {
      const name = stream ? `${model}, streamed` : model;
      const error = await raised(() => sdk(args).chat.completions.create({ model, messages, stream }));
      outcome.equal(`${name}, class`, error?.constructor.name, kind);
      outcome.check(error instanceof OpenAI[kind], `${name}: no instance of ${kind}`);
      outcome.equal(`${name}, status`, error?.status, status);
      outcome.check(error?.code?.length > 0, `${name}: no code`);
      outcome.check(error?.message.length > 20, `${name}: says only ${error?.message}`);
    }
  }
}

function isCall(outcome, call) {
  outcome.check(call.id.length > 0, "a call without an id");
  outcome.equal("function", call.function.name, "read_level");
  const gate = JSON.parse(call.function.arguments).gate;
  outcome.check(typeof gate === "string", `arguments ${call.function.arguments}`);
}

function usage(outcome, usage) {
  outcome.check(usage.prompt_tokens > 0 && usage.completion_tokens > 0, `usage ${JSON.stringify(usage)}`);
  outcome.equal("usage in all", usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
}
