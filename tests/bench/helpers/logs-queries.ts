import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { TestHost } from '#testing';
import type { BenchRow } from '../bench-row.ts';

interface Measured {
  readonly host: TestHost;
  readonly key: string;
}

type Query = Readonly<Record<string, string | number>>;

/** Many of a kind, so that nothing is answered from what was kept of the one before; `turn` counts up. */
interface Kind {
  readonly name: string;
  readonly query: (turn: number, conversations: number) => Query;
  /** Milliseconds that 95 of 100 calls may take, if not those of a filter: 1,500 for words (D38). */
  readonly most?: number;
}

const mostOfCommon = 1_500;

const commonWords = ['order', 'shipping', 'please', 'thank', 'return', 'account', 'größe', 'with', 'can', 'the'];
const letters = 'abcdefiklmnopqrstuvwxz';
const pairs = ['in', 'er', 'th', 'or', 'sh', 'co', 'qu', 'xy', 'zu', 'fi'];
const parts = ['ingcon', 'hippi', 'tersti', 'accou', 'unver', 'prequi', 'nork', 'xyzu', 'merlo', 'rder'];
const phrases = [
  'thank you',
  'my order',
  'is the',
  'shipping please',
  'how to',
  'you is',
  'order the',
  'return it',
  'not can',
  'the order',
];

const kinds: readonly Kind[] = [
  { name: 'first page', query: () => ({}) },
  { name: 'page in the middle', query: (turn, rows) => ({ per_page: 100, page: Math.floor(rows / 200) + turn }) },
  { name: 'last pages', query: (turn, rows) => ({ page: Math.floor(rows / 20) - turn }) },
  {
    name: 'of a chatbot, page in the middle',
    query: (turn, rows) => ({ bot_id: 1 + (turn % 5), page: Math.floor(rows / 500) + turn }),
  },
  { name: 'common word', most: mostOfCommon, query: (turn) => ({ message_search: pick(commonWords, turn) }) },
  {
    name: 'common word, deep page',
    most: mostOfCommon,
    query: (turn, rows) => ({ message_search: pick(commonWords, turn), page: Math.floor(rows / 100) + turn }),
  },
  {
    name: 'rare word',
    query: (turn) => ({ message_search: turn % 2 === 0 ? 'xylophonist' : `#${String(100_000 + 10 * (turn + 1))}` }),
  },
  { name: 'no such word', query: (turn) => ({ message_search: `jjjwww${String(turn)}` }) },
  { name: 'part of words', most: mostOfCommon, query: (turn) => ({ message_search: pick(parts, turn) }) },
  {
    name: 'one letter',
    most: mostOfCommon,
    query: (turn) => ({ message_search: letters[turn % letters.length] ?? 'a' }),
  },
  { name: 'two letters', most: mostOfCommon, query: (turn) => ({ message_search: pick(pairs, turn) }) },
  {
    name: 'three letters',
    most: mostOfCommon,
    query: (turn) => ({ message_search: pick(['ing', 'the', 'ent', 'con', 'ver', 'qui', 'ship', 'ord'], turn) }),
  },
  { name: 'sign', most: mostOfCommon, query: (turn) => ({ message_search: pick(['?', '%', '_', '#', '.'], turn) }) },
  { name: 'two common words in a row', most: mostOfCommon, query: (turn) => ({ message_search: pick(phrases, turn) }) },
  {
    name: 'two common words in a row, few found',
    query: (turn) => ({ message_search: pick(['thank you', 'is my', 'how to', 'please how', 'my shipping'], turn) }),
  },
  {
    name: 'word of another script',
    query: (turn) => ({
      message_search: pick(['ДОСТАВКА', 'ευχαριστω', 'الشحن', '订单查询', '物流信息', '📦🚚💨'], turn),
    }),
  },
  {
    name: 'word of another script, deep page',
    query: (turn) => ({
      message_search: pick(['елка', 'παραγγελ', 'شكرا', '退款申', '🙏🙏🙏'], turn),
      page: 20 + turn,
    }),
  },
  { name: 'user, few found', query: (turn) => ({ user_search: `.${String(100 + turn * 7)}` }) },
  {
    name: 'user, many found',
    query: (turn, rows) => ({
      user_search: pick(['a', 'e', 'example', 'ing', 'con'], turn),
      page: Math.floor(rows / 200),
    }),
  },
  {
    name: 'word, user and chatbot',
    most: mostOfCommon,
    query: (turn) => ({
      message_search: pick(commonWords, turn),
      user_search: pick(['con', 'ing', 'ver'], turn),
      bot_id: 1 + (turn % 5),
    }),
  },
];

function pick<Item>(items: readonly Item[], turn: number): Item {
  return items[turn % items.length] as Item;
}

/** Milliseconds at 100,000 conversations and at 1,000,000 (D38). */
const mostOfFilters = { few: 50, many: 300 };

export async function measureQueries({
  host,
  key,
  dialect,
  conversations,
  rounds,
}: Measured & { readonly dialect: string; readonly conversations: number; readonly rounds: number }): Promise<
  BenchRow[]
> {
  const call = caller({ host, key });
  const first = await timed(() => call({}));
  const rows: BenchRow[] = [
    {
      name: `${dialect}: first call of the process`,
      value: first.time,
      unit: 'ms',
      note: `${conversations.toLocaleString('en-GB')} conversations`,
    },
  ];
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const mostOfOthers = conversations > 100_000 ? mostOfFilters.many : mostOfFilters.few;
  for (const { name, query, most = mostOfOthers } of kinds) {
    delays.reset();
    delays.enable();
    const times: number[] = [];
    let total = '';
    const used = process.cpuUsage();
    for (let turn = 0; turn < rounds; turn++) {
      const { time, value } = await timed(() => call(query(turn, conversations)));
      times.push(time);
      total = value;
    }
    delays.disable();
    const { user, system } = process.cpuUsage(used);
    times.sort((one, other) => one - other);
    const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
    const note = `p50 ${at(0.5).toFixed(1)}, longest ${at(1).toFixed(1)}, event loop blocked ${(delays.max / 1e6).toFixed(0)}, processor ${((user + system) / 1000 / rounds).toFixed(1)} ms a call; the last found ${Number(total).toLocaleString('en-GB')}`;
    rows.push({
      name: `${dialect}: ${name}, p95`,
      value: at(0.95),
      unit: 'ms',
      target: { at: 'most', value: most },
      note,
    });
  }
  return rows;
}

function caller({ host, key }: Measured): (query: Query) => Promise<string> {
  return async (query) => {
    const response = await host.fetch(
      `/wp-json/svc/v1/logs?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString()}`,
      { headers: { authorization: `Bearer ${key}` } },
    );
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`GET /logs answered ${String(response.status)}.`);
    return response.headers.get('X-SVC-Total') ?? '';
  };
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ readonly time: number; readonly value: Value }> {
  const started = performance.now();
  const value = await work();
  return { time: performance.now() - started, value };
}
