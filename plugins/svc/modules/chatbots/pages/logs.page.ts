import {
  backToList,
  drawCharts,
  formatCount,
  formatDate,
  formatShortNumber,
  listQuery,
  listView,
  localDay,
  notSelected,
  readTextIds,
  translateText,
  withNotice,
} from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, ChartDay } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { logsCsv, logsJsonl, readConversations } from '../conversations/export-logs.ts';
import { deletedBotLabel, recordField, type NamedRecord } from '../../../admin-ui/form-values.ts';
import { exportList } from '../../../admin-ui/list-pages.ts';
import { addDays, readLogsQuery, toLogFilter, type LogsQuery } from './logs-filter.ts';
import { deleteConversation } from './conversation.page.ts';
import { readLogList, readRows } from './log-list.ts';
import { deletedBotName } from '../conversations/log-rows.ts';
import type { Logs } from '../conversations/logs.ts';
import type { LogFilter } from '../conversations/search/log-query.ts';

const columns = [
  { label: 'First message' },
  { label: 'Last message' },
  { label: 'Chatbot' },
  { label: 'Messages', isNumber: true },
  { label: 'Tokens', isNumber: true },
  { label: 'Cost', isNumber: true },
  { label: 'Feedback' },
];
const deleteQuestion = 'Delete the selected conversations and the forms submitted in them? This cannot be undone.';

interface Option {
  readonly value: string;
  readonly label: string;
}
const feedbackOptions: readonly Option[] = [
  { value: '', label: 'All' },
  { value: 'any', label: 'With feedback' },
  { value: 'up', label: 'Liked' },
  { value: 'down', label: 'Disliked' },
];
const whoOptions: readonly Option[] = [
  { value: '', label: 'Everyone' },
  { value: 'guests', label: 'Guests' },
  { value: 'users', label: 'Signed-in users' },
];

/** Days of the chart by default and at most. */
const defaultDays = 30;
const maxDays = 366;

/** The page "Chat logs": filtered conversations, a chart and an export. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  const { host, logs } = parts;
  return {
    render: async (request) => ({ template: 'svc/logs', data: await logsView(parts, request) }),
    actions: {
      bulk: (request) => changeSelected(parts, request),
      export: async ({ form, user, log }) => {
        const filter = await toLogFilter(readLogsQuery(form), {
          timezone: await host.site.timezone(),
          usersLike: logs.usersLike,
        });
        const ids = await logs.all(filter);
        const conversations = readConversations(host, ids);
        log.info('Chat logs exported', { event: 'chat_logs_exported', conversations: ids.length, by: user.id });
        return exportList(form, 'chat-logs', {
          csv: () => logsCsv(conversations),
          jsonl: () => logsJsonl(conversations),
        });
      },
    },
  };
}

/** The data of `svc/logs`. */
async function logsView(parts: ChatbotParts, request: Pick<AdminRequest, 'query'>): Promise<Record<string, unknown>> {
  const { host, logs } = parts;
  if (await logs.isEmpty()) return { isEmpty: true, next: await nextStep(parts) };
  const list = await readLogList(parts, request);
  const { query, state, filter, timezone, bots, total } = list;
  return {
    query,
    hasFilters: Object.entries(query).some(([name, value]) => name !== 'text' && value !== ''),
    total,
    list: listView(state, {
      columns,
      total,
      text: 'Newest first',
      chips: chipTexts(query, bots),
    }),
    bulkOptions: [{ value: 'delete', label: 'Delete', confirm: deleteQuestion }],
    bulkFields: { back: listQuery(state) },
    rows: await readRows(parts, { ...list, at: listQuery(state) }),
    botField: recordField(bots, { value: query.bot, first: 'All chatbots', deleted: deletedBotLabel }),
    feedbackOptions,
    whoOptions,
    chart: await buildChart(logs, { filter, query, timezone, now: host.clock.now() }),
  };
}

function chipTexts(query: LogsQuery, bots: readonly NamedRecord[]): Readonly<Record<string, string>> {
  const labelOf = (options: readonly Option[], value: string): string =>
    options.find((option) => option.value === value)?.label ?? '';
  return {
    text: `Text: ${query.text}`,
    user: `User: ${query.user}`,
    bot: `Chatbot: ${bots.find(({ id }) => String(id) === query.bot)?.name ?? deletedBotName}`,
    from: query.from === '' ? '' : `From: ${formatDay(query.from)}`,
    to: query.to === '' ? '' : `To: ${formatDay(query.to)}`,
    feedback: `Feedback: ${translateText(labelOf(feedbackOptions, query.feedback))}`,
    who: `Who: ${translateText(labelOf(whoOptions, query.who))}`,
  };
}

/** Deletes the checked conversations. */
async function changeSelected(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const ids = readTextIds(request);
  if (request.form['do'] !== 'delete') throw notSelected();
  let deleted = 0;
  for (const uuid of ids) {
    const conversation = await parts.conversations.find(uuid);
    if (conversation !== null && (await deleteConversation(parts, conversation))) deleted += 1;
  }
  request.log.info('Conversations deleted', {
    event: 'conversations_deleted',
    conversations: deleted,
    by: request.user.id,
  });
  const { redirect } = backToList(request, 'svc/logs', Object.keys(readLogsQuery({})));
  return deleted === 0
    ? withNotice('info', 'These conversations no longer exist.', { redirect })
    : withNotice('success', `${formatCount(deleted, 'conversation')} deleted, including the forms submitted in them.`, {
        redirect,
      });
}

async function nextStep(
  parts: ChatbotParts,
): Promise<{ readonly text: string; readonly href: string; readonly label: string }> {
  if (await parts.bots.isEmpty())
    return {
      text: 'Conversations of visitors with chatbots appear here. Create a chatbot first.',
      href: parts.host.admin.url('svc/bots'),
      label: 'Create a chatbot',
    };
  return {
    text: 'Conversations of visitors with your chatbots appear here. Put one on a page and say hello.',
    href: parts.host.admin.url('svc/bots'),
    label: 'View chatbots',
  };
}

const formatDay = (day: string): string => formatDate(day, 'date', 'UTC');

interface ChartInit {
  readonly filter: LogFilter;
  readonly query: LogsQuery;
  readonly timezone: string;
  readonly now: number;
}

async function buildChart(logs: Logs, { filter, query, timezone, now }: ChartInit): Promise<Record<string, unknown>> {
  const dayOf = (time: number): string => localDay(time, timezone);
  const last = query.to !== '' && query.to < dayOf(now) ? query.to : dayOf(now);
  const usual = addDays(last, 1 - defaultDays);
  const earliest = addDays(last, 1 - maxDays);
  const first = query.from === '' ? usual : query.from > last ? last : query.from < earliest ? earliest : query.from;
  const perDay = await logs.perDay(
    { ...filter, from: Math.max(filter.from ?? 0, Math.floor(Date.parse(`${first}T00:00:00Z`) / 1000) - 15 * 3600) },
    dayOf,
  );
  const days: ChartDay[] = [];
  for (let day = first; day <= last; day = addDays(day, 1)) days.push({ day, value: perDay.get(day) ?? 0, failed: 0 });
  const title = ({ day, value }: ChartDay): string => `${formatDay(day)}: ${formatCount(value, 'conversation')}`;
  return {
    title: 'Conversations per day',
    description:
      `One bar per day from ${formatDay(first)} to ${formatDay(last)}, by the last message. ` +
      'The table below shows the same figures.',
    pictures: drawCharts({ days, whole: true, format: formatShortNumber, title }),
    rows: days
      .filter(({ value }) => value > 0)
      .reverse()
      .map(({ day, value }) => ({ day: formatDay(day), value })),
  };
}
