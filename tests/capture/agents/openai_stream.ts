// An agent on OpenAI's client for Node: a call of a tool, and a streamed answer.
import { readFileSync } from "node:fs";
import OpenAI from "openai";

const SYSTEM = "You help customers of Acme. Answer in one sentence.";
const parameters = { type: "object", properties: { order: { type: "integer" } }, required: ["order"] };
const tools: OpenAI.ChatCompletionFunctionTool[] = [
  { type: "function", function: { name: "find_order", description: "Finds an order by its number.", parameters } },
];
const findOrder = (order: number) => ({ order, status: "shipped", day: "2026-03-04" });

const client = new OpenAI();
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: "system", content: SYSTEM },
  { role: "user", content: readFileSync(0, "utf8").trim() },
];
const asked = await client.chat.completions.create({
  model: "smollm2", messages, tools, max_tokens: 24, temperature: 1,
});
const message = asked.choices[0].message;
messages.push(message);
if (!message.tool_calls?.length) messages.push({ role: "user", content: "Please say it again." });
for (const call of message.tool_calls ?? []) {
  if (call.type !== "function") continue;
  const { order } = JSON.parse(call.function.arguments);
  messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(findOrder(order)) });
}
const stream = await client.chat.completions.create({
  model: "smollm2", messages, max_tokens: 24, temperature: 1, stream: true, stream_options: { include_usage: true },
});
let text = "";
for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
console.log("Acme:", text);
