// An agent on the Vercel AI SDK: a step may call the tool, and the next one answers.
import { readFileSync } from "node:fs";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const SYSTEM = "You help customers of Acme. Answer in one sentence.";
const openai = createOpenAI({});
const { text } = await generateText({
  model: openai.chat("smollm2"),
  system: SYSTEM,
  prompt: readFileSync(0, "utf8").trim(),
  temperature: 1,
  maxOutputTokens: 24,
  tools: {
    find_order: tool({
      description: "Finds an order by its number.",
      inputSchema: z.object({ order: z.number().int() }),
      execute: async ({ order }) => ({ order, status: "shipped", day: "2026-03-04" }),
    }),
  },
  stopWhen: stepCountIs(2),
});
console.log("Acme:", text);
