import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type AddHeaders = (response: Pick<ServerResponse, 'setHeader'>) => void;

/** Statuses of the errors of Node's parser; all others are a 400. */
const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers what never becomes a request (broken, too large or too slow heads, unknown expectations) with the headers of all
 * other responses, and closes the connection.
 */
export function refuseBrokenRequests(server: Server, addSecurityHeaders: AddHeaders): void {
  const sending = trackResponses(server);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (socket.writable && !sending(socket))
      socket.write(responseText(statuses[error.code ?? ''] ?? 400, addSecurityHeaders));
    socket.destroy(error);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    addSecurityHeaders(response);
    response.writeHead(417, { Connection: 'close' }).end();
  });
}

/** Returns whether a response on a connection has begun and not ended, into which nothing else may be written. */
function trackResponses(server: Server): (socket: Duplex) => boolean {
  const unfinished = new WeakMap<Duplex, ServerResponse[]>();
  const responsesOn = (socket: Duplex) =>
    (unfinished.get(socket) ?? []).filter(({ writableFinished }) => !writableFinished);
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    unfinished.set(socket, [...responsesOn(socket), response]);
  });
  return (socket) => responsesOn(socket).some(({ headersSent }) => headersSent);
}

/** RFC 9112: a request of HTTP/1.1 names one host. Returns whether the request was refused. */
export function refuseWithoutOneHost(request: IncomingMessage, response: ServerResponse): boolean {
  const { rawHeaders } = request;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) return false;
  response.writeHead(400, { Connection: 'close' }).end();
  return true;
}

function responseText(status: number, addSecurityHeaders: AddHeaders): string {
  const lines = [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`, 'Connection: close', 'Content-Length: 0'];
  const setHeader = (name: string, value: unknown): void => void lines.push(`${name}: ${String(value)}`);
  setHeader('X-Request-Id', randomUUID());
  addSecurityHeaders({ setHeader } as unknown as ServerResponse);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
