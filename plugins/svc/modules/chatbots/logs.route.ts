import { argumentBounds, RestResponse, typedRoute } from '#plugin-api';
import type { JsonSchema, Params, ParamsOf, RestRequest, RouteArguments } from '#plugin-api';
import type { ChatbotParts } from './chatbots.ts';
import { callerOf, requireScopes } from '../../kit/caller.ts';
import { defineRoute } from '../../kit/route.ts';
import type { Logs } from './conversations/logs.ts';
import type { LogPage } from './conversations/search/log-query.ts';
import './hooks.ts';

const maxPerPage = 100;
const maxSearchLength = 1000;

/** Filters of the logs, which can be combined. */
export const logSearchArguments = {
  bot_id: { type: 'integer', ...argumentBounds.anyInteger, description: 'Only conversations with this chatbot.' },
  user_search: {
    type: 'string',
    maxLength: maxSearchLength,
    description:
      'Part of the display name, username or email address of the user, in any case. ' +
      'The word guest also finds conversations of guests.',
  },
  message_search: {
    type: 'string',
    maxLength: maxSearchLength,
    description:
      'Part of a message; case, accents and surrounding white space are ignored. % and _ are literal characters.',
  },
} as const satisfies RouteArguments;

const args = {
  page: { type: 'integer', ...argumentBounds.id, minimum: 1, default: 1, description: 'Page number.' },
  per_page: {
    type: 'integer',
    ...argumentBounds.id,
    minimum: 1,
    default: 20,
    description: `Logs per page. More than ${String(maxPerPage)} are served as ${String(maxPerPage)}.`,
  },
  ...logSearchArguments,
} as const satisfies RouteArguments;

const text = (description: string): JsonSchema => ({ type: 'string', description });

const schema = {
  type: 'object',
  title: 'log',
  properties: {
    id: text('Log identifier.'),
    bot_id: text('Chatbot identifier.'),
    user_id: text('Identifier of the user, 0 for a guest.'),
    session_id: { type: ['string', 'null'], description: 'Session identifier.' },
    conversation_uuid: text('UUID of the conversation.'),
    is_guest: text('1 for a guest, else 0.'),
    module: text('chatbot for conversations in the widget, rest_api for those stored by POST /chat/{bot_id}/message.'),
    messages: text(
      'JSON text of a list of {id, role, content, timestamp, provider?, model?, usage?, feedback?}, oldest first.',
    ),
    message_count: text('Number of messages.'),
    last_message_ts: text('Unix timestamp of the last message.'),
    created_at: text('When the conversation started, YYYY-MM-DD HH:MM:SS, UTC.'),
    bot_name: text('Current name of the chatbot.'),
    user_display_name: text('Current display name of the user; Guest for a guest.'),
  },
} as const satisfies JsonSchema;

const countHeaders = {
  'X-SVC-Total': 'Total number of matching logs.',
  'X-SVC-TotalPages': 'Total number of pages.',
  'X-WP-Total': 'The same as X-SVC-Total.',
  'X-WP-TotalPages': 'The same as X-SVC-TotalPages.',
  Link: 'URLs of the previous and the next page, if any.',
};

/** `GET /logs` (contract 2.5, 4.6; D14): newest first, with exact totals. */
export const logsRoute = defineRoute<ChatbotParts>({
  path: '/logs',
  access: 'logs',
  define: (parts) =>
    typedRoute({
      methods: ['GET'],
      summary: 'Read saved chat logs.',
      description:
        'Conversations of chatbots, the one with the newest message first. Filters can be combined. A page past the end is empty.',
      schema,
      args,
      responses: { 200: { description: 'A page of logs.', headers: countHeaders } },
      handler: (request) => listLogs(request, parts),
    }),
});

async function listLogs(
  request: RestRequest<ParamsOf<typeof args>>,
  { host, logs }: Pick<ChatbotParts, 'host' | 'logs'>,
): Promise<RestResponse> {
  const { page } = request.params;
  // A key for some chatbots reads the logs of one of them at a time.
  requireScopes(callerOf(request), { chatbot: request.params.bot_id ?? null });
  const perPage = Math.min(maxPerPage, request.params.per_page);
  const { rows, total } = await findLogs(logs, request.params, { offset: (page - 1) * perPage, limit: perPage });
  const body = await host.hooks.applyFiltersAsync('svc_logs_rows', rows, request);
  return new RestResponse({
    body,
    headers: pageHeaders({ total, page, perPage, url: host.rest.url(request.route), query: request.query }),
  });
}

/** One page of the conversations that match. */
export async function findLogs(
  logs: Pick<Logs, 'usersLike' | 'page'>,
  { bot_id: botId, user_search: user = '', message_search: text }: Partial<ParamsOf<typeof logSearchArguments>>,
  page: LogPage,
): ReturnType<Logs['page']> {
  return logs.page({ botId, userIds: await logs.usersLike(user), text }, page);
}

interface Paging {
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  readonly url: string;
  /** Parameters of the request, without the key (D2). */
  readonly query: Params;
}

function pageHeaders({ total, page, perPage, url, query }: Paging): Record<string, string> {
  const pages = Math.ceil(total / perPage);
  const link = (to: number, relation: string): string => {
    const target = new URL(url);
    for (const [name, value] of Object.entries({ ...query, page: to }))
      if (name !== 'rest_route') target.searchParams.set(name, String(value));
    return `<${target.href}>; rel="${relation}"`;
  };
  const links = [
    ...(page > 1 && pages > 0 ? [link(Math.min(page - 1, pages), 'prev')] : []),
    ...(page < pages ? [link(page + 1, 'next')] : []),
  ];
  const counts = {
    'X-SVC-Total': String(total),
    'X-SVC-TotalPages': String(pages),
    'X-WP-Total': String(total),
    'X-WP-TotalPages': String(pages),
  };
  return { ...counts, ...(links.length > 0 && { Link: links.join(', ') }) };
}
