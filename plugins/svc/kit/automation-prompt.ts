import { restError, type HostApi, type JsonSchema, type Post } from '#plugin-api';
import type { AutomationItem } from './automation-task.ts';

/** In characters. */
const maxExcerpt = 1000;
const maxText = 40_000;

/** The setting `model` of a task. */
export const taskModelSchema = {
  type: 'string',
  title: 'Model',
  description: 'Leave empty to use the saved model of the provider.',
  default: '',
} as const satisfies JsonSchema;

/**
 * Replaces `{name}` in the prompt of a task: `{target}`, the columns of the row or entry, and `{title}`, `{slug}`, `{excerpt}`
 * and `{text}` of the post. Unknown names become empty.
 */
export function fillItemPrompt(
  prompt: string,
  { target, input }: Pick<AutomationItem, 'target' | 'input'>,
  post: Post | null,
): string {
  const values: Readonly<Record<string, unknown>> = { target, ...input, ...(post !== null && postValues(post)) };
  const title = values['title'] ?? target;
  const known: Readonly<Record<string, unknown>> = {
    text: values['summary'] ?? target,
    ...values,
    title,
    topic: values['topic'] ?? title,
  };
  return prompt.replace(/\{([\w -]{1,60})\}/g, (_, name: string) => {
    const value = Object.hasOwn(known, name) ? known[name] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  });
}

/** The text of a post with a password is not sent to a provider. */
function postValues({ title, excerpt, content, slug, password }: Post): Readonly<Record<string, string>> {
  const plain = (text: string): string =>
    password === ''
      ? text
          .replace(/<[^<>]*>/g, ' ')
          .replace(/\[[^[\]]*\]/g, ' ')
          .replace(/\s+/g, ' ')
          .trim()
      : '';
  const cut = (text: string, most: number): string => [...plain(text)].slice(0, most).join('');
  return { title, slug, excerpt: cut(excerpt.trim() || content, maxExcerpt), text: cut(content, maxText) };
}

/** The post of an item. Null: the item is a topic. @throws RestError 404 when the post was deleted. */
export async function findItemPost(
  { content }: Pick<HostApi, 'content'>,
  { input }: Pick<AutomationItem, 'input'>,
): Promise<Post | null> {
  const id = Number(input['post_id'] ?? 0);
  if (!Number.isInteger(id) || id < 1) return null;
  const post = await content.posts.get(id);
  if (post === null || post.status === 'trash')
    throw restError(404, 'rest_post_invalid_id', `Post ${String(id)} not found. It may have been deleted.`);
  return post;
}
