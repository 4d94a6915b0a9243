import type { Headers } from '#plugin-api';

/** What the host makes of a body: it parses JSON and forms without files, and leaves all else to the handler. */
export type BodyKind = 'json' | 'form' | 'other';

const jsonType = /^application\/(?:[\w!#$&\-^.+]+\+)?json(?:\+oembed)?(?:$|[;\s])/i;
const formType = /^application\/x-www-form-urlencoded(?:$|[;\s])/i;

export function bodyKind({ method, headers }: { readonly method: string; readonly headers: Headers }): BodyKind {
  const contentType = headers['content-type'] ?? '';
  if (jsonType.test(contentType)) return 'json';
  return formType.test(contentType) || (contentType === '' && method !== 'POST') ? 'form' : 'other';
}
