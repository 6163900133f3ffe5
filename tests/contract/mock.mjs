// What the small servers of this folder do with every request first: the mock says whether GitHub's description allows it, and why not. Of a
// status that it allows, the answer has the context and state instead.
import http from 'node:http';

export const behind = (mock) => (request, body) => new Promise((done) => {
  const out = http.request({ host: '127.0.0.1', port: mock, path: request.url, method: request.method, headers: { ...request.headers, host: `127.0.0.1:${mock}` } }, (answer) => {
    answer.resume();
    answer.on('end', () => done({ status: answer.statusCode, why: answer.headers['sl-violations'] ?? stated(request, body) }));
  });
  out.on('error', (error) => done({ status: 0, why: String(error) }));
  out.end(body);
});

const stated = (request, body) => {
  if (request.method !== 'POST' || !request.url.includes('/statuses/')) return '';
  const { context, state } = JSON.parse(body);
  return `${context} ${state}`;
};
