// What the scripts here ask.

import { z } from "zod";

export const QUESTION = "What does a sluice gate do when the river rises?";

/** One red pixel as PNG, in base64. */
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** A structured answer: a text, a number, one of a few words, a list, an object inside. */
export const Level = z.object({
  gate: z.string(),
  height_cm: z.number().int(),
  trend: z.enum(["rising", "falling", "steady"]),
  warnings: z.array(z.string()),
  keeper: z.object({ name: z.string(), on_duty: z.boolean() }),
});
