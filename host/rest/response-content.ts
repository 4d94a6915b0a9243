import { RestResponse } from '#plugin-api';
import type { RestContent } from '#plugin-api';

export type ContentStream = AsyncIterable<string | Uint8Array>;

export function isStream(content: unknown): content is ContentStream {
  return typeof content === 'object' && content !== null && Symbol.asyncIterator in content;
}

/** Ends content that will not be sent, so that its producer stops. Never throws, never waits. */
export function endContent(content: RestContent | null | undefined): void {
  if (!isStream(content)) return;
  try {
    const ended = content[Symbol.asyncIterator]().return?.();
    ended?.catch(() => undefined);
  } catch {
    // It has nothing to end.
  }
}

/** Ends the content of a replaced response, unless the new response uses the same content. */
export function endReplaced(before: unknown, after: unknown): void {
  if (!(before instanceof RestResponse) || before.content === null) return;
  if (!(after instanceof RestResponse) || after.content !== before.content) endContent(before.content);
}

/** The response with its body instead of its content; headers that describe the content are removed. */
export function withoutContent(response: RestResponse): RestResponse {
  if (response.content === null) return response;
  const { body, status, headers, links } = response;
  const others = Object.entries(headers).filter(([name]) => !contentHeaderNames.has(name.toLowerCase()));
  return new RestResponse({ body, status, headers: Object.fromEntries(others), links });
}

const contentHeaderNames = new Set([
  'content-type',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'etag',
  'last-modified',
]);

/** Adds headers that content needs: a type, and for server-sent events headers that forbid buffering by proxies. */
export function addContentHeaders(response: RestResponse, sent: Record<string, string>): void {
  const own = new Map(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const type = own.get('content-type');
  if (type === undefined) sent['Content-Type'] = 'application/octet-stream';
  if (type === undefined || !/^text\/event-stream\b/i.test(type)) return;
  if (!own.has('x-accel-buffering')) sent['X-Accel-Buffering'] = 'no';
  if (own.has('cache-control')) return;
  const given = sent['Cache-Control'];
  sent['Cache-Control'] = given === undefined ? 'no-cache, no-transform' : `${given}, no-transform`;
}
