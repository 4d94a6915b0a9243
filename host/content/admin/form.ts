import type { AdminRequest, PostType } from '#plugin-api';

/** A text field of the posted form with Unix line endings. Undefined when it is missing. */
export function readText({ form }: Pick<AdminRequest, 'form'>, name: string): string | undefined {
  const value = form[name];
  return typeof value === 'string' ? value.replace(/\r\n?/g, '\n') : undefined;
}

/** A query parameter, trimmed. Empty when it is missing. */
export function readQuery({ query }: Pick<AdminRequest, 'query'>, name: string): string {
  const value = query[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** Admin path of the list of a type. */
export function listPath({ name }: Pick<PostType, 'name'>): string {
  const own: Readonly<Record<string, string>> = { post: 'posts', page: 'pages', attachment: 'media' };
  return own[name] ?? `content/${name}`;
}
