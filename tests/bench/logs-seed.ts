import type { Database } from '../../host/database/database.ts';
import { createWriter, type ConversationSeed, type MessageSeed, type UserSeed } from './helpers/logs-writer.ts';

export interface LogsSeed {
  readonly database: Database;
  readonly conversations: number;
  readonly users: number;
  readonly bots: number;
  readonly progress?: (text: string) => void;
}

/** Numbers that look random and are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const syllables = [
  'ba',
  'con',
  'de',
  'ent',
  'fi',
  'ing',
  'ka',
  'lo',
  'mer',
  'nor',
  'pre',
  'qui',
  'ra',
  'sti',
  'ter',
  'un',
  'ver',
  'wo',
  'xy',
  'zu',
];
const common = [
  'the',
  'order',
  'shipping',
  'please',
  'you',
  'is',
  'my',
  'thank',
  'how',
  'to',
  'return',
  'it',
  'not',
  'can',
  'i',
  'do',
  'and',
  'with',
  'account',
  'Größe',
];

/** Words by how often they are said: the first are in a third of all conversations or more, the last in few. */
function makeWords(count: number, random: () => number): string[] {
  const words = new Set(common);
  while (words.size < count)
    words.add(
      Array.from(
        { length: 2 + Math.floor(random() * 3) },
        () => syllables[Math.floor(random() * syllables.length)] ?? '',
      ).join(''),
    );
  return [...words];
}

/** The first day that conversations are of; they go on for two years. */
const firstMoment = Date.UTC(2024, 10, 1);
const span = 730 * 24 * 3600 * 1000;
const conversationsAtOnce = 2000;

/** Words of other scripts, in one of a hundred conversations each. */
const otherScripts = [
  ['заказ', 'доставка', 'спасибо', 'вернуть', 'оплата', 'Ёлка'],
  ['παραγγελία', 'αποστολή', 'ευχαριστώ', 'επιστροφή', 'πληρωμή'],
  ['الطلب', 'الشحن', 'شكرا', 'إرجاع', 'الدفع'],
  ['订单查询', '物流信息', '谢谢你', '退款申请', '在线付款'],
  ['😀👍🎉', '📦🚚💨', '🙏🙏🙏', '💳✅🔒'],
] as const;

/**
 * Fills a site's database with conversations of 4 to 10 messages, users and the index of the logs, by plain SQL: a million takes
 * some minutes. The tables have to be there (a site that was started once), and empty.
 */
export async function seedLogs({ database, conversations, users, bots, progress = () => {} }: LogsSeed): Promise<void> {
  const random = createRandom(20_261_121);
  const words = makeWords(20_000, random);
  const write = createWriter(database);
  await write.users(Array.from({ length: users }, (_, index) => makeUser(index + 1, words)));
  await write.begin();
  for (let first = 1; first <= conversations; first += conversationsAtOnce) {
    const batch: ConversationSeed[] = [];
    for (let id = first; id < Math.min(first + conversationsAtOnce, conversations + 1); id++)
      batch.push(makeConversation(id, { random, words, users, bots, share: id / conversations }));
    await write.conversations(batch);
    if ((first - 1) % 100_000 === 0) progress(`${first.toLocaleString('en-GB')} conversations`);
  }
  await write.finish(conversations);
}

function makeUser(id: number, words: readonly string[]): UserSeed {
  const [first, last] = [words[(id * 7) % words.length] ?? '', words[(id * 13 + 5) % words.length] ?? ''];
  return {
    id,
    login: `${first}.${last}.${String(id)}`,
    email: `${first}${String(id)}@${last}.example`,
    displayName: `${first[0]?.toUpperCase() ?? ''}${first.slice(1)} ${last}`,
  };
}

interface Making {
  readonly random: () => number;
  readonly words: readonly string[];
  readonly users: number;
  readonly bots: number;
  /** 0 to 1: how far along in time. */
  readonly share: number;
}

function makeConversation(id: number, { random, words, users, bots, share }: Making): ConversationSeed {
  const count = 4 + Math.floor(random() * 7);
  const start = Math.floor(firstMoment + span * share);
  // One in a thousand goes on for days, so that ids and times are not in the same order.
  const pace = random() < 0.001 ? 40_000_000 : 30_000;
  const messages = Array.from({ length: count }, (_, position): MessageSeed => ({
    role: position % 2 === 0 ? 'user' : 'assistant',
    content: makeText({ random, words, id, position }),
    createdAt: start + position * pace,
  }));
  const userId = random() < 0.4 ? 1 + Math.floor(random() ** 2 * users) : 0;
  return {
    id,
    botId: 1 + Math.floor(random() ** 2 * bots),
    userId,
    sessionId: userId === 0 ? `session-${String(id % 300_000)}` : null,
    createdAt: start,
    messages,
    liked: random() < 0.05 ? 1 : 0,
  };
}

function makeText({
  random,
  words,
  id,
  position,
}: {
  readonly random: () => number;
  readonly words: readonly string[];
  readonly id: number;
  readonly position: number;
}): string {
  const said: string[] = [];
  for (let length = 5 + Math.floor(random() * 9); length > 0; length--) {
    // A few words are said all the time, most hardly ever.
    said.push(words[Math.floor(random() ** 5 * words.length)] ?? '');
  }
  if (position === 0 && id % 10 === 0) said.push(`#${String(100_000 + id)}`);
  const script = otherScripts[(id % 100) - 1];
  if (script !== undefined && position === 2) said.push(script[Math.floor(random() * script.length)] ?? '');
  if (id % 250_007 === 0) said.push('xylophonist');
  return `${said.join(' ')}${position % 2 === 0 ? '?' : '.'}`;
}
