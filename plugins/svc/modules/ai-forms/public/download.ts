import { RestResponse } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';

const types: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

/** An answer as a file. */
export async function downloadOf(
  response: string,
  { name, format }: { readonly name: string; readonly format: string },
): Promise<RestResponse> {
  const file = `${
    foldText(name)
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || 'answer'
  }.${format}`;
  const content =
    format === 'html' ? await htmlDocument(response, name) : format === 'txt' ? await plainText(response) : response;
  return new RestResponse({
    content,
    headers: {
      'Content-Type': types[format] ?? 'text/plain; charset=utf-8',
      'Content-Disposition': `attachment; filename="${file}"`,
      'Cache-Control': 'private, no-store',
      'Content-Security-Policy': "default-src 'none'",
      'X-Content-Type-Options': 'nosniff',
    },
  });
}

async function htmlDocument(markdown: string, title: string): Promise<string> {
  const safe = title.replace(/[&<>"]/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
  return `<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>${safe}</title>\n</head>\n<body>\n${await markdownToHtml(markdown)}\n</body>\n</html>\n`;
}

/** The words without Markdown's signs. */
async function plainText(markdown: string): Promise<string> {
  const [html, { default: sanitise }] = await Promise.all([markdownToHtml(markdown), import('sanitize-html')]);
  const lines = html
    .replace(/<li>/g, '<li>- ')
    .replace(/<\/(p|h\d|li|blockquote|pre|tr)>/g, '\n</$1>')
    .replace(/<br>/g, '\n')
    .replace(/<\/t[dh]>/g, '\t');
  const text = sanitise(lines, { allowedTags: [], allowedAttributes: {} });
  return `${text
    .replace(/&#91;/g, '[')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}
