import { parseId, RestError } from '#plugin-api';
import type { AdminRequest, Post, PostType, Taxonomy, Term, User } from '#plugin-api';
import { foldText } from '../html/text.ts';
import { taxonomiesOf } from '../taxonomies/taxonomies.ts';
import type { ContentPagesDependencies } from './content-pages.ts';

/** What was entered for one taxonomy. */
export interface TypedTerms {
  /** Of a hierarchical taxonomy: the checked terms. */
  readonly ids: readonly number[];
  /** Otherwise: names, separated by commas. */
  readonly names: string;
  /** Name of a new term of a hierarchical taxonomy. */
  readonly added: string;
}

export type TypedTaxonomies = Readonly<Record<string, TypedTerms>>;

/** Choices of a hierarchical taxonomy, and suggestions of others. */
const maxShown = 200;
const maxNames = 100;

/** Taxonomies in the post form that the user may assign. */
function assignable(given: ContentPagesDependencies, type: PostType, user: User): readonly Taxonomy[] {
  return taxonomiesOf(given.parts.taxonomies, type.name).filter(
    ({ showInAdmin, capabilities }) => showInAdmin && user.can(capabilities.assign_terms),
  );
}

/** Reads `terms[<taxonomy>]` and `new_terms[<taxonomy>]`. Taxonomies that the form did not show are left out. */
export function readTermFields(
  given: ContentPagesDependencies,
  type: PostType,
  { form, user }: Pick<AdminRequest, 'form' | 'user'>,
): TypedTaxonomies {
  const sent = asFields(form['terms']);
  const added = asFields(form['new_terms']);
  return Object.fromEntries(
    assignable(given, type, user)
      .filter(({ name }) => sent[name] !== undefined)
      .map(({ name }) => {
        const value = sent[name];
        const ids = (Array.isArray(value) ? value : []).map((id) => parseId(String(id))).filter((id) => id > 0);
        const text = added[name];
        return [
          name,
          { ids, names: typeof value === 'string' ? value : '', added: typeof text === 'string' ? text.trim() : '' },
        ];
      }),
  );
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** Ids of the entered terms by taxonomy. Creates those that do not exist yet. */
export async function resolveTerms(
  given: ContentPagesDependencies,
  typed: TypedTaxonomies,
  user: User,
): Promise<Record<string, readonly number[]>> {
  const resolved: Record<string, readonly number[]> = {};
  for (const [name, { ids, names, added }] of Object.entries(typed)) {
    const taxonomy = given.parts.taxonomies.get(name);
    if (taxonomy === undefined) continue;
    const mayAdd = !taxonomy.hierarchical || user.can(taxonomy.capabilities.edit_terms);
    const texts = taxonomy.hierarchical ? [added] : names.split(',');
    const wanted = [...new Map(texts.map((text) => [foldText(text.trim()), text.trim()])).values()]
      .filter((text) => text !== '')
      .slice(0, maxNames);
    const named: number[] = [];
    if (mayAdd) for (const text of wanted) named.push(await termNamed(given, name, text));
    resolved[name] = [...new Set([...ids, ...named])];
  }
  return resolved;
}

async function termNamed({ parts }: ContentPagesDependencies, taxonomy: string, name: string): Promise<number> {
  const [known] = await parts.terms.named(taxonomy, name);
  if (known !== undefined) return known.id;
  try {
    return (await parts.terms.create(taxonomy, { name })).id;
  } catch (error) {
    // Another request was faster.
    const { term_id: id } = (error instanceof RestError ? (error.data ?? {}) : {}) as { readonly term_id?: unknown };
    if (typeof id === 'number') return id;
    throw error;
  }
}

/** The fields of each taxonomy for the post form. */
export async function termFields(
  given: ContentPagesDependencies,
  type: PostType,
  {
    user,
    post,
    typed,
  }: { readonly user: User; readonly post: Post | null; readonly typed: TypedTaxonomies | undefined },
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const saved = post === null ? [] : ((await given.parts.terms.ofPosts([post.id])).get(post.id) ?? []);
  return Promise.all(
    assignable(given, type, user).map(async (taxonomy) => {
      const { name, label, singularLabel, hierarchical, capabilities } = taxonomy;
      const own = saved.filter((term) => term.taxonomy === name);
      const entered = typed?.[name];
      const shown = await given.parts.terms.find({
        taxonomy: name,
        limit: maxShown,
        ...(!hierarchical && { orderBy: 'count', order: 'desc' }),
      });
      const mayManage = user.can(capabilities.edit_terms);
      return {
        name,
        label,
        singular: singularLabel.toLowerCase(),
        plural: label.toLowerCase(),
        isTree: hierarchical,
        choices: hierarchical ? choices([...shown, ...own], new Set(entered?.ids ?? own.map(({ id }) => id))) : [],
        names: entered?.names ?? own.map((term) => term.name).join(', '),
        added: entered?.added ?? '',
        suggestions: hierarchical ? [] : shown.slice(0, 20).map((term) => term.name),
        mayAdd: hierarchical && mayManage,
        manageHref: mayManage ? termsPath(name) : null,
      };
    }),
  );
}

/** Admin path of the page of a taxonomy. */
export function termsPath(taxonomy: string): string {
  return `terms/${taxonomy}`;
}

export interface TermInTree {
  readonly term: Term;
  /** 0 at the top. */
  readonly depth: number;
}

/** Terms below their parents, by name. Those whose parent is missing come at the top. */
export function treeOf(terms: readonly Term[]): TermInTree[] {
  const known = new Map(terms.map((term) => [term.id, term]));
  const children = new Map<number, Term[]>();
  for (const term of known.values()) {
    const parent = known.has(term.parentId) ? term.parentId : 0;
    children.set(parent, [...(children.get(parent) ?? []), term]);
  }
  const walk = (parent: number, depth: number): TermInTree[] =>
    depth > 50 ? [] : (children.get(parent) ?? []).flatMap((term) => [{ term, depth }, ...walk(term.id, depth + 1)]);
  return walk(0, 0);
}

function choices(terms: readonly Term[], checked: ReadonlySet<number>): readonly Readonly<Record<string, unknown>>[] {
  return treeOf(terms).map(({ term, depth }) => ({
    id: term.id,
    name: term.name,
    depth: Math.min(depth, 4),
    isChecked: checked.has(term.id),
  }));
}
