import { whereContains } from '#plugin-api';
import type { Knex, Term, TermQuery } from '#plugin-api';
import type { CountCache } from '../count-cache.ts';
import { foldText } from '../html/text.ts';
import { termTextIndex } from '../migrations.ts';
import {
  addToCounts,
  isPublished,
  toListed,
  validTermIds,
  type ListedPost,
  type PostTermRow,
  type TermsDatabase,
} from './posts-of-terms.ts';

interface TermRow {
  readonly id: number;
  readonly taxonomy: string;
  readonly name: string;
  readonly name_key: string;
  readonly slug: string;
  readonly description: string;
  readonly parent_id: number;
  /** Published posts with the term. */
  readonly post_count: number;
}

export type TermData = Omit<Term, 'id' | 'count'>;

/** By which names are sorted and compared. */
const keyOf = (name: string): string => foldText(name).slice(0, 400);

const columns = {
  id: 'terms.id',
  name: 'terms.name_key',
  slug: 'terms.slug',
  description: 'terms.description',
  count: 'terms.post_count',
} as const;

/** The SQL of terms and of the posts that have them. */
export function createTermStore({ database, counts }: { database: TermsDatabase; counts: CountCache }) {
  const { knex } = database;
  const select = (query: TermQuery): Knex.QueryBuilder => whereTerms(database, query);

  return {
    async get(id: number): Promise<Term | null> {
      const [row] = validTermIds([id]).length === 0 ? [] : ((await select({ include: [id] })) as TermRow[]);
      return row === undefined ? null : toTerm(row);
    },
    async find(query: TermQuery): Promise<Term[]> {
      const { orderBy = 'name', order = 'asc', limit = 100, offset = 0 } = query;
      const rows = select(query);
      if (orderBy === 'include') orderByIds(rows, validTermIds(query.include ?? []));
      else void rows.orderBy(columns[orderBy], order);
      // Of terms with the same count, the index has the ids in the opposite order.
      void rows.orderBy('terms.id', orderBy === 'count' && order === 'asc' ? 'desc' : 'asc');
      const found = (await rows.limit(limit).offset(offset)) as TermRow[];
      return found.map(toTerm);
    },
    async count(query: TermQuery): Promise<number> {
      const { taxonomy, orderBy: _orderBy, order: _order, limit: _limit, offset: _offset, ...conditions } = query;
      const read = async (): Promise<number> =>
        Number(((await select(query).count({ total: '*' }).first()) as { total: number | string }).total);
      const isPlain = Object.values(conditions).every((value) => value === undefined);
      return isPlain ? counts.get('terms', String(taxonomy), read) : read();
    },
    async insert(term: TermData): Promise<number> {
      const [row] = (await knex('terms').insert(toRow(term)).returning('id')) as { id: number }[];
      await counts.changed('terms');
      return Number(row?.id);
    },
    async update(id: number, term: TermData): Promise<void> {
      await knex('terms').where({ id }).update(toRow(term));
    },
    /** Deletes the term; its children move to its parent. */
    async remove({ id, parentId }: Term): Promise<void> {
      await knex('terms').where({ parent_id: id }).update({ parent_id: parentId });
      await knex('terms').where({ id }).delete();
      await counts.changed('terms');
    },
    /** Which of the slugs other terms of the taxonomy have. */
    async takenSlugs(taxonomy: string, slugs: readonly string[], exceptId: number): Promise<Set<string>> {
      const rows = (await knex('terms')
        .where({ taxonomy })
        .whereNot('id', exceptId)
        .whereIn('slug', slugs)
        .select('slug')) as { slug: string }[];
      return new Set(rows.map(({ slug }) => slug));
    },
    /** Terms of a name, ignoring case and accents. */
    async named(taxonomy: string, name: string): Promise<Term[]> {
      const rows = (await knex('terms')
        .where({ taxonomy, name_key: keyOf(name) })
        .orderBy('id')) as TermRow[];
      return rows.map(toTerm);
    },
    /** Terms of posts, by name. */
    async ofPosts(postIds: readonly number[], taxonomy?: string): Promise<Map<number, Term[]>> {
      const found = new Map<number, Term[]>();
      const ids = validTermIds(postIds);
      if (ids.length === 0) return found;
      const rows = knex('term_posts as of')
        .join('terms', 'terms.id', 'of.term_id')
        .whereIn('of.post_id', ids)
        .orderBy(['terms.name_key', 'terms.id'])
        .select(['terms.*', 'of.post_id']);
      if (taxonomy !== undefined) void rows.where('terms.taxonomy', taxonomy);
      for (const row of (await rows) as (TermRow & { readonly post_id: number })[])
        found.set(Number(row.post_id), [...(found.get(Number(row.post_id)) ?? []), toTerm(row)]);
      return found;
    },
    /** Inside a transaction: replaces the terms of a post in a taxonomy. Returns the ids that exist. */
    async setPostTerms(postId: number, taxonomy: string, ids: readonly number[]): Promise<number[]> {
      const wanted = await readIds(knex('terms').where({ taxonomy }).whereIn('id', validTermIds(ids)).orderBy('id'));
      const [post] = (await knex('posts').where({ id: postId }).select('type', 'status', 'date')) as ListedPost[];
      const own = knex('term_posts').where({ post_id: postId });
      const before = (await own
        .whereIn('term_id', knex('terms').select('id').where({ taxonomy }))
        .select('term_id', 'published_at')) as PostTermRow[];
      const removed = before.filter(({ term_id: id }) => !wanted.includes(Number(id)));
      const added = wanted.filter((id) => !before.some((row) => Number(row.term_id) === id));
      await knex('term_posts')
        .where({ post_id: postId })
        .whereIn(
          'term_id',
          removed.map(({ term_id: id }) => id),
        )
        .delete();
      if (post === undefined) return [];
      const listed = toListed(post);
      if (added.length > 0)
        await knex('term_posts').insert(added.map((id) => ({ term_id: id, post_id: postId, ...listed })));
      await addToCounts(database, [
        ...removed.filter(isPublished).map(({ term_id: id }) => ({ id: Number(id), by: -1 })),
        ...(listed.published_at === null ? [] : added.map((id) => ({ id, by: 1 }))),
      ]);
      return wanted;
    },
    /** Gives the term to posts of the type that have none of the taxonomy, of those that have the term `of`. */
    async replaceOnly({ of, by, taxonomy }: { of: number; by: number; taxonomy: string }): Promise<void> {
      await knex.raw(
        `insert into term_posts (term_id, post_id, post_type, published_at)
          select terms.id, one.post_id, one.post_type, one.published_at from terms, term_posts as one where terms.id = ? and one.term_id = ?
          and not exists (select 1 from term_posts as other join terms as others on others.id = other.term_id
            where other.post_id = one.post_id and other.term_id <> one.term_id and others.taxonomy = ?)`,
        [by, of, taxonomy],
      );
      await knex.raw(
        'update terms set post_count = (select count(published_at) from term_posts where term_id = terms.id) where id = ?',
        [by],
      );
    },
  };
}

export type TermStore = ReturnType<typeof createTermStore>;

async function readIds(select: Knex.QueryBuilder): Promise<number[]> {
  return ((await select.select('id')) as { id: number }[]).map(({ id }) => Number(id));
}

function orderByIds(rows: Knex.QueryBuilder, ids: readonly number[]): void {
  if (ids.length === 0) return;
  const cases = ids.map(() => 'when ? then ?').join(' ');
  void rows.orderByRaw(`case terms.id ${cases} else ? end`, [...ids.flatMap((id, index) => [id, index]), ids.length]);
}

function whereTerms({ knex, dialect }: TermsDatabase, query: TermQuery): Knex.QueryBuilder {
  const select = knex('terms');
  const text = foldText(query.search ?? '').trim();
  const isFound = whereContains(select, dialect, { ...termTextIndex, texts: text === '' ? [] : [text] });
  // SQLite would rather read all terms of the taxonomy than those that an index of the search finds.
  const taxonomy = isFound ? (knex.raw('+terms.taxonomy') as unknown as string) : 'terms.taxonomy';
  if (query.taxonomy !== undefined) void select.whereIn(taxonomy, [query.taxonomy].flat());
  if (query.slugs) void select.whereIn('terms.slug', query.slugs);
  if (query.include) void select.whereIn('terms.id', validTermIds(query.include));
  if (query.exclude && query.exclude.length > 0) void select.whereNotIn('terms.id', validTermIds(query.exclude));
  if (query.parentId !== undefined) void select.where('terms.parent_id', query.parentId);
  if (query.postId !== undefined)
    void select.whereIn('terms.id', knex('term_posts').select('term_id').where({ post_id: query.postId }));
  if (query.hideEmpty === true) void select.where('terms.post_count', '>', 0);
  return select;
}

function toTerm(row: TermRow): Term {
  return {
    id: Number(row.id),
    taxonomy: row.taxonomy,
    name: row.name,
    slug: row.slug,
    description: row.description,
    parentId: Number(row.parent_id),
    count: Number(row.post_count),
  };
}

function toRow({ taxonomy, name, slug, description, parentId }: TermData): Omit<TermRow, 'id' | 'post_count'> {
  return { taxonomy, name, name_key: keyOf(name), slug, description, parent_id: parentId };
}
