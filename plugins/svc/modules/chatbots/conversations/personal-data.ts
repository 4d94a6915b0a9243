import type { HostApi } from '#plugin-api';
import { submissionRecord } from '../forms/submissions-export.ts';
import type { Submission, SubmissionStore } from '../forms/submission.ts';
import '../hooks.ts';
import { tables } from './conversation-tables.ts';
import { createWriteParts } from './append-messages.ts';
import { deleteConversations } from './delete-conversations.ts';
import { conversationRecord, readConversations } from './export-logs.ts';
import { checkReceipt, createReceipts, emptyLists } from './receipts.ts';
import type { PersonalCounts, Receipt, ReceiptCheck, ReceiptLists, ReceiptWriter } from './receipts.ts';
import { compactIndex } from './register-logs.ts';

/** Whose data: a user, the owner of an email address (as a user or in a form), or a guest by session. */
export type Person = { readonly userId: number } | { readonly email: string } | { readonly sessionId: string };

/** What is known about a person when plugins run. Still complete after conversations were deleted. */
export interface PersonIdentity {
  /** Null if the person is not a user of the site. */
  readonly userId: number | null;
  /** UUIDs. */
  readonly conversations: readonly string[];
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
  receipt(id: string): Promise<Receipt | null>;
  /** Checks the signature of the JSON of a receipt. */
  checkReceipt(text: string): Promise<ReceiptCheck>;
}

export interface PersonalDataParts {
  readonly host: Pick<
    HostApi,
    'database' | 'clock' | 'users' | 'hooks' | 'jobs' | 'log' | 'options' | 'secrets' | 'site'
  >;
  readonly submissions: SubmissionStore;
}

interface Found {
  readonly userId: number | null;
  /** Addresses of the person, for data of the host. */
  readonly emails: readonly string[];
  readonly conversations: readonly { readonly id: number; readonly uuid: string; readonly message_count: number }[];
  readonly submissions: readonly Submission[];
}

const batchSize = 500;

export function createPersonalData({ host, submissions }: PersonalDataParts): PersonalData {
  const { knex } = host.database;
  const receipts = createReceipts(host);

  async function find(person: Person): Promise<Found> {
    const user =
      'userId' in person
        ? await host.users.get(person.userId)
        : 'email' in person
          ? await host.users.find(person.email)
          : null;
    const userId = 'userId' in person ? person.userId : (user?.id ?? null);
    const emails = [...new Set([...('email' in person ? [person.email] : []), ...(user === null ? [] : [user.email])])];
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
    return { userId, emails, conversations: [...conversations.values()], submissions: all };
  }

  async function storeReceipt(
    person: Person,
    {
      act,
      actor,
      counts,
      lists = emptyLists,
    }: Pick<Receipt, 'act' | 'actor' | 'counts'> & Partial<Pick<Receipt, 'lists'>>,
  ): Promise<Receipt> {
    const by = 'userId' in person ? 'user' : 'email' in person ? 'email' : 'session';
    const receipt = await receipts.store({ act, by, actor, counts, lists });
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
      for (const submission of found.submissions) yield line('submission', submissionRecord(submission));
      const own = await host.hooks.applyFiltersAsync('personal_data_export', [], found);
      const more = await host.hooks.applyFiltersAsync('svc_personal_data_export', own, person, toIdentity(found));
      for (const record of more) yield line(record.type, record.data);
      await storeReceipt(person, {
        act: 'export',
        actor,
        counts: { ...countFound(found), ...(more.length > 0 && { others: more.length }) },
      });
    },
    async erase(person, actor) {
      const found = await find(person);
      const { lists, writer } = createReceiptLists();
      // First, so that a deletion that was interrupted finds all conversations again.
      const others = await host.hooks.applyFiltersAsync(
        'svc_personal_data_erase',
        await host.hooks.applyFiltersAsync('personal_data_erase', countFound(found), found),
        person,
        toIdentity(found),
        writer,
      );
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
      // The index file still contains words of the deleted conversations.
      await compactIndex(host);
      return storeReceipt(person, { act: 'erase', actor, counts: { ...others, ...erased }, lists });
    },
    receipts: receipts.list,
    receipt: receipts.find,
    checkReceipt: (text) => checkReceipt(host, text),
  };
}

function createReceiptLists(): { readonly lists: ReceiptLists; readonly writer: ReceiptWriter } {
  const lists: { -readonly [Kind in keyof ReceiptLists]: ReceiptLists[Kind] } = { ...emptyLists };
  return {
    lists,
    writer: {
      add: (kind, entries) => {
        lists[kind] = [...lists[kind], ...entries] as never;
      },
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

/** Parses a user id, an email address or a session id. Returns null if it is not valid. */
export function parsePerson(by: unknown, value: unknown): Person | null {
  const text = typeof value === 'string' ? value.trim() : '';
  if (by === 'user') return /^[1-9]\d{0,9}$/.test(text) && Number(text) < 2 ** 31 ? { userId: Number(text) } : null;
  if (by === 'email') return text.includes('@') && text.length <= 254 ? { email: text } : null;
  return by === 'session' && text !== '' && text.length <= 64 ? { sessionId: text } : null;
}
