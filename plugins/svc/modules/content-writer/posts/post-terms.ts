import { RestError, type HostApi, type NewPost, type Taxonomy, type User } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { metaKeys } from './post-meta.ts';

/**
 * The terms for the category and the tags that a post names in its meta. Missing ones are created if the user may do that;
 * a category only by those who manage categories. Runs in the transaction that writes the post.
 *
 * @param type of the post; types without categories or tags get none
 */
export async function termsOfDraft(
  content: HostApi['content'],
  { meta = {} }: Pick<NewPost, 'meta'>,
  { type, user }: { readonly type: string; readonly user: User | null },
): Promise<Record<string, number[]>> {
  const terms: Record<string, number[]> = {};
  const wanted = [
    ['category', [meta[metaKeys.category]]],
    ['post_tag', asList(meta[metaKeys.tags])],
  ] as const;
  for (const [name, values] of wanted) {
    const taxonomy = content.taxonomy(name);
    const names = values.filter((value): value is string => typeof value === 'string' && value.trim() !== '');
    if (taxonomy === undefined || !taxonomy.types.includes(type) || names.length === 0) continue;
    if (user !== null && !user.can(taxonomy.capabilities.assign_terms)) continue;
    const ids: number[] = [];
    for (const text of names) {
      const id = await findOrCreate(content, taxonomy, { name: text, user });
      if (id !== null) ids.push(id);
    }
    if (ids.length > 0) terms[name] = ids;
  }
  return terms;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

async function findOrCreate(
  { terms }: Pick<HostApi['content'], 'terms'>,
  { name: taxonomy, hierarchical, capabilities }: Taxonomy,
  { name, user }: { readonly name: string; readonly user: User | null },
): Promise<number | null> {
  const found = await terms.find({ taxonomy, search: name, limit: 100 });
  const known = found.find((term) => foldText(term.name) === foldText(name));
  if (known !== undefined) return known.id;
  if (hierarchical && user !== null && !user.can(capabilities.edit_terms)) return null;
  try {
    return (await terms.create(taxonomy, { name: name.slice(0, 200) })).id;
  } catch (error) {
    // Another text of the batch was faster.
    const { term_id: id } = (error instanceof RestError ? (error.data ?? {}) : {}) as { readonly term_id?: unknown };
    if (typeof id === 'number') return id;
    throw error;
  }
}
