// usage: node forks.mjs PORT MOCK_PORT WORK EVENTS
// Stands before the validating mock, as front.mjs does, with what `pull_request_target` and the check run ask for. Writes the payload
// of the event into WORK, and reads the tarball from there.
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { behind } from './mock.mjs';
const [port, mock, work, events] = process.argv.slice(2);
const validated = behind(mock);
const log = path.join(work, 'requests.log');
const opened = JSON.parse(fs.readFileSync(path.join(events, 'pull_request.opened.json')));
const [head, base] = [opened.pull_request.head.sha, opened.pull_request.base.sha];
opened.pull_request.head.repo.id = 77;
fs.writeFileSync(path.join(work, 'opened.json'), JSON.stringify(opened));
const from = { id: 77, full_name: 'mallory/agents', owner: { login: 'mallory' } };
const isOfBase = (at) => at.includes(base);
const pull = {
  number: 2, state: 'open', body: '', user: { login: 'mallory' }, labels: [], mergeable: true, merge_commit_sha: '5'.repeat(40),
  head: { sha: head, ref: 'changes', label: 'mallory:changes', repo: from }, base: { sha: base, ref: 'master', repo: { id: 1, full_name: 'acme/agents' } },
};
const comments = [];
const checks = [];
const shown = (c) => ({ ...c, html_url: `http://127.0.0.1/c/${c.id}`, user: { login: 'octocat' } });

const blobs = new Map();
const tree = (folder, inside = '') => fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
  const name = path.join(folder, entry.name), at = inside + entry.name;
  if (entry.name === '.git') return [];
  if (entry.isDirectory()) return [{ path: at, mode: '040000', sha: '0'.repeat(40) }, ...tree(name, `${at}/`)];
  const bytes = fs.readFileSync(name);
  const sha = crypto.createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  blobs.set(sha, bytes);
  return [{ path: at, mode: '100644', sha }];
});

const answer = (method, url, body) => {
  const at = url.split('?')[0].replace('/repos/acme/agents', '');
  const sent = (name) => [302, null, { location: `http://localhost:${port}/stored/${name}` }];
  if (at === '/graphql') return [200, { data: { viewer: { login: 'octocat' } } }];
  if (at === '') return [200, { default_branch: 'master' }];
  if (at === '/pulls') return [200, [pull]];
  if (at === '/pulls/2') return [200, pull];
  if (at.startsWith('/tarball/')) return sent(isOfBase(at) ? 'base.tar.gz' : 'head.tar.gz');
  if (at.startsWith('/git/commits/')) return [200, { sha: head, tree: { sha: '5'.repeat(40) }, parents: [{ sha: base }, { sha: head }] }];
  if (at.startsWith('/git/ref/')) return [200, { object: { sha: base } }];
  if (at.startsWith('/compare/')) return [200, { merge_base_commit: { sha: base } }];
  if (at.startsWith('/git/trees/')) return [200, { sha: '5'.repeat(40), truncated: false, tree: tree(path.join(work, isOfBase(at) ? 'base' : 'repo')) }];
  if (at.startsWith('/git/blobs/')) return [200, blobs.get(at.split('/').pop())];
  if (at.startsWith('/contents/')) {
    const file = path.join(work, isOfBase(url) ? 'base' : 'repo', decodeURIComponent(at.slice('/contents/'.length)));
    return fs.existsSync(file) ? [200, { encoding: 'base64', content: fs.readFileSync(file).toString('base64') }] : [404, { message: 'Not Found' }];
  }
  if (at === '/issues/2/comments') {
    if (method !== 'POST') return [200, comments.map(shown)];
    comments.push({ id: comments.length + 1, body: body.body });
    return [201, shown(comments.at(-1))];
  }
  if (at.startsWith('/issues/comments/')) {
    const comment = comments.find((c) => c.id === Number(at.split('/').pop()));
    if (method === 'PATCH') comment.body = body.body;
    return [200, shown(comment)];
  }
  if (at.startsWith('/actions/workflows/')) return [200, { total_count: 0, workflow_runs: [] }];
  if (at === '/issues/2/timeline') return [200, []];
  if (at === '/labels/goldgate%3Aaccept-baseline') return [200, { name: 'goldgate:accept-baseline' }];
  if (at.endsWith('/check-runs') && method === 'GET') return [200, { total_count: checks.length, check_runs: checks }];
  if (at === '/check-runs') { checks.push({ id: 900, ...body }); return [201, checks.at(-1)]; }
  if (at === '/check-runs/900') { Object.assign(checks[0], body); return [200, checks[0]]; }
  return [404, { message: 'Not Found' }];
};

http.createServer((request, response) => {
  if (request.url === '/ready') return response.end();
  if (request.url.startsWith('/stored/')) {
    // Another host than the API's: a token here is a leak.
    if (request.headers.authorization) fs.appendFileSync(log, `REFUSED 0 GET ${request.url} it carries the token\n`);
    return response.end(fs.readFileSync(path.join(work, path.basename(request.url))));
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const text = Buffer.concat(chunks).toString();
    // The description is of REST; front.mjs holds the GraphQL documents against their schema.
    const { status, why } = request.url === '/graphql' ? { status: 200, why: 'viewer' } : await validated(request, text);
    const fine = status >= 200 && status < 400;
    fs.appendFileSync(log, `${fine ? 'accepted' : 'REFUSED'} ${status} ${request.method} ${request.url} ${why}\n`);
    const [code, body, headers] = answer(request.method, request.url, text ? JSON.parse(text) : null);
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(Buffer.isBuffer(body) ? body : body === null ? '' : JSON.stringify(body));
  });
}).listen(Number(port), '127.0.0.1');
