import { escapeLike, type Knex, type PostQuery, type Term, type TermFilter, type TermQuery } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import { foldText } from '../html/text.ts';

interface TermRow {
  readonly id: number;
  readonly taxonomy: string;
  readonly name: string;
  readonly name_key: string;
  readonly slug: string;
  readonly description: string;
  readonly parent_id: number;
  readonly count?: number | string;
}

export type TermData = Omit<Term, 'id' | 'count'>;

const largestId = 2 ** 31 - 1;
const validIds = (ids: readonly number[]): number[] =>
  ids.filter((id) => Number.isInteger(id) && id > 0 && id <= largestId);
const pattern = (text: string): string => `%${escapeLike(text)}%`;

/** By which names are sorted and compared. */
const keyOf = (name: string): string => foldText(name).slice(0, 400);

const columns = {
  id: 'terms.id',
  name: 'terms.name_key',
  slug: 'terms.slug',
  description: 'terms.description',
} as const;

/** The SQL of terms and of the posts that have them. */
export function createTermStore({ knex }: Pick<Database, 'knex'>) {
  const counted = `(select count(*) from term_posts join posts on posts.id = term_posts.post_id
    where term_posts.term_id = terms.id and posts.status = 'publish')`;
  const fields = ['terms.*', knex.raw(`${counted} as count`)];
  const select = (query: TermQuery): Knex.QueryBuilder => whereTerms(knex, query, counted);

  return {
    async get(id: number): Promise<Term | null> {
      const [row] = validIds([id]).length === 0 ? [] : ((await select({ include: [id] }).select(fields)) as TermRow[]);
      return row === undefined ? null : toTerm(row);
    },
    async find(query: TermQuery): Promise<Term[]> {
      const { orderBy = 'name', order = 'asc', limit = 100, offset = 0 } = query;
      const rows = select(query).select(fields);
      if (orderBy === 'include') orderByIds(rows, validIds(query.include ?? []));
      else if (orderBy === 'count') void rows.orderBy('count', order);
      else void rows.orderBy(columns[orderBy], order);
      const found = (await rows.orderBy('terms.id').limit(limit).offset(offset)) as TermRow[];
      return found.map(toTerm);
    },
    async count(query: TermQuery): Promise<number> {
      const row = (await select(query).count({ total: '*' }).first()) as { total: number | string } | undefined;
      return Number(row?.total ?? 0);
    },
    async insert(term: TermData): Promise<number> {
      const [row] = (await knex('terms').insert(toRow(term)).returning('id')) as { id: number }[];
      return Number(row?.id);
    },
    async update(id: number, term: TermData): Promise<void> {
      await knex('terms').where({ id }).update(toRow(term));
    },
    /** Deletes the term; its children move to its parent. */
    async remove({ id, parentId }: Term): Promise<void> {
      await knex('terms').where({ parent_id: id }).update({ parent_id: parentId });
      await knex('terms').where({ id }).delete();
    },
    /** Slugs of the taxonomy that start with `prefix`, of other terms. */
    async slugs(taxonomy: string, prefix: string, exceptId: number): Promise<Set<string>> {
      const rows = (await knex('terms')
        .where({ taxonomy })
        .whereNot('id', exceptId)
        .whereRaw(`slug like ? escape '\\'`, [pattern(prefix).slice(1)])
        .select('slug')) as { slug: string }[];
      return new Set(rows.map(({ slug }) => slug));
    },
    /** Terms of a name, ignoring case and accents. */
    async named(taxonomy: string, name: string): Promise<Term[]> {
      const rows = (await knex('terms')
        .where({ taxonomy, name_key: keyOf(name) })
        .orderBy('id')
        .select(fields)) as TermRow[];
      return rows.map(toTerm);
    },
    /** Terms of posts, by name. */
    async ofPosts(postIds: readonly number[], taxonomy?: string): Promise<Map<number, Term[]>> {
      const found = new Map<number, Term[]>();
      const ids = validIds(postIds);
      if (ids.length === 0) return found;
      const rows = knex('term_posts as of')
        .join('terms', 'terms.id', 'of.term_id')
        .whereIn('of.post_id', ids)
        .orderBy(['terms.name_key', 'terms.id'])
        .select([...fields, 'of.post_id']);
      if (taxonomy !== undefined) void rows.where('terms.taxonomy', taxonomy);
      for (const row of (await rows) as (TermRow & { readonly post_id: number })[])
        found.set(Number(row.post_id), [...(found.get(Number(row.post_id)) ?? []), toTerm(row)]);
      return found;
    },
    /** Replaces the terms of a post in a taxonomy. Returns the ids that exist. */
    async setPostTerms(postId: number, taxonomy: string, ids: readonly number[]): Promise<number[]> {
      const wanted = await readIds(knex('terms').where({ taxonomy }).whereIn('id', validIds(ids)).orderBy('id'));
      await knex('term_posts')
        .where({ post_id: postId })
        .whereIn('term_id', knex('terms').select('id').where({ taxonomy }))
        .delete();
      if (wanted.length > 0) await knex('term_posts').insert(wanted.map((id) => ({ term_id: id, post_id: postId })));
      return wanted;
    },
    /** Gives the term to posts of the type that have none of the taxonomy, of those that have the term `of`. */
    async replaceOnly({ of, by, taxonomy }: { of: number; by: number; taxonomy: string }): Promise<void> {
      await knex.raw(
        `insert into term_posts (term_id, post_id)
          select terms.id, one.post_id from terms, term_posts as one where terms.id = ? and one.term_id = ?
          and not exists (select 1 from term_posts as other join terms as others on others.id = other.term_id
            where other.post_id = one.post_id and other.term_id <> one.term_id and others.taxonomy = ?)`,
        [by, of, taxonomy],
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

function whereTerms(knex: Knex, query: TermQuery, counted: string): Knex.QueryBuilder {
  const select = knex('terms');
  if (query.taxonomy !== undefined) void select.whereIn('terms.taxonomy', [query.taxonomy].flat());
  if (query.slugs) void select.whereIn('terms.slug', query.slugs);
  if (query.include) void select.whereIn('terms.id', validIds(query.include));
  if (query.exclude && query.exclude.length > 0) void select.whereNotIn('terms.id', validIds(query.exclude));
  if (query.parentId !== undefined) void select.where('terms.parent_id', query.parentId);
  if (query.postId !== undefined)
    void select.whereIn('terms.id', knex('term_posts').select('term_id').where({ post_id: query.postId }));
  if (query.hideEmpty === true) void select.whereRaw(`${counted} > 0`);
  const search = foldText(query.search ?? '').trim();
  if (search !== '')
    void select.where(
      (found) =>
        void found
          .whereRaw(`terms.name_key like ? escape '\\'`, [pattern(search)])
          .orWhereRaw(`terms.slug like ? escape '\\'`, [pattern(search)]),
    );
  return select;
}

/** Narrows a selection of posts to those with the wanted terms. */
export function whereHasTerms(select: Knex.QueryBuilder, knex: Knex, query: PostQuery): void {
  const { terms = [], termsRelation = 'AND' } = query;
  const wanted = terms.filter(({ operator }) => operator !== 'NOT IN');
  for (const filter of terms)
    if (filter.operator === 'NOT IN') void select.whereNotIn('posts.id', postsWith(knex, filter, filter.ids));
  if (wanted.length === 0) return;
  void select.where((all) => {
    for (const filter of wanted) {
      const one = (rows: Knex.QueryBuilder): void => {
        const groups = filter.operator === 'AND' ? filter.ids.map((id) => [id]) : [filter.ids];
        for (const ids of groups) void rows.whereIn('posts.id', postsWith(knex, filter, ids));
      };
      void (termsRelation === 'OR' ? all.orWhere(one) : all.where(one));
    }
  });
}

function postsWith(knex: Knex, { includeChildren = false }: TermFilter, ids: readonly number[]): Knex.QueryBuilder {
  const select = knex('term_posts').select('term_posts.post_id');
  const known = validIds(ids);
  if (!includeChildren || known.length === 0) return select.whereIn('term_posts.term_id', known);
  return select.whereIn(
    'term_posts.term_id',
    knex.raw(
      `with recursive below(id) as (select terms.id from terms where terms.id in (${known.map(() => '?').join(', ')})
        union select terms.id from terms join below on terms.parent_id = below.id) select below.id from below`,
      known,
    ) as unknown as Knex.QueryBuilder,
  );
}

function toTerm(row: TermRow): Term {
  return {
    id: Number(row.id),
    taxonomy: row.taxonomy,
    name: row.name,
    slug: row.slug,
    description: row.description,
    parentId: Number(row.parent_id),
    count: Number(row.count ?? 0),
  };
}

function toRow({ taxonomy, name, slug, description, parentId }: TermData): Omit<TermRow, 'id' | 'count'> {
  return { taxonomy, name, name_key: keyOf(name), slug, description, parent_id: parentId };
}
