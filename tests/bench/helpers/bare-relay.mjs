// What passes a request to an upstream and its answer back, and reads neither. Run as a process of its own: `node
// bare-relay.mjs <upstream>`.
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { request } from 'undici';

const upstream = process.argv[2];
const server = createServer((incoming, response) => {
  request(`${upstream}${incoming.url}`, {
    method: 'POST',
    body: incoming,
    headers: { 'content-type': 'application/json' },
  }).then(
    ({ statusCode, body }) => {
      response.writeHead(statusCode, { 'content-type': 'text/event-stream' });
      pipeline(body, response, () => undefined);
    },
    () => response.destroy(),
  );
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Ready on http://127.0.0.1:${server.address().port}`);
});
