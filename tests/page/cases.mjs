// Writes a repository with 1,000 cases of three samples each. usage: cases.mjs FOLDER right|wrong
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, state] = process.argv.slice(2);
const write = (file, text) => {
  const path = join(folder, file);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
};
// What a model may write to break out of the page.
const HOSTILE = [
  "</script><script>document.title='owned'</script>",
  "<img src=x onerror=\"document.title='owned'\">",
  "<!-- <script> ]]> \u2028 \u2029 \u202e \\u003c",
  "'\"><svg onload=\"document.title='owned'\"></svg>",
  "](javascript:document.title='owned') @acme/owners {{constructor}} ${1}",
];
write("goldgate.yaml", `version: 1
baseline: baseline.json
suites:
  - id: support
    kind: tool_use
    policy: seed
    path: cases.json
    agents:
      assistant: { deterministic: { replay: runs }, fingerprint: { none: "it only exists in this test" } }
`);
mkdirSync(join(folder, ".git"), { recursive: true });
const cases = [];
for (let number = 0; number < 1000; number += 1) {
  const id = `case-${String(number).padStart(4, "0")}`;
  cases.push({
    id, category: "happy_path", query: `Where is order ${number}?`,
    expected_tools: ["find_order"], expected_output_contains: [`order ${number}`],
  });
  for (let sample = 0; sample < 3; sample += 1) {
    const broken = state === "wrong" && (number % 50 === 7 || (number % 40 === 3 && sample === 1));
    const text = broken ? `Sorry. ${HOSTILE[number % HOSTILE.length]}` : `Your order ${number} is on its way.`;
    const call = { name: broken ? `find ${HOSTILE[(number + 1) % HOSTILE.length]}` : "find_order", arguments: { number } };
    write(`runs/assistant/${id}/${sample}.json`, JSON.stringify({
      schema: "goldgate.run/1", agent: "assistant", case: id, sample, status: "completed",
      outputs: { text }, intermediate: { tool_calls: [call] },
    }));
  }
}
write("cases.json", JSON.stringify(cases));
