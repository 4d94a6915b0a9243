import type { DocumentsApi } from '#plugin-api';
import type { sanitizeApart } from './sanitize.reader.ts';
import { htmlRefused, sanitizeComment, sanitizeHtml } from './sanitize.ts';

/** Tags, entities and declarations of styles that are sanitized at once: each costs some microseconds. */
const mostAtOnce = 3_000;

/** Milliseconds. The most that is accepted takes less than one second. */
const deadline = 60_000;

/** Sanitizes HTML as `sanitize.ts` does, in a thread if it takes long, so that other requests go on (D46). */
export interface Sanitizer {
  html(html: string): Promise<string>;
  /** A comment, which visitors write too. */
  comment(html: string): Promise<string>;
}

export function createSanitizer(documents: DocumentsApi): Sanitizer {
  const apart = async (html: string, isComment: boolean): Promise<string> => {
    const sanitized = await documents.read<typeof sanitizeApart>({
      module: new URL('./sanitize.reader.ts', import.meta.url),
      reader: 'sanitizeApart',
      input: { html, isComment },
      queue: isComment ? 'visitors' : 'site',
      deadline,
    });
    if ('html' in sanitized) return sanitized.html;
    throw htmlRefused(sanitized.refused);
  };
  return {
    html: (html) => (isCostly(html) ? apart(html, false) : sanitizeHtml(html)),
    comment: (html) => (isCostly(html) ? apart(html, true) : sanitizeComment(html)),
  };
}

function isCostly(html: string): boolean {
  let count = 0;
  for (const mark of ['<', '&', ';'])
    for (let at = html.indexOf(mark); at >= 0; at = html.indexOf(mark, at + 1))
      if ((count += 1) > mostAtOnce) return true;
  return false;
}
