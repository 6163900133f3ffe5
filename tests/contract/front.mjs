// usage: node front.mjs PORT MOCK_PORT LOG
// Stands before the validating mock: every request goes to the mock, which says whether GitHub's description allows it; the answer
// that the client gets keeps state, so that comments are found, updated and removed again.
import http from 'node:http';
import fs from 'node:fs';
const [port, mock, log] = process.argv.slice(2);
const head = 'ec26c3e57ca3a959ca5aad62de7213c562f8c821';
const comments = [];
let next = 1;
const shown = (c) => ({ id: c.id, body: c.body, html_url: `http://127.0.0.1/c/${c.id}`, user: { login: 'octocat' } });
const add = (body) => { const c = { id: next++, body }; comments.push(c); return c; };

const validated = (request, body) => new Promise((done) => {
  const out = http.request({ host: '127.0.0.1', port: mock, path: request.url, method: request.method, headers: { ...request.headers, host: `127.0.0.1:${mock}` } }, (answer) => {
    answer.resume();
    answer.on('end', () => done({ status: answer.statusCode, why: answer.headers['sl-violations'] ?? '' }));
  });
  out.on('error', (error) => done({ status: 0, why: String(error) }));
  out.end(body);
});

const answer = (method, url, body) => {
  const path = url.split('?')[0];
  if (path === '/twin') { comments.push({ id: next++, body: comments[0].body }); return [200, {}]; }
  if (path === '/user') return [200, { login: 'octocat' }];
  if (/\/pulls\/\d+$/.test(path)) return [200, { head: { sha: head } }];
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
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const text = Buffer.concat(chunks).toString();
    if (request.url !== '/twin') {
      const { status, why } = await validated(request, text);
      const fine = status >= 200 && status < 300;
      fs.appendFileSync(log, `${fine ? 'accepted' : 'REFUSED'} ${status} ${request.method} ${request.url} ${why}\n`);
    }
    const [status, body] = answer(request.method, request.url, text ? JSON.parse(text) : null);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === null ? '' : JSON.stringify(body));
  });
}).listen(Number(port), '127.0.0.1');
