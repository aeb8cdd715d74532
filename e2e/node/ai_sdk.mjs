// A user of the Vercel AI SDK: the same program over any of its providers, each of which speaks its own dialect.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, Output, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

import { Level, PIXEL, QUESTION } from "./questions.mjs";
import { errors, origin, raised, run } from "./report.mjs";

const PROVIDERS = {
  "openai-chat": (args) => openai(args).chat,
  "openai-responses": (args) => openai(args).responses,
  anthropic: (args) => createAnthropic({ baseURL: args["base-url"], apiKey: args["api-key"] }),
  google: (args) => createGoogleGenerativeAI({ baseURL: `${origin(args)}/v1beta`, apiKey: args["api-key"] }),
};

await run(
  { plain, stream, tools, streamedTools, structured, streamedStructured, images, failures },
  { provider: { type: "string", default: "openai-chat" }, "nothing-stored": { type: "boolean", default: false } },
);

function openai(args) {
  return createOpenAI({ baseURL: args["base-url"], apiKey: args["api-key"] });
}

function asked(args, model = args.model) {
  // Told that nothing is stored, it sends what was said before and not its id.
  const providerOptions = args["nothing-stored"] ? { openai: { store: false } } : {};
  return { model: PROVIDERS[args.provider](args)(model), maxRetries: 0, maxOutputTokens: 1_000, providerOptions };
}

async function plain(outcome, args) {
  const answer = await generateText({ ...asked(args), instructions: "Answer briefly.", prompt: QUESTION });
  outcome.check(answer.text.length > 0, "an empty answer");
  outcome.equal("end", answer.finishReason, "stop");
  usage(outcome, answer.usage);
}

async function stream(outcome, args) {
  const answer = streamText({ ...asked(args), prompt: QUESTION });
  let text = "";
  for await (const delta of answer.textStream) {
    text += delta;
  }
  outcome.check(text.length > 0, "an empty stream");
  outcome.equal("end", await answer.finishReason, "stop");
  usage(outcome, await answer.usage);
}

async function tools(outcome, args) {
  const gates = [];
  const answer = await generateText({ ...asked(args), ...withTool(gates) });
  outcome.equal("steps", answer.steps.length, 2);
  outcome.equal("end of the first", answer.steps[0].finishReason, "tool-calls");
  isAnswered(outcome, gates, answer.text);
}

async function streamedTools(outcome, args) {
  const gates = [];
  const answer = streamText({ ...asked(args), ...withTool(gates) });
  await answer.consumeStream();
  outcome.equal("steps", (await answer.steps).length, 2);
  isAnswered(outcome, gates, await answer.text);
}

async function structured(outcome, args) {
  const answer = await generateText({ ...asked(args), output: Output.object({ schema: Level }), prompt: QUESTION });
  outcome.check(Level.safeParse(answer.output).success, `not as the schema says: ${answer.text}`);
}

async function streamedStructured(outcome, args) {
  const answer = streamText({ ...asked(args), output: Output.object({ schema: Level }), prompt: QUESTION });
  let parts = 0;
  for await (const _ of answer.partialOutputStream) {
    parts += 1;
  }
  outcome.check(parts > 0, "no part of the object");
  outcome.check(Level.safeParse(await answer.output).success, `not as the schema says: ${await answer.text}`);
}

async function images(outcome, args) {
  const content = [
    { type: "text", text: "Is the gate open?" },
    { type: "file", data: PIXEL, mediaType: "image/png" },
  ];
  const answer = await generateText({ ...asked(args), messages: [{ role: "user", content }] });
  outcome.check(answer.text.length > 0, "an empty answer");
}

async function failures(outcome, args) {
  for (const [model, kind, status] of errors(args)) {
    const error = await raised(() => generateText({ ...asked(args, model), prompt: QUESTION }));
    outcome.check(APICallError.isInstance(error), `${model}: raised ${error}`);
    outcome.equal(`${model}, class`, error?.constructor.name, kind);
    outcome.equal(`${model}, status`, error?.statusCode, status);
    outcome.equal(`${model}, worth another try`, error?.isRetryable, status === 429 || status >= 500);
    outcome.check(error?.message.length > 20, `${model}: says only ${error?.message}`);
  }
}

function withTool(gates) {
  const read_level = tool({
    description: "Reads the water's level",
    inputSchema: z.object({ gate: z.string() }),
    execute: async ({ gate }) => {
      gates.push(gate);
      return { height_cm: 412 };
    },
  });
  return { tools: { read_level }, stopWhen: stepCountIs(5), prompt: QUESTION };
}

function isAnswered(outcome, gates, text) {
  outcome.equal("calls of the tool", gates.length, 1);
  outcome.check(typeof gates[0] === "string", `the tool was given ${gates}`);
  outcome.check(text.length > 0, "no conclusion");
}

function usage(outcome, usage) {
  outcome.check(usage.inputTokens > 0 && usage.outputTokens > 0, `usage ${JSON.stringify(usage)}`);
  outcome.equal("usage in all", usage.totalTokens, usage.inputTokens + usage.outputTokens);
}
