import { RestError } from '#plugin-api';
import { sanitizeComment, sanitizeHtml, type HtmlRefusal } from './sanitize.ts';

export interface SanitizeInput {
  readonly html: string;
  readonly isComment: boolean;
}

/** Sanitizes HTML, or says why it is refused: an error would lose its class, and speak English, between threads. */
export async function sanitizeApart({
  html,
  isComment,
}: SanitizeInput): Promise<{ readonly html: string } | { readonly refused: HtmlRefusal }> {
  try {
    return { html: await (isComment ? sanitizeComment(html) : sanitizeHtml(html)) };
  } catch (error) {
    if (error instanceof RestError) return { refused: error.code as HtmlRefusal };
    throw error;
  }
}
