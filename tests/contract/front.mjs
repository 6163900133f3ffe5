// usage: node front.mjs PORT MOCK_PORT LOG CONFIG FOLDER
// Stands before the validating mock: every request goes to the mock, which says whether GitHub's description allows it; the answer
// that the client gets keeps state, so that comments are found, updated and removed again. GraphQL documents are held against the
// public schema. FOLDER has the checkout (repo), and node's packages stand in the current folder.
import http from 'node:http';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { behind } from './mock.mjs';
const [port, mock, log, config, folder] = process.argv.slice(2);
const validated = behind(mock);
const require = createRequire(`${process.cwd()}/`);
const graphql = require('graphql');
// The published schema defines two fields twice, which is not ours to mend.
const published = fs.readFileSync('node_modules/@octokit/graphql-schema/schema.graphql', 'utf8');
const schema = graphql.buildSchema(published, { assumeValid: true, assumeValidSDL: true });

const head = 'ec26c3e57ca3a959ca5aad62de7213c562f8c821';
const comments = [];
const refs = new Map();
const label = 'goldgate:accept-baseline';
let labels = [{ name: label }];
const timeline = [{ event: 'labeled', actor: { login: 'Codertocat' }, created_at: '2026-11-21T05:00:00Z', label: { name: label } }];
let ours = null;
// Whether the repository has the label.
let known = false;
let next = 1;
const fresh = () => (next++).toString(16).padStart(40, '0');
const shown = (c) => ({ id: c.id, body: c.body, html_url: `http://127.0.0.1/c/${c.id}`, user: { login: 'octocat' } });
const add = (body) => { const c = { id: next++, body }; comments.push(c); return c; };
const pull = (number) => ({
  number, state: 'open', body: 'Goldgate-Reason: it is a test', user: { login: 'author' }, labels,
  mergeable: true, merge_commit_sha: '5'.repeat(40), head: { sha: head, ref: 'changes', label: 'acme:changes', repo: { id: 1, full_name: 'acme/agents' } },
  base: { sha: 'b'.repeat(40), ref: 'master', repo: { id: 1, full_name: 'acme/agents' } },
});
const run = {
  id: 7, run_attempt: 1, run_started_at: '2026-11-21T05:00:00Z', head_sha: head, head_branch: 'changes', event: 'pull_request', status: 'completed', conclusion: 'failure',
  path: '.github/workflows/goldgate.yml', head_repository: { id: 1, full_name: 'acme/agents' }, created_at: '2026-11-21T05:30:00Z',
  display_title: `goldgate ${'5'.repeat(40)}`, actor: { login: 'hubot' },
};

// The files of the base commit, where a check wants it to have some.
let based = false;
const blobs = new Map();
const file = (name, bytes) => {
  const sha = crypto.createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  blobs.set(sha, bytes);
  return { path: name, mode: '100644', type: 'blob', sha, size: bytes.length };
};
const listed = (name) => ({ path: name, mode: '040000', type: 'tree', sha: '0'.repeat(40) });
const all = (base, files) => files.map((name) => {
  return fs.statSync(`${base}/${name}`).isDirectory() ? listed(name) : file(name, fs.readFileSync(`${base}/${name}`));
});
const tree = () => {
  const base = path.dirname(config);
  const below = (folder) => [folder, ...fs.readdirSync(`${base}/${folder}`, { recursive: true }).map((name) => `${folder}/${name}`)];
  const files = [...below('fixtures'), ...below('examples'), 'goldgate.yaml'];
  return all(base, files);
};
// The files of the commit that is checked out: those of the folder, as they are now.
const checkedOut = () => {
  const base = `${folder}/repo`;
  return all(base, fs.readdirSync(base, { recursive: true }).filter((name) => !name.startsWith('.git')));
};
// The baseline of the base commit: only the suite whose recorded agent is not perfect, so that all other numbers are new.
const baseline = () => {
  const whole = JSON.parse(fs.readFileSync(path.join(path.dirname(config), 'baselines/latest.json')));
  return Buffer.from(JSON.stringify({ ...whole, suites: { orders: whole.suites.orders } }));
};
const baselines = () => [listed('baselines'), file('baselines/latest.json', baseline())];
const commit = (sha, parent) => ({ sha, parents: [{ sha: parent }] });
const merged = () => ({ ...pull(2), merged_at: '2026-11-21T07:00:00Z', merge_commit_sha: '5'.repeat(40) });

// The document, and the values that it is sent with.
const asked = (body) => {
  const { query, variables } = JSON.parse(body);
  const document = graphql.parse(query);
  const wrong = graphql.validate(schema, document);
  if (wrong.length) return { status: 422, why: String(wrong[0]) };
  const { errors } = graphql.getVariableValues(schema, document.definitions[0].variableDefinitions ?? [], variables ?? {});
  return errors ? { status: 422, why: String(errors[0]) } : { status: 200, why: document.definitions[0].selectionSet.selections[0].name.value };
};

const control = (path) => {
  if (path === '/base') based = true;
  if (path === '/nobase') based = false;
  if (path === '/twin') comments.push({ id: next++, body: comments[0].body });
  if (path !== '/label') return;
  labels = [{ name: label }];
  timeline.push({ ...timeline[0], created_at: '2026-11-21T07:00:00Z' });
};

const governed = (method, path, body, query) => {
  if (method === 'DELETE' && decodeURIComponent(path).endsWith(`/labels/${label}`)) { labels = []; return [200, []]; }
  if (/\/collaborators\/[^/]+\/permission$/.test(path)) return [200, { permission: 'write', role_name: 'maintain' }];
  if (/\/workflows\/goldgate.yml\/runs$/.test(path)) return [200, { total_count: 1, workflow_runs: [run] }];
  if (/\/runs\/7\/attempts\/1\/jobs$/.test(path)) return [200, { total_count: 1, jobs: [{ name: 'goldgate', completed_at: '2026-11-21T06:00:00Z' }] }];
  if (/\/runs\/7\/rerun-failed-jobs$/.test(path)) return [201, {}];
  if (/\/agents\/labels$/.test(path)) { known = true; return [201, body]; }
  if (/\/agents\/labels\//.test(path)) return known ? [200, { name: label }] : [404, { message: 'Not Found' }];
  if (/\/compare\//.test(path)) {
    const commits = [commit('4'.repeat(40), 'b'.repeat(40)), commit('5'.repeat(40), '4'.repeat(40))];
    return [200, { merge_base_commit: { sha: 'b'.repeat(40) }, commits, files: [] }];
  }
  if (/\/commits\/[0-9a-f]+\/pulls$/.test(path)) return [200, based ? [merged()] : []];
  if (new RegExp(`/git/trees/(5{40}|${head})$`).test(path)) return [200, { sha: path.split('/').pop(), tree: checkedOut(), truncated: false }];
  if (/\/git\/commits\/5{40}$/.test(path)) return [200, { sha: '5'.repeat(40), tree: { sha: '5'.repeat(40) }, parents: [{ sha: 'b'.repeat(40) }, { sha: head }] }];
  if (/\/tarball\//.test(path)) return [302, null, { location: `http://localhost:${port}/stored/${path.slice(-7)}.tar.gz` }];
  if (based && /\/git\/trees\/[^/]+$/.test(path)) return [200, { sha: path.split('/').pop(), tree: [...tree(), ...baselines()], truncated: false }];
  if (/\/git\/blobs\//.test(path)) return [200, blobs.get(path.split('/').pop())];
  if (/\/check-runs$/.test(path)) return method === 'POST' ? [201, { id: 900, ...body }] : [200, { total_count: 0, check_runs: [] }];
  if (path === '/repos/acme/agents') return [200, { default_branch: 'master' }];
  if (/\/rules\/branches\//.test(path)) return [200, []];
  if (/\/branches\/master$/.test(path)) return [200, { name: 'master' }];
  if (/\/environments\//.test(path)) return [200, { name: 'goldgate', deployment_branch_policy: null }];
  if (/\/contents\/action.yml$/.test(path)) return [200, Buffer.from('runs: { using: docker, image: Dockerfile }\n')];
  if (/\/timeline$/.test(path)) return [200, timeline];
  if (/\/activity$/.test(path)) return [200, [{ before: '0'.repeat(40), after: pull(2).head.sha, timestamp: '2026-11-21T04:00:00Z', actor: { login: 'hubot' } }]];
  if (/\/git\/ref\/heads(%2F|\/)(master|main)$/.test(path)) return [200, { object: { sha: 'b'.repeat(40) } }];
  if (/\/git\/ref\//.test(path)) return refs.size ? [200, { object: { sha: refs.get('baseline') } }] : [404, { message: 'Not Found' }];
  if (/\/git\/refs/.test(path)) { refs.set('baseline', body.sha); return [method === 'POST' ? 201 : 200, {}]; }
  if (/\/git\/trees\/[^/]+$/.test(path)) return [200, { sha: path.split('/').pop(), tree: baselines(), truncated: false }];
  if (/\/git\//.test(path)) return [method === 'POST' ? 201 : 200, { sha: fresh(), tree: { sha: fresh() } }];
  if (/\/pulls$/.test(path) && method === 'POST') { ours = 3; return [201, pull(3)]; }
  if (query.includes('state=closed')) return [200, [merged()]];
  if (/\/pulls$/.test(path)) return [200, ours ? [pull(ours)] : []];
  return null;
};

const answer = (method, url, body) => {
  const [path, query] = url.split('?');
  if (path === '/graphql' && body.query.includes('viewer')) return [200, { data: { viewer: { login: 'octocat' } } }];
  if (path === '/graphql' && body.query.includes('mergeQueue(')) return [200, { data: { repository: { mergeQueue: { configuration: { mergingStrategy: 'ALLGREEN' } } } } }];
  if (path === '/graphql' && body.query.includes('object(oid')) return [200, { data: { repository: {} } }];
  if (path === '/graphql') return [200, { data: { createCommitOnBranch: { commit: { oid: fresh() } } } }];
  const found = governed(method, path, body, query ?? '');
  if (found) return found;
  if (/\/pulls\/\d+$/.test(path)) return [200, pull(Number(path.split('/').pop()))];
  if (/\/contents\/goldgate.yaml$/.test(path)) return [200, { encoding: 'base64', content: fs.readFileSync(config).toString('base64') }];
  if (/\/contents\/baselines(%2F|\/)latest.json$/.test(path)) return [200, { encoding: 'base64', content: baseline().toString('base64') }];
  if (/\/contents\//.test(path)) return [404, { message: 'Not Found' }];
  if (/\/issues\/\d+\/comments$/.test(path)) return method === 'POST' ? [201, shown(add(body.body))] : [200, comments.map(shown)];
  const id = Number(path.split('/').pop());
  const comment = comments.find((c) => c.id === id);
  if (!comment) return [404, { message: 'Not Found' }];
  if (method === 'PATCH') comment.body = body.body;
  if (method === 'DELETE') { comments.splice(comments.indexOf(comment), 1); return [204, null]; }
  return [200, shown(comment)];
};

http.createServer((request, response) => {
  if (request.url.startsWith('/stored/')) return response.end(fs.readFileSync(path.join(folder, path.basename(request.url))));
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const text = Buffer.concat(chunks).toString();
    if (['/twin', '/label', '/base', '/nobase'].includes(request.url)) { control(request.url); return response.end(); }
    const { status, why } = request.url === '/graphql' ? asked(text) : await validated(request, text);
    const fine = status >= 200 && status < 400;
    fs.appendFileSync(log, `${fine ? 'accepted' : 'REFUSED'} ${status} ${request.method} ${request.url} ${why}\n`);
    const [code, body, headers] = answer(request.method, request.url, text ? JSON.parse(text) : null);
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(body === null ? '' : Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}).listen(Number(port), '127.0.0.1');
