import { clampPage, readList, translateText, type AdminRequest, type HostApi, type ListState } from '#plugin-api';
import { formatCost, type Cost } from '../../../kit/format-cost.ts';
import type { ChatbotParts } from '../chatbots.ts';
import type { ConversationRow } from '../conversations/conversation-rows.ts';
import { tables } from '../conversations/conversation-tables.ts';
import { deletedBotName, deletedUserName, guestName } from '../conversations/log-rows.ts';
import type { LogFilter } from '../conversations/search/log-query.ts';
import { readLogsQuery, toLogFilter, type LogsQuery } from './logs-filter.ts';

/** The part of the chat logs that a query names. */
export interface LogList {
  readonly query: LogsQuery;
  readonly filter: LogFilter;
  readonly state: ListState;
  readonly ids: readonly number[];
  readonly total: number;
  readonly bots: readonly { readonly id: number; readonly name: string }[];
  readonly timezone: string;
}

/** Reads filters and page of the list from a query. */
export async function readLogList(
  { host, logs, ...parts }: ChatbotParts,
  request: Pick<AdminRequest, 'query'>,
): Promise<LogList> {
  const query = readLogsQuery(request.query);
  const [timezone, bots] = await Promise.all([host.site.timezone(), parts.bots.summaries()]);
  const filter = await toLogFilter(query, { timezone, usersLike: logs.usersLike });
  const requested = readList(request, { sortable: ['time'], order: 'desc', filters: { ...query } });
  const read = ({ page, perPage }: ListState) => logs.find(filter, { offset: (page - 1) * perPage, limit: perPage });
  let found = await read(requested);
  const state = clampPage(requested, found.total);
  if (state.page !== requested.page) found = await read(state);
  return { query, filter, state, timezone, bots, ids: found.ids, total: found.total };
}

/** Rows of the list, in the order of the ids. @param at the query of the list, which an opened conversation shows beside it */
export async function readRows(
  { host, bots }: ChatbotParts,
  { ids, at = '' }: Pick<LogList, 'ids'> & { readonly at?: string },
): Promise<Record<string, unknown>[]> {
  const { knex } = host.database;
  const rows = (await knex(tables.conversations).whereIn('id', [...ids])) as ConversationRow[];
  const shown = await bots.summaries([...new Set(rows.map(({ bot_id: id }) => Number(id)))]);
  const names = new Map(shown.map(({ id, name }) => [id, name]));
  const firsts = (await knex(tables.messages)
    .whereIn('conversation_id', [...ids])
    .where({ position: 1 })
    .select('conversation_id', 'content')) as { conversation_id: number; content: string }[];
  const first = new Map(firsts.map(({ conversation_id, content }) => [conversation_id, content]));
  const calls = await countCalls(host, ids);
  const users = await host.users.names([...new Set(rows.map(({ user_id }) => user_id).filter((id) => id > 0))]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    if (row === undefined) return [];
    return {
      uuid: row.uuid,
      href: host.admin.url(`svc/conversation?conversation=${encodeURIComponent(row.uuid)}${at && `&${at}`}`),
      time: row.last_message_at,
      beginning: shorten(first.get(id) ?? ''),
      bot: names.get(row.bot_id) ?? deletedBotName,
      person: row.user_id === 0 ? translateText(guestName) : (users.get(row.user_id) ?? deletedUserName),
      messages: row.message_count,
      tokens: row.tokens,
      cost: formatCost({ cost: row.cost, ...(calls.get(id) ?? { calls: 0, unpriced: 0 }) }),
      liked: row.liked,
      disliked: row.disliked,
      isRest: row.module === 'rest_api',
    };
  });
}

/** Answers that used tokens, by conversation, and those of them with an unknown price. */
async function countCalls(
  { database: { knex } }: Pick<HostApi, 'database'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Omit<Cost, 'cost'>>> {
  const rows = (await knex(tables.messages)
    .whereIn('conversation_id', [...ids])
    .where({ role: 'assistant' })
    .whereNotNull('total_tokens')
    .groupBy('conversation_id')
    .select('conversation_id', knex.raw('count(*) as calls'), knex.raw('count(cost) as priced'))) as {
    readonly conversation_id: number;
    readonly calls: number | string;
    readonly priced: number | string;
  }[];
  return new Map(
    rows.map((row) => [
      row.conversation_id,
      { calls: Number(row.calls), unpriced: Number(row.calls) - Number(row.priced) },
    ]),
  );
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 90 ? `${line.slice(0, 89).replace(/[\ud800-\udbff]$/, '')}…` : line || '(no message)';
}
