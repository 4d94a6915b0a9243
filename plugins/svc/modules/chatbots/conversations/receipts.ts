import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import { createSiteKey } from '../../../kit/site-key.ts';
import { tables } from './conversation-tables.ts';

/** Option: the encrypted Ed25519 key that signs receipts (D3). */
export const receiptKeyOption = 'svc_receipt_key';

export type PersonalCounts = Readonly<Record<string, number>>;

/** What an erasure deleted or found outside the tables, for the receipt. No entry contains personal data. */
export interface ReceiptLists {
  /** Deleted files of the media library. */
  readonly media: readonly { readonly media_id: number; readonly mime_type: string; readonly size: number }[];
  /** Sources of knowledge bases. `kept`: an administrator wrote it after a question of the person and should check it. */
  readonly vectors: readonly {
    readonly knowledge_base: number;
    readonly source: number;
    readonly state: 'deleted' | 'kept';
  }[];
  /** Webhook deliveries that were sent before: their receivers may hold data of the person. `host` has the port. */
  readonly deliveries: readonly {
    readonly delivery: string;
    readonly event: string;
    readonly host: string;
    /** ISO 8601, of the last attempt. */
    readonly time: string;
    readonly state: 'delivered' | 'failed' | 'attempting';
  }[];
}

/** Passed to `svc_personal_data_erase`, for what the counts cannot say. */
export interface ReceiptWriter {
  add<Kind extends keyof ReceiptLists>(kind: Kind, entries: ReceiptLists[Kind]): void;
}

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
  readonly lists: ReceiptLists;
  /** The signed receipt as JSON; null for receipts of earlier versions. */
  readonly document: string | null;
}

export type ReceiptInit = Pick<Receipt, 'act' | 'by' | 'actor' | 'counts' | 'lists'>;

export interface Receipts {
  store(init: ReceiptInit): Promise<Receipt>;
  /** Newest first. */
  list(limit: number): Promise<readonly Receipt[]>;
  find(id: string): Promise<Receipt | null>;
}

type Host = Pick<HostApi, 'database' | 'clock' | 'options' | 'secrets' | 'site' | 'log'>;

export const emptyLists: ReceiptLists = { media: [], vectors: [], deliveries: [] };

/** Stores receipts, signed with Ed25519, so that a copy proves later what was deleted, and when. */
export function createReceipts(host: Host): Receipts {
  const { knex } = host.database;
  const readKey = receiptKey(host);

  return {
    async store({ act, by, actor, counts, lists }) {
      const [id, at] = [randomUUID(), host.clock.now()];
      const key = await readKey();
      const content = {
        ...{ id, act, by, at: new Date(at).toISOString(), actor, site: host.site.url, counts, ...lists },
        public_key: publicKeyOf(key),
      };
      const document = JSON.stringify({ ...content, signature: signText(JSON.stringify(content), key) });
      await knex(tables.receipts).insert({ id, act, by, at, actor, counts: JSON.stringify(counts), document });
      return { id, act, by, at, actor, counts, lists, document };
    },
    list: async (limit) =>
      ((await knex(tables.receipts).orderBy('at', 'desc').limit(limit)) as ReceiptRow[]).map(toReceipt),
    async find(id) {
      const row = (await knex(tables.receipts).where({ id }).first()) as ReceiptRow | undefined;
      return row === undefined ? null : toReceipt(row);
    },
  };
}

/** `other_site`: the signature is valid, but was not made with the current key of this site. */
export type ReceiptCheck = 'valid' | 'other_site' | 'invalid';

/**
 * Checks the signature of a receipt: Ed25519 over its compact JSON without `signature`, the members in their order.
 *
 * @param text JSON of the receipt; white space does not matter
 */
export async function checkReceipt(host: Host, text: string): Promise<ReceiptCheck> {
  try {
    const { signature, ...content } = JSON.parse(text) as { signature: string; public_key: string };
    const key = createPublicKey({ key: Buffer.from(content.public_key, 'base64'), format: 'der', type: 'spki' });
    if (!verify(null, Buffer.from(JSON.stringify(content)), key, Buffer.from(signature, 'base64'))) return 'invalid';
    return content.public_key === publicKeyOf(await receiptKey(host)()) ? 'valid' : 'other_site';
  } catch {
    return 'invalid';
  }
}

function receiptKey(host: Host): () => Promise<KeyObject> {
  const read = createSiteKey(host, {
    option: receiptKeyOption,
    label: 'key of receipts',
    event: 'receipt_key_unreadable',
    generate: () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  });
  return async () => createPrivateKey(await read());
}

function publicKeyOf(key: KeyObject): string {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');
}

function signText(text: string, key: KeyObject): string {
  return sign(null, Buffer.from(text), key).toString('base64');
}

interface ReceiptRow extends Omit<Receipt, 'counts' | 'lists' | 'at'> {
  readonly at: number | string;
  readonly counts: string;
}

function toReceipt({ at, counts, document, ...row }: ReceiptRow): Receipt {
  const lists = document === null ? emptyLists : { ...emptyLists, ...(JSON.parse(document) as ReceiptLists) };
  return {
    ...row,
    at: Number(at),
    counts: JSON.parse(counts) as PersonalCounts,
    lists: { media: lists.media, vectors: lists.vectors, deliveries: lists.deliveries },
    document,
  };
}
