// usage: node trim.mjs IN.json OUT.json PATH…
// Keeps the named paths, and lets every JSON answer also be application/vnd.github+json, which real clients ask for, and the raw media type.
import fs from 'node:fs';
const [from, to, ...paths] = process.argv.slice(2);
const api = JSON.parse(fs.readFileSync(from, 'utf8'));
for (const path of paths) if (!api.paths[path]) throw new Error(`GitHub describes no ${path}`);
for (const path of Object.keys(api.paths)) if (!paths.includes(path)) delete api.paths[path];
const also = (answer) => {
  const json = answer.content?.['application/json'];
  if (!json) return;
  answer.content['application/vnd.github+json'] ??= json;
  // The bytes of a file (REST, "Get repository content" and "Get a blob", custom media types).
  answer.content['application/vnd.github.raw+json'] ??= json;
};
for (const path of Object.values(api.paths)) for (const operation of Object.values(path)) Object.values(operation.responses ?? {}).forEach(also);
Object.values(api.components.responses ?? {}).forEach(also);
delete api['x-webhooks'];
delete api.webhooks;
// Components that nothing refers to any more only make the mock slow.
const used = new Set();
const walk = (node) => {
  if (Array.isArray(node)) return node.forEach(walk);
  if (!node || typeof node !== 'object') return;
  for (const [key, value] of Object.entries(node)) {
    if (key !== '$ref' || typeof value !== 'string') walk(value);
    else if (!used.has(value)) {
      used.add(value);
      walk(value.split('/').slice(1).reduce((at, part) => at?.[part.replace(/~1/g, '/').replace(/~0/g, '~')], api));
    }
  }
};
walk(api.paths);
for (const [kind, all] of Object.entries(api.components)) {
  if (kind !== 'securitySchemes') for (const name of Object.keys(all)) if (!used.has(`#/components/${kind}/${name}`)) delete all[name];
}
fs.writeFileSync(to, JSON.stringify(api));
