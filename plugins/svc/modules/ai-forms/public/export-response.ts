import { RestResponse, restError, type HostApi, type User } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import type { AiForm } from '../forms/form.ts';
import type { Submission } from '../submissions/submission.ts';
import type { PostResponse } from './protocol.ts';

const types: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

/** A response as a file. */
export async function createDownload(
  response: string,
  { name, format }: { readonly name: string; readonly format: string },
): Promise<RestResponse> {
  const file = `${
    foldText(name)
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
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
  const head = `<head>\n<meta charset="utf-8">\n<title>${safe}</title>\n</head>`;
  return `<!doctype html>\n<html>\n${head}\n<body>\n${await markdownToHtml(markdown)}\n</body>\n</html>\n`;
}

/** Text without Markdown. */
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

export function maySavePosts(
  { result, privacy }: Pick<AiForm, 'result' | 'privacy'>,
  user: Pick<User, 'id' | 'can'>,
): boolean {
  return result.save_as_post && privacy.keep && user.id > 0 && user.can('edit_posts');
}

/** Saves a response as a draft of the user. A leading heading becomes the title. */
export async function savePost(
  { content, admin }: Pick<HostApi, 'content' | 'admin'>,
  user: User,
  { form, submission }: { readonly form: AiForm; readonly submission: Submission },
): Promise<PostResponse> {
  if (!maySavePosts(form, user))
    throw restError(403, 'rest_forbidden', 'You cannot save posts. Sign in as a user who can write posts.');
  const { title, body } = splitTitle(submission.response);
  const post = await content.posts.create(
    { title: title || form.name, content: await markdownToHtml(body), status: 'draft' },
    { as: user },
  );
  return { id: post.id, edit_url: `${admin.url('posts/edit')}?id=${String(post.id)}` };
}

function splitTitle(markdown: string): { readonly title: string; readonly body: string } {
  const [, heading = '', rest = ''] = /^#{1,2}\s([^\n]+)(?:\n([\s\S]*))?$/.exec(markdown.trim()) ?? [];
  const title = heading
    .replace(/[*_`#]+/g, '')
    .trim()
    .slice(0, 200);
  return title === '' || rest.trim() === '' ? { title: '', body: markdown } : { title, body: rest };
}
