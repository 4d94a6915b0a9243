import type { HostApi } from '#plugin-api';
import { contentTableNames } from '../content-tables.ts';
import { itemOf, type ItemRow } from './item-rows.ts';

/** As `svc_personal_data_*` name a person. */

interface Identity {
  readonly userId: number | null;
}
interface PersonalRecord {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

type Host = Pick<HostApi, 'database' | 'users'>;

/** Texts that a user asked for. Their posts are the host's. */
export async function exportTexts(
  host: Host,
  records: readonly PersonalRecord[],
  person: unknown,
): Promise<readonly PersonalRecord[]> {
  const userId = await userOf(host, person);
  if (userId === null) return records;
  const rows = (await host.database
    .knex(contentTableNames.items)
    .where({ user_id: userId })
    .orderBy('id')) as ItemRow[];
  return [
    ...records,
    ...rows.map(itemOf).map(({ topic, input, status, draft, postId, createdAt }) => ({
      type: 'content_text',
      data: { topic, input, status, text: draft, post_id: postId, created_at: createdAt },
    })),
  ];
}

/** Removes them with the batches; what is being written at the moment is not finished. */
export async function eraseTexts<Counts extends Readonly<Record<string, number>>>(
  host: Host,
  counts: Counts,
  person: unknown,
): Promise<Counts> {
  const userId = await userOf(host, person);
  if (userId === null) return counts;
  const { knex } = host.database;
  const texts = await host.database.transaction(async () => {
    const gone = await knex(contentTableNames.items).where({ user_id: userId }).delete();
    await knex(contentTableNames.batches).where({ user_id: userId }).delete();
    return gone;
  });
  return { ...counts, content_texts: texts };
}

/** Only users of the site have texts here. */
async function userOf({ users }: Pick<Host, 'users'>, person: unknown): Promise<number | null> {
  const named = person as Partial<Identity> & { readonly email?: string };
  if (typeof named.userId === 'number' && named.userId > 0) return named.userId;
  return named.email === undefined ? null : ((await users.find(named.email))?.id ?? null);
}
