import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import { submissionsJsonl } from '../forms/submissions-export.ts';
import type { Submission, SubmissionStore } from '../forms/submission.ts';
import '../hooks.ts';
import { tables } from './conversation-tables.ts';
import { createWriteParts } from './append-messages.ts';
import { deleteConversations } from './delete-conversations.ts';
import { conversationRecord, readConversations } from './export-logs.ts';
import type { Logs } from './logs.ts';

/** Whose data: a user, the owner of an email address (as a user or in a form), or a guest by session. */
export type Person = { readonly userId: number } | { readonly email: string } | { readonly sessionId: string };

/** What is known about a person when plugins run. Still complete after conversations were deleted. */
export interface PersonIdentity {
  /** Null if the person is not a user of the site. */
  readonly userId: number | null;
  /** UUIDs. */
  readonly conversations: readonly string[];
}

export type PersonalCounts = Readonly<Record<string, number>>;

/** A record of an export or deletion, without the data and the name of the person. */
export interface Receipt {
  readonly id: string;
  readonly act: 'export' | 'erase';
  /** How the person was identified. */
  readonly by: 'user' | 'email' | 'session';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Login of the administrator, or `command line`. */
  readonly actor: string;
  /** Numbers of conversations, messages and submissions, and the counts that plugins add. */
  readonly counts: PersonalCounts;
}

export interface PersonalData {
  /** Counts the data of a person. */
  count(person: Person): Promise<PersonalCounts>;
  /** Yields one JSON object per line, with its `type`. The receipt is stored after the last line. */
  export(person: Person, actor: string): AsyncGenerator<string>;
  /** Deletes everything, in batches. An interrupted deletion can be repeated. */
  erase(person: Person, actor: string): Promise<Receipt>;
  /** Newest first. */
  receipts(limit: number): Promise<readonly Receipt[]>;
}

export interface PersonalDataParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'users' | 'hooks' | 'log'>;
  readonly submissions: SubmissionStore;
  readonly logs: Pick<Logs, 'maintain'>;
}

interface Found {
  readonly userId: number | null;
  readonly conversations: readonly { readonly id: number; readonly uuid: string; readonly message_count: number }[];
  readonly submissions: readonly Submission[];
}

const batchSize = 500;

export function createPersonalData({ host, submissions, logs }: PersonalDataParts): PersonalData {
  const { knex } = host.database;

  async function find(person: Person): Promise<Found> {
    const userId =
      'userId' in person
        ? person.userId
        : 'email' in person
          ? ((await host.users.find(person.email))?.id ?? null)
          : null;
    const named = 'userId' in person ? [] : await submissions.listByPerson(person);
    const own = userId === null ? [] : await submissions.listByPerson({ userId });
    const conversations = new Map<number, Found['conversations'][number]>();
    const add = (rows: Found['conversations']): void => {
      for (const row of rows) conversations.set(row.id, row);
    };
    const select = () => knex(tables.conversations).select('id', 'uuid', 'message_count');
    if (userId !== null && userId > 0) add(await select().where({ user_id: userId }));
    if ('sessionId' in person) add(await select().where({ session_id: person.sessionId }));
    // The whole conversation belongs to the person who enters the address in its form.
    const uuids = [...new Set([...named, ...own].map(({ conversation }) => conversation))];
    for (let start = 0; start < uuids.length; start += batchSize)
      add(await select().whereIn('uuid', uuids.slice(start, start + batchSize)));
    const inside = await submissions.listByConversations([...conversations.values()].map(({ uuid }) => uuid));
    const all = [...new Map([...named, ...own, ...inside].map((one) => [one.id, one])).values()];
    return { userId, conversations: [...conversations.values()], submissions: all };
  }

  async function storeReceipt(
    act: Receipt['act'],
    { person, actor, counts }: { readonly person: Person; readonly actor: string; readonly counts: PersonalCounts },
  ): Promise<Receipt> {
    const by = 'userId' in person ? 'user' : 'email' in person ? 'email' : 'session';
    const receipt: Receipt = { id: randomUUID(), act, by, at: host.clock.now(), actor, counts };
    await knex(tables.receipts).insert({ ...receipt, counts: JSON.stringify(counts) });
    host.log.info(act === 'erase' ? 'Personal data deleted' : 'Personal data exported', {
      event: act === 'erase' ? 'personal_data_deleted' : 'personal_data_exported',
      receipt: receipt.id,
      by,
      ...counts,
    });
    return receipt;
  }

  return {
    count: async (person) => countFound(await find(person)),
    async *export(person, actor) {
      const found = await find(person);
      for await (const exported of readConversations(
        host,
        found.conversations.map(({ id }) => id),
      ))
        yield line('conversation', conversationRecord(exported));
      for await (const json of submissionsJsonl(iterate(found.submissions)))
        yield line('submission', JSON.parse(json) as Record<string, unknown>);
      const more = await host.hooks.applyFiltersAsync('svc_personal_data_export', [], person, toIdentity(found));
      for (const record of more) yield line(record.type, record.data);
      await storeReceipt('export', {
        person,
        actor,
        counts: { ...countFound(found), ...(more.length > 0 && { others: more.length }) },
      });
    },
    async erase(person, actor) {
      const found = await find(person);
      const erased = {
        conversations: 0,
        messages: found.conversations.reduce((total, { message_count }) => total + message_count, 0),
        submissions: 0,
      };
      for (let start = 0; start < found.conversations.length; start += batchSize) {
        const batch = found.conversations.slice(start, start + batchSize);
        erased.submissions += await submissions.deleteByConversations(batch.map(({ uuid }) => uuid));
        erased.conversations += await deleteConversations(
          createWriteParts(host),
          batch.map(({ id }) => id),
        );
      }
      if (!('userId' in person)) erased.submissions += await submissions.deleteByPerson(person);
      if (found.userId !== null && found.userId > 0)
        erased.submissions += await submissions.deleteByPerson({ userId: found.userId });
      const counts = await host.hooks.applyFiltersAsync('svc_personal_data_erase', erased, person, toIdentity(found));
      // The search index still contains words of the deleted conversations.
      await logs.maintain({ purge: true });
      return storeReceipt('erase', { person, actor, counts });
    },
    async receipts(limit) {
      const rows = (await knex(tables.receipts).orderBy('at', 'desc').limit(limit)) as (Omit<Receipt, 'counts'> & {
        counts: string;
      })[];
      return rows.map((row) => ({ ...row, counts: JSON.parse(row.counts) as PersonalCounts }));
    },
  };
}

function toIdentity({ userId, conversations }: Found): PersonIdentity {
  return {
    userId: userId !== null && userId > 0 ? userId : null,
    conversations: conversations.map(({ uuid }) => uuid),
  };
}

function countFound({ conversations, submissions }: Found): PersonalCounts {
  return {
    conversations: conversations.length,
    messages: conversations.reduce((total, { message_count }) => total + message_count, 0),
    submissions: submissions.length,
  };
}

function line(type: string, data: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ ...data, type })}\n`;
}

async function* iterate<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Parses a user id, an email address or a session id. Returns null if it is not valid. */
export function parsePerson(by: unknown, value: unknown): Person | null {
  const text = typeof value === 'string' ? value.trim() : '';
  if (by === 'user') return /^[1-9]\d{0,9}$/.test(text) && Number(text) < 2 ** 31 ? { userId: Number(text) } : null;
  if (by === 'email') return text.includes('@') && text.length <= 254 ? { email: text } : null;
  return by === 'session' && text !== '' && text.length <= 64 ? { sessionId: text } : null;
}
