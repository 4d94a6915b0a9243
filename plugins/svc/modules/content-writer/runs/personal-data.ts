import type { HostApi } from '#plugin-api';
import type { PersonalRecord } from '../../../kit/table-reads.ts';
import { contentTableNames } from '../content-tables.ts';
import { toItem } from './item.ts';

/** A person in `svc_personal_data_*`. */
interface Identity {
  readonly userId: number | null;
}

type Host = Pick<HostApi, 'database' | 'users'>;
type Records = readonly PersonalRecord[];

/** Exports the texts of a user. The host exports their posts. */
export async function exportTexts(host: Host, records: Records, person: unknown): Promise<Records> {
  const userId = await findUserId(host, person);
  if (userId === null) return records;
  const rows = (await host.database.knex(contentTableNames.items).where({ user_id: userId }).orderBy('id')) as object[];
  return [
    ...records,
    ...rows.map(toItem).map(({ topic, input, status, draft, postId, createdAt }) => ({
      type: 'content_text',
      data: { topic, input, status, text: draft, post_id: postId, created_at: createdAt },
    })),
  ];
}

/** Deletes the texts and batches of a user. Texts in progress are not finished. */
export async function eraseTexts<Counts extends Readonly<Record<string, number>>>(
  host: Host,
  counts: Counts,
  person: unknown,
): Promise<Counts> {
  const userId = await findUserId(host, person);
  if (userId === null) return counts;
  const { knex } = host.database;
  const texts = await host.database.transaction(async () => {
    const deleted = await knex(contentTableNames.items).where({ user_id: userId }).delete();
    await knex(contentTableNames.batches).where({ user_id: userId }).delete();
    return deleted;
  });
  return { ...counts, content_texts: texts };
}

/** Only users have texts. */
async function findUserId({ users }: Pick<Host, 'users'>, person: unknown): Promise<number | null> {
  const named = person as Partial<Identity> & { readonly email?: string };
  if (typeof named.userId === 'number' && named.userId > 0) return named.userId;
  return named.email === undefined ? null : ((await users.find(named.email))?.id ?? null);
}
