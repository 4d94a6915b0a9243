import type { IncomingMessage } from 'node:http';

/** Whether the caller is on this machine. A local proxy is a local peer too, but the requests it forwards are not local. */
export function isLocalRequest(request: IncomingMessage): boolean {
  const forwarded = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'].some(
    (name) => request.headers[name] !== undefined,
  );
  return !forwarded && /^(::ffff:)?127\.|^::1$/.test(request.socket.remoteAddress ?? '');
}
