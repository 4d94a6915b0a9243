import { restError, type RestError } from '#plugin-api';
import type { HooksApi, OptionsApi, SiteApi, Taxonomy, Term, TermInput, TermsApi } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import { contentErrors } from '../errors.ts';
import type { Sanitizer } from '../html/sanitizer.ts';
import { firstFreeSlug, slugOf } from '../posts/slugs.ts';
import { defaultCategorySetting, taxonomiesOf, type Taxonomies } from './taxonomies.ts';
import type { TermData, TermStore } from './term-store.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The name of a term before it is created. Throw a RestError to refuse it. */
    pre_insert_term: (name: string, taxonomy: string) => string;
    /** URL of the archive of a term. */
    term_link: (address: string, term: Term) => string;
  }
  interface ActionMap {
    /** Also as `created_{taxonomy}`. */
    created_term: (termId: number, taxonomy: string) => void;
    /** Also as `edited_{taxonomy}`. */
    edited_term: (termId: number, taxonomy: string) => void;
    /** Before a term is deleted. */
    pre_delete_term: (termId: number, taxonomy: string) => void;
    /** Also as `delete_{taxonomy}`. */
    delete_term: (termId: number, taxonomy: string, term: Term) => void;
    /** The terms that a post has of a taxonomy now. */
    set_object_terms: (postId: number, termIds: readonly number[], taxonomy: string) => void;
  }
}

export interface TermsDependencies {
  readonly database: Pick<Database, 'transaction' | 'lock'>;
  readonly store: TermStore;
  readonly taxonomies: Taxonomies;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly site: Pick<SiteApi, 'url'>;
  readonly sanitizer: Sanitizer;
}

export interface Terms extends TermsApi {
  /** Whether it is the category for posts without one, which cannot be deleted. */
  isDefault(term: Pick<Term, 'id' | 'taxonomy'>): Promise<boolean>;
  /** Terms of a name, ignoring case and accents. */
  named(taxonomy: string, name: string): Promise<Term[]>;
  /** URLs by term id. */
  links(terms: readonly Term[]): Promise<ReadonlyMap<number, string>>;
  /**
   * Writes the terms of a saved post, inside the transaction of the write. Ignores taxonomies that its type does not have.
   *
   * @returns a function that runs the actions, or null if nothing changed.
   */
  writePost(
    post: { readonly id: number; readonly type: string; readonly status: string },
    terms: Readonly<Record<string, readonly number[]>>,
  ): Promise<(() => Promise<void>) | null>;
}

/** Names and slugs are limited to this number of characters. */
const maxLength = 200;

export function createTerms(given: TermsDependencies): Terms {
  const { store, taxonomies, hooks, database } = given;
  const links = createTermLinks(given);
  const isDefault: Terms['isDefault'] = async ({ id, taxonomy }) =>
    taxonomy === 'category' && id === (await defaultCategory(given));
  const existing = async (id: number): Promise<Term> => {
    const term = await store.get(id);
    if (term === null) throw contentErrors.rest_term_invalid();
    return term;
  };
  const announce = async (action: 'created' | 'edited', { id, taxonomy }: Term): Promise<void> => {
    await hooks.doActionAsync(`${action}_term`, id, taxonomy);
    await hooks.doActionAsync(`${action}_${taxonomy}`, id);
  };

  return {
    get: (id) => store.get(id),
    find: (query = {}) => store.find(query),
    count: (query = {}) => store.count(query),
    ofPosts: (postIds, taxonomy) => store.ofPosts(postIds, taxonomy),
    named: (taxonomy, name) => store.named(taxonomy, name),
    links,
    link: async (term) => (await links([term])).get(term.id) ?? '',
    isDefault,
    async create(name, input) {
      const taxonomy = requireTaxonomy(taxonomies, name);
      const wanted = await hooks.applyFiltersAsync('pre_insert_term', input.name, name);
      const term = await database.transaction(async () => {
        await database.lock('content_terms');
        return existing(await store.insert(await composeTerm(given, { taxonomy, input: { ...input, name: wanted } })));
      });
      await announce('created', term);
      return term;
    },
    async update(id, changes) {
      const term = await database.transaction(async () => {
        await database.lock('content_terms');
        const before = await existing(id);
        const taxonomy = requireTaxonomy(taxonomies, before.taxonomy);
        await store.update(id, await composeTerm(given, { taxonomy, input: changes, before }));
        return existing(id);
      });
      await announce('edited', term);
      return term;
    },
    async delete(id) {
      const term = await store.get(id);
      if (term === null) return null;
      if (await isDefault(term)) throw contentErrors.rest_cannot_delete_default_term();
      await hooks.doActionAsync('pre_delete_term', id, term.taxonomy);
      await database.transaction(async () => {
        await database.lock('content_terms');
        if (term.taxonomy === 'category')
          await store.replaceOnly({ of: id, by: await defaultCategory(given), taxonomy: term.taxonomy });
        await store.remove(term);
      });
      await hooks.doActionAsync('delete_term', id, term.taxonomy, term);
      await hooks.doActionAsync(`delete_${term.taxonomy}`, id, term);
      return term;
    },
    async set(postId, taxonomy, ids) {
      requireTaxonomy(taxonomies, taxonomy);
      const set = await database.transaction(() => store.setPostTerms(postId, taxonomy, ids));
      await hooks.doActionAsync('set_object_terms', postId, set, taxonomy);
      return set;
    },
    writePost: (post, terms) => writePost(given, post, terms),
  };
}

async function writePost(
  given: TermsDependencies,
  { id, type, status }: Parameters<Terms['writePost']>[0],
  terms: Parameters<Terms['writePost']>[1],
): ReturnType<Terms['writePost']> {
  const { store, hooks } = given;
  const set: (readonly [taxonomy: string, ids: readonly number[]])[] = [];
  for (const { name } of taxonomiesOf(given.taxonomies, type)) {
    const ids = terms[name];
    if (ids !== undefined) set.push([name, await store.setPostTerms(id, name, ids)]);
    else if (name === 'category' && type === 'post' && status !== 'auto-draft') {
      if ((await store.count({ taxonomy: name, postId: id })) > 0) continue;
      set.push([name, await store.setPostTerms(id, name, [await defaultCategory(given)])]);
    }
  }
  if (set.length === 0) return null;
  return async () => {
    for (const [name, ids] of set) await hooks.doActionAsync('set_object_terms', id, ids, name);
  };
}

async function defaultCategory({ options }: Pick<TermsDependencies, 'options'>): Promise<number> {
  return Number(await options.get<unknown>(defaultCategorySetting)) || 1;
}

/** @throws RestError 404 `rest_taxonomy_invalid`. */
function requireTaxonomy(taxonomies: Taxonomies, name: string): Taxonomy {
  const taxonomy = taxonomies.get(name);
  if (taxonomy === undefined) throw contentErrors.rest_taxonomy_invalid();
  return taxonomy;
}

interface Composing {
  readonly taxonomy: Taxonomy;
  readonly input: TermInput;
  readonly before?: Term | undefined;
}

/** Checks and completes a term before it is written. Requires the lock `content_terms`. */
async function composeTerm(given: TermsDependencies, { taxonomy, input, before }: Composing): Promise<TermData> {
  const name = input.name === undefined ? (before?.name ?? '') : plainName(input.name);
  if (name === '') throw contentErrors.empty_term_name();
  const parentId = input.parentId ?? before?.parentId ?? 0;
  if (parentId !== 0 && parentId !== before?.parentId) await checkParent(given, { taxonomy, parentId, id: before?.id });
  return {
    taxonomy: taxonomy.name,
    name,
    slug: await composeSlug(given, { taxonomy, input, before, name, parentId }),
    description:
      input.description === undefined ? (before?.description ?? '') : await given.sanitizer.html(input.description),
    parentId,
  };
}

/** WordPress's callers send names with entities, as they receive them. */
function plainName(name: string): string {
  return name
    .replace(/<[^<>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&(amp|#0?38);/g, '&')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, maxLength);
}

async function checkParent(
  { store }: TermsDependencies,
  { taxonomy, parentId, id }: { taxonomy: Taxonomy; parentId: number; id: number | undefined },
): Promise<void> {
  if (!taxonomy.hierarchical) throw contentErrors.rest_taxonomy_not_hierarchical();
  const seen = new Set<number>();
  for (let next = parentId; next !== 0 && !seen.has(next);) {
    seen.add(next);
    if (next === id) throw contentErrors.rest_term_invalid_parent();
    const term = await store.get(next);
    if (term === null || term.taxonomy !== taxonomy.name) throw missingParent();
    next = term.parentId;
  }
}

function missingParent(): RestError {
  return restError(400, 'rest_term_invalid', 'Parent term does not exist.');
}

async function composeSlug(
  { store }: TermsDependencies,
  { taxonomy, input, before, name, parentId }: Composing & { readonly name: string; readonly parentId: number },
): Promise<string> {
  const wanted = (input.slug ?? '') === '' ? '' : slugOf(input.slug ?? '');
  if (before !== undefined) {
    if (wanted === '' || wanted === before.slug) return before.slug;
    const taken = await store.takenSlugs(taxonomy.name, [wanted], before.id);
    if (taken.has(wanted)) throw contentErrors.duplicate_term_slug({ values: { slug: wanted } });
    return wanted;
  }
  const same = (await store.named(taxonomy.name, name)).find(
    (term) => !taxonomy.hierarchical || term.parentId === parentId,
  );
  if (same !== undefined && (wanted === '' || wanted === same.slug)) {
    const where = taxonomy.hierarchical ? 'with this parent' : 'in this taxonomy';
    throw contentErrors.term_exists({ values: { where }, data: { term_id: same.id } });
  }
  const slug = wanted || slugOf(name) || 'term';
  const parent = parentId === 0 ? null : await store.get(parentId);
  const below = parent === null ? slug : `${slug}-${parent.slug}`.slice(0, maxLength - 12);
  const choices = [...new Set([slug, below])];
  return firstFreeSlug(
    (number) => choices[number - 1] ?? `${below.slice(0, maxLength - 12)}-${number - choices.length + 1}`,
    async (slugs) => {
      const taken = await store.takenSlugs(taxonomy.name, slugs, 0);
      return slugs.find((candidate) => !taken.has(candidate));
    },
  );
}

/** `/category/parent/child/`, by the taxonomy's `rewriteSlug`. */
function createTermLinks({ store, taxonomies, hooks, site }: TermsDependencies): Terms['links'] {
  return async (terms) => {
    const known = new Map(terms.map((term) => [term.id, term]));
    for (let missing = parentsMissing(known); missing.length > 0; missing = parentsMissing(known)) {
      const found = await store.find({ include: missing, limit: missing.length });
      if (found.length === 0) break;
      for (const term of found) known.set(term.id, term);
    }
    const links = new Map<number, string>();
    for (const term of terms) {
      const taxonomy = taxonomies.get(term.taxonomy);
      const path = [term.slug];
      const seen = new Set([term.id]);
      for (let above = known.get(term.parentId); above && !seen.has(above.id); above = known.get(above.parentId)) {
        seen.add(above.id);
        path.unshift(above.slug);
      }
      const base = taxonomy?.rewriteSlug ?? term.taxonomy;
      const address = `${site.url}/${[base, ...path.map(encodeURIComponent)].join('/')}/`;
      links.set(term.id, await hooks.applyFiltersAsync('term_link', address, term));
    }
    return links;
  };
}

function parentsMissing(known: ReadonlyMap<number, Term>): number[] {
  return [...new Set([...known.values()].map(({ parentId }) => parentId))].filter((id) => id !== 0 && !known.has(id));
}
