import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isSameSecret, type Clock } from '#plugin-api';
import { hasProvider } from './open-telemetry.ts';
import type { Tracer } from './tracer.ts';
import { readCookie } from './users/cookies.ts';

export interface RequestTraces {
  /**
   * Runs `work`, and records a trace of the request if it asks for one, or for a provider of OpenTelemetry. Adds `Server-Timing` to
   * the response if it asks for one.
   */
  trace(request: IncomingMessage, response: ServerResponse, work: () => void): void;
  /**
   * Records all requests of the browser with this session, and jobs and cron events, on this node, for an hour. False without a
   * session.
   */
  start(headers: { readonly cookie?: string | undefined }): boolean;
  stop(headers: { readonly cookie?: string | undefined }): void;
  isStarted(headers: { readonly cookie?: string | undefined }): boolean;
  /** A value of the header `X-SVC-Trace` that every node accepts for an hour. */
  createHeader(): string;
}

export interface RequestTracesDependencies {
  readonly tracer: Tracer;
  readonly clock: Pick<Clock, 'now'>;
  /** The key that values of the header are signed with. */
  readonly key: () => Buffer;
  /** Read for each request while a browser is recorded. */
  readonly sessionCookie: () => string;
}

const header = 'x-svc-trace';
/** Milliseconds that a browser is recorded, and that a value of the header is accepted. */
const lasts = 3_600_000;

/**
 * Which requests are recorded: those with a header that an administrator made, and those of a browser whose administrator
 * started it. Visitors can do neither, so they neither see a trace nor slow the site with one.
 */
export function createRequestTraces({ tracer, clock, key, sessionCookie }: RequestTracesDependencies): RequestTraces {
  /** Hashes of sessions, with the time until which they are recorded. */
  const sessions = new Map<string, number>();
  const sign = (expiresAt: number): Buffer => createHmac('sha256', key()).update(String(expiresAt)).digest();
  const hashOf = ({ cookie }: { readonly cookie?: string | undefined }): string | null => {
    const session = readCookie(cookie, sessionCookie());
    return session === null ? null : createHash('sha256').update(session).digest('hex');
  };
  const isStarted: RequestTraces['isStarted'] = (headers) => {
    const hash = sessions.size === 0 ? null : hashOf(headers);
    if (hash === null) return false;
    if ((sessions.get(hash) ?? 0) > clock.now()) return true;
    sessions.delete(hash);
    return false;
  };
  tracer.listBackground(() => {
    for (const [session, until] of sessions) if (until <= clock.now()) sessions.delete(session);
    return sessions.size > 0;
  });
  const isSigned = (value: unknown): boolean => {
    const [expiresAt = '', signature = ''] = typeof value === 'string' ? value.split('.', 2) : [];
    return (
      Number(expiresAt) > clock.now() && isSameSecret(Buffer.from(signature, 'base64url'), sign(Number(expiresAt)))
    );
  };
  const isRecorded = (headers: IncomingHttpHeaders): boolean =>
    (headers[header] !== undefined && isSigned(headers[header])) || (sessions.size > 0 && isStarted(headers));

  return {
    isStarted,
    trace(request, response, work) {
      const isListed = isRecorded(request.headers);
      if (!isListed && !hasProvider()) return work();
      const id = String(request.headers['x-request-id'] ?? '');
      const name = `${request.method ?? ''} ${(request.url ?? '').split('?', 1)[0]?.slice(0, 200) ?? ''}`;
      tracer.record({ id, name, headers: request.headers, isListed }, ({ totals, end }) => {
        const finish = (): void => end({ status: response.statusCode });
        response.once('finish', finish).once('close', finish);
        if (!isListed) return work();
        const writeHead = response.writeHead;
        response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
          const timings = [...totals()].map(
            ([kind, { count, duration }]) => `${kind};dur=${duration.toFixed(1)};desc="${count}"`,
          );
          if (timings.length > 0) response.setHeader('Server-Timing', timings.join(', '));
          return (writeHead as (...values: unknown[]) => ServerResponse).apply(this, args);
        } as typeof writeHead;
        work();
      });
    },
    start(headers) {
      const hash = hashOf(headers);
      if (hash !== null) sessions.set(hash, clock.now() + lasts);
      return hash !== null;
    },
    stop(headers) {
      const hash = hashOf(headers);
      if (hash !== null) sessions.delete(hash);
    },
    createHeader() {
      const expiresAt = clock.now() + lasts;
      return `${expiresAt}.${sign(expiresAt).toString('base64url')}`;
    },
  };
}
