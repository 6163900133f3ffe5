// usage: node model.mjs PORT FILE
// A model behind OpenAI's API that says the content of FILE to everybody. The act run of `mode: record` asks it.
import fs from 'node:fs';
import http from 'node:http';
const [port, file] = process.argv.slice(2);
http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    const model = text ? JSON.parse(text).model : '';
    const message = { role: 'assistant', content: fs.readFileSync(file, 'utf8') };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({
      id: 'c', object: 'chat.completion', created: 1, model, choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    }));
  });
}).listen(Number(port), '127.0.0.1');
