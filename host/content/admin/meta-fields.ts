import type { AdminRequest, MetaDefinition, Post, PostType, User } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';

/** Keys with a field in the form of a type (`editor` of their definition) that the user may set. */
function editable(
  { parts }: ContentPagesDependencies,
  type: PostType,
  { user, post }: { readonly user: User; readonly post: Post | null },
): readonly (readonly [key: string, definition: MetaDefinition])[] {
  return [...parts.meta.keysFor(type.name)].filter(
    ([, { editor, authorize, single }]) =>
      editor !== undefined && single !== false && (post === null || authorize === undefined || authorize(user, post)),
  );
}

/** Reads `meta[<key>]`. An empty text removes the value. */
export function readMetaFields(
  given: ContentPagesDependencies,
  type: PostType,
  {
    request: { form, user },
    post,
  }: { readonly request: Pick<AdminRequest, 'form' | 'user'>; readonly post: Post | null },
): Readonly<Record<string, string>> {
  const sent = (typeof form['meta'] === 'object' ? form['meta'] : {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    editable(given, type, { user, post }).flatMap(([key]) => {
      const value = Object.hasOwn(sent, key) ? sent[key] : undefined;
      return typeof value === 'string' ? [[key, value.replace(/\r\n?/g, '\n').trim()]] : [];
    }),
  );
}

/** The fields for the post form. */
export async function metaFields(
  given: ContentPagesDependencies,
  type: PostType,
  {
    user,
    post,
    typed,
  }: { readonly user: User; readonly post: Post | null; readonly typed: Readonly<Record<string, string>> | undefined },
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const values = post === null ? {} : await given.parts.meta.all(post.id);
  return editable(given, type, { user, post }).map(([key, { editor, schema }]) => ({
    id: `post-meta-${key.replace(/\W/g, '-')}`,
    name: `meta[${key}]`,
    label: editor?.label ?? key,
    help: editor?.help ?? '',
    type: (editor?.rows ?? 1) > 1 ? 'textarea' : 'text',
    rows: editor?.rows ?? 1,
    maxlength: 'maxLength' in schema ? schema.maxLength : undefined,
    value: typed?.[key] ?? (typeof values[key]?.[0] === 'string' ? values[key][0] : ''),
  }));
}
