import { RestError, type HostApi, type User } from '#plugin-api';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import type { AiForm } from '../forms/form.ts';
import type { Submission } from '../submissions/submission.ts';
import type { PostAnswer } from './protocol.ts';

/** Whether a user is offered to save an answer. */
export function maySavePosts(
  { result, privacy }: Pick<AiForm, 'result' | 'privacy'>,
  user: Pick<User, 'id' | 'can'>,
): boolean {
  return result.save_as_post && privacy.keep && user.id > 0 && user.can('edit_posts');
}

/** An answer as a draft of the user: its first heading is the title, where it begins with one. */
export async function savePost(
  { content, admin }: Pick<HostApi, 'content' | 'admin'>,
  user: User,
  { form, submission }: { readonly form: AiForm; readonly submission: Submission },
): Promise<PostAnswer> {
  if (!maySavePosts(form, user))
    throw new RestError({
      code: 'rest_forbidden',
      status: 403,
      message: 'You may not save posts. Sign in as somebody who may write them.',
    });
  const { title, body } = splitTitle(submission.response);
  const post = await content.posts.create(
    { title: title || form.name, content: await markdownToHtml(body), status: 'draft' },
    { as: user },
  );
  return { id: post.id, edit_url: `${admin.url('posts/edit')}?id=${String(post.id)}` };
}

export function splitTitle(markdown: string): { readonly title: string; readonly body: string } {
  const [, heading = '', rest = ''] = /^\s*#{1,2}\s+([^\n]+)\n?([\s\S]*)$/.exec(markdown) ?? [];
  const title = heading
    .replace(/[*_`#]+/g, '')
    .trim()
    .slice(0, 200);
  return title === '' || rest.trim() === '' ? { title: '', body: markdown } : { title, body: rest };
}
