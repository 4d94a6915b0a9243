import type { Knex } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import type { Database } from '../../host/database/database.ts';

type Values = Readonly<Record<string, string | number>>;

const word = `(CASE i % 7 WHEN 0 THEN 'tea' WHEN 1 THEN 'coffee' WHEN 2 THEN 'rivers' ELSE 'mountains' END)`;

/** As many posts, files, comments, users and tags each, all of different dates. Of posts one in 50 is a draft. */
export async function seedContent({ knex, dialect }: Database, count: number): Promise<void> {
  // PostgreSQL builds an index of texts in a tenth of the time that it takes to add to one row by row.
  const restore = dialect === 'postgresql' ? await dropTextIndexes(knex) : () => Promise.resolve();
  const now = createSystemClock().now();
  const times = { date: `${now} - i * 1000`, modified: `${now} - i * 1000` };
  const post = {
    content: '',
    excerpt: '',
    author_id: 1,
    parent_id: 0,
    menu_order: 0,
    is_date_set: 1,
    featured_media_id: 0,
  };

  /** Text is SQL of the number `i`, of 1 to `count`. */
  async function insert(table: string, values: Values): Promise<void> {
    const columns = Object.values(values).map((value) => (value === '' ? `''` : value));
    await knex.raw(
      `INSERT INTO ${table} (${Object.keys(values).join(', ')})
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT ${columns.join(', ')} FROM n`,
      [count],
    );
  }

  await insert('posts', {
    ...{ ...post, ...times, type: `'post'`, mime_type: '' },
    status: `CASE WHEN i % 50 = 0 THEN 'draft' ELSE 'publish' END`,
    slug: `'post-' || i`,
    title: `'Post ' || i || ' about ' || ${word}`,
    title_key: `'post ' || i || ' about ' || ${word}`,
    search_text: `'post ' || i || ' about ' || ${word}`,
  });
  await insert('posts', {
    ...{ ...post, ...times, type: `'attachment'`, status: `'inherit'` },
    mime_type: `CASE i % 3 WHEN 0 THEN 'image/png' WHEN 1 THEN 'audio/mpeg' ELSE 'application/pdf' END`,
    slug: `'photo-' || i`,
    title: `'Photo ' || i`,
    title_key: `'photo ' || i`,
    search_text: `'photo ' || i`,
  });
  const guest = { parent_id: 0, user_id: 0, author_email: '', author_url: '', author_ip: '', author_agent: '' };
  await insert('comments', {
    ...{ ...guest, date: times.date, author_name: `'Reader ' || i`, content: `'Comment ' || i` },
    post_id: `(SELECT min(id) FROM posts) + i % ${count}`,
    status: `CASE WHEN i % 100 = 0 THEN 'hold' WHEN i % 50 = 1 THEN 'spam' ELSE 'approved' END`,
    search_text: `'reader ' || i || ' comment ' || i`,
  });
  await knex.raw(`UPDATE posts SET has_comments = 1 WHERE type = 'post'`);
  const name = `'user' || i`;
  await insert('users', {
    // Those of the conversations have ids that PostgreSQL's sequence does not know.
    id: `(SELECT max(id) FROM users) + i`,
    ...{ login: name, login_key: name, display_name: name, display_key: name, nickname: name, slug: name },
    ...{ email: `${name} || '@example.com'`, email_key: `${name} || '@example.com'`, password_hash: `'x'` },
    roles: `CASE WHEN i % 1000 = 0 THEN '["editor"]' ELSE '["subscriber"]' END`,
    created_at: times.date,
  });
  const tag = { taxonomy: `'post_tag'`, description: '', parent_id: 0, post_count: 1 };
  await insert('terms', { ...tag, name: `'Tag ' || i`, name_key: `'tag ' || i`, slug: `'tag-' || i` });
  // All posts have one category, and a tag each.
  for (const [taxonomy, number] of [
    ['category', '0'],
    ['post_tag', `id % ${count}`],
  ] as const)
    await knex.raw(
      `INSERT INTO term_posts (term_id, post_id, post_type, published_at)
      SELECT (SELECT min(id) FROM terms WHERE taxonomy = ?) + ${number}, id, type, CASE WHEN status = 'publish' THEN date END
      FROM posts WHERE type = 'post'`,
      [taxonomy],
    );
  await knex.raw(`UPDATE terms SET post_count = (SELECT count(published_at) FROM term_posts WHERE term_id = terms.id)`);
  await restore();
  // Statistics of empty tables would mislead SQLite.
  await knex.raw(dialect === 'postgresql' ? 'VACUUM ANALYZE' : 'ANALYZE');
}

async function dropTextIndexes(knex: Knex): Promise<() => Promise<void>> {
  const { rows } = await knex.raw<{ rows: { indexname: string; indexdef: string }[] }>(
    `SELECT indexname, indexdef FROM pg_indexes
    WHERE tablename IN ('posts', 'comments', 'terms', 'users') AND indexdef LIKE '%gin_trgm_ops%'`,
  );
  for (const { indexname } of rows) await knex.raw('DROP INDEX ??', [indexname]);
  return async () => {
    for (const { indexdef } of rows) await knex.raw(indexdef);
  };
}
