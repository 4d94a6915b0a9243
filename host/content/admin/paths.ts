import type { PostType } from '#plugin-api';

/** Admin path of a type's list. */
export function pathOf({ name }: Pick<PostType, 'name'>): string {
  const own: Readonly<Record<string, string>> = { post: 'posts', page: 'pages', attachment: 'media' };
  return own[name] ?? `content/${name}`;
}
