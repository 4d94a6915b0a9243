import { RestResponse } from '#plugin-api';
import type { RestContent } from '#plugin-api';

export type ContentStream = AsyncIterable<string | Uint8Array>;

export function isStream(content: unknown): content is ContentStream {
  return typeof content === 'object' && content !== null && Symbol.asyncIterator in content;
}

/** Ends content that is not sent after all, so that whatever makes it stops. Never throws, never waits. */
export function endContent(content: RestContent | null | undefined): void {
  if (!isStream(content)) return;
  try {
    const ended = content[Symbol.asyncIterator]().return?.();
    ended?.catch(() => undefined);
  } catch {
    // It holds nothing that could be ended.
  }
}

/** Ends the content of an answer in whose place another one goes out, unless that one took it over. */
export function endReplaced(before: unknown, after: unknown): void {
  if (!(before instanceof RestResponse) || before.content === null) return;
  if (!(after instanceof RestResponse) || after.content !== before.content) endContent(before.content);
}

/** The answer where its body stands for its content: headers that speak of the content are left out. */
export function withoutContent(response: RestResponse): RestResponse {
  if (response.content === null) return response;
  const { body, status, headers, links } = response;
  const kept = Object.entries(headers).filter(([name]) => !ofContent.has(name.toLowerCase()));
  return new RestResponse({ body, status, headers: Object.fromEntries(kept), links });
}

const ofContent = new Set([
  'content-type',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'etag',
  'last-modified',
]);

/** What content needs beyond its own headers: a type, and for events the word that nobody on the way may hold them back. */
export function contentHeaders(response: RestResponse, sent: Record<string, string>): void {
  const own = new Map(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const type = own.get('content-type');
  if (type === undefined) sent['Content-Type'] = 'application/octet-stream';
  if (type === undefined || !/^text\/event-stream\b/i.test(type)) return;
  if (!own.has('x-accel-buffering')) sent['X-Accel-Buffering'] = 'no';
  if (own.has('cache-control')) return;
  const given = sent['Cache-Control'];
  sent['Cache-Control'] = given === undefined ? 'no-cache, no-transform' : `${given}, no-transform`;
}
