import { createServer, type AddressInfo, type Server } from 'node:net';

// Sixteen webhook receivers in one process, on bare sockets. Prints their ports.
const answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');

function start(): Promise<Server> {
  const server = createServer((socket) => {
    let pending: Buffer = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      for (;;) {
        const head = pending.indexOf('\r\n\r\n');
        if (head < 0) return;
        const end = head + 4 + Number(/content-length: *(\d+)/i.exec(pending.toString('latin1', 0, head))?.[1] ?? 0);
        if (pending.length < end) return;
        pending = pending.subarray(end);
        socket.write(answer);
      }
    });
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      resolve(server);
    }),
  );
}

const servers = await Promise.all(Array.from({ length: 16 }, start));
console.log(`Ready on ${servers.map((server) => String((server.address() as AddressInfo).port)).join(',')} .`);
