import { RestError } from '#plugin-api';
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

/** A sentence for each value that its key does not allow, by `meta.<key>`. */
export async function findMetaErrors(
  { parts }: ContentPagesDependencies,
  type: PostType,
  values: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const errors: Record<string, string> = {};
  for (const [key, value] of Object.entries(values))
    await parts.meta.check(type.name, { [key]: value }).catch((error: unknown) => {
      if (!(error instanceof RestError) || error.status !== 400) throw error;
      errors[`meta.${key}`] = error.message;
    });
  return errors;
}

/** The fields for the post form. */
export async function metaFields(
  given: ContentPagesDependencies,
  type: PostType,
  {
    user,
    post,
    typed,
    errors,
  }: {
    readonly user: User;
    readonly post: Post | null;
    readonly typed: Readonly<Record<string, string>> | undefined;
    readonly errors: Readonly<Record<string, string>>;
  },
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const values = post === null ? {} : await given.parts.meta.all(post.id);
  return editable(given, type, { user, post }).map(([key, { editor, schema }]) => ({
    id: `post-meta-${key.replace(/\W/g, '-')}`,
    name: `meta[${key}]`,
    label: editor?.label ?? key,
    help: editor?.help ?? '',
    type: (editor?.rows ?? 1) > 1 ? 'textarea' : 'text',
    rows: editor?.rows ?? 1,
    error: errors[`meta.${key}`],
    maxlength: 'maxLength' in schema ? schema.maxLength : undefined,
    value: typed?.[key] ?? (typeof values[key]?.[0] === 'string' ? values[key][0] : ''),
  }));
}
