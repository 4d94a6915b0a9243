import { formatCount, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, HostApi } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { recordActions, recordRow, statusBadge } from '../../../admin-ui/record-actions.ts';
import { assistantList, inOrder, type AssistantListRequest } from '../../../admin-ui/record-list.ts';
import { botTransfer } from '../bots/bot-store.ts';
import { findBotInForm } from './bot-request.ts';
import { embedLabel } from './bot-head.ts';
import { botsSlug, editSlug, logsSlug, newBotSlug, submissionsSlug } from './bot-page-slugs.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import { connectedProviders } from '../../../settings/provider-users.ts';
import { botTemplates, embeddedHere } from './bot-templates.ts';
import type { Bot } from '../bots/bot.ts';
import { tables } from '../conversations/conversation-tables.ts';

const template = 'svc/bots';

/** The list of chatbots: create, duplicate, activate, export, import and delete them. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async ({ query }) => ({ template, data: await botsView(parts, { query }) }),
    actions: {
      first: () => createFirstBot(parts),
      'first-sandbox': async () => {
        await parts.settings.sandbox.set(true);
        return createFirstBot(parts);
      },
      ...recordActions({
        store: parts.bots,
        find: (request) => findBotInForm(parts, request),
        transfer: botTransfer,
        page: async (refused) => ({ template, data: await botsView(parts, { query: {}, refused }) }),
        editSlug,
        listSlug: botsSlug,
        fileNames: { one: ({ id }) => `chatbot-${String(id)}`, all: 'chatbots' },
        texts: {
          inactive: 'Visitors cannot use it.',
          duplicated: (name) => `"${name}" created. It is inactive until you activate it.`,
          count: (count) => formatCount(count, 'chatbot'),
          deleted: (name) => `${name} deleted. The conversations stay in the logs.`,
          imported: (count) => `${formatCount(count, 'chatbot')} imported.`,
        },
      }),
    },
  };
}

/** Creates a bot that uses the connected provider. A second click opens the bot that exists. */
async function createFirstBot(parts: ChatbotParts): Promise<AdminActionResult> {
  const { bots } = parts;
  const [existing] = await bots.summaries();
  if (existing)
    return withNotice('info', `You already have a chatbot: ${existing.name}.`, {
      redirect: `${editSlug}?id=${String(existing.id)}`,
    });
  const ready = await findReadyModel(parts);
  const bot = await bots.create({ ...botTemplates[0]?.settings, ...embeddedHere, ...ready, name: 'Assistant' });
  return {
    notice: ready
      ? { kind: 'success', text: `${bot.name} is ready. Ask it something in the preview.` }
      : {
          kind: 'warning',
          text: `"${bot.name}" created. It cannot answer until you connect a provider or turn the sandbox on.`,
        },
    redirect: `${editSlug}?id=${String(bot.id)}`,
  };
}

/** The data of `svc/bots`. */
async function botsView(
  parts: ChatbotParts,
  { query, refused }: AssistantListRequest,
): Promise<Record<string, unknown>> {
  const { host, settings } = parts;
  const bots = await parts.bots.summaries();
  const [ready, sandbox, unread, activity] = await Promise.all([
    findReadyModel(parts),
    settings.sandbox.isOn(),
    parts.submissions.countNew(),
    bots.length === 0 ? new Map<number, BotActivity>() : readActivity(host),
  ]);
  const connected = sandbox ? null : await connectedProviders(parts);
  const labels = new Map(parts.providers.all().map(({ id, label }) => [id, label]));
  const list = assistantList(
    { query },
    {
      items: bots,
      columns: [
        { label: 'Conversations', key: 'conversations', isNumber: true },
        { label: 'Last activity', key: 'lastActivity' },
        { label: 'Shown' },
      ],
      values: ({ id }) => ({
        conversations: activity.get(id)?.conversations ?? 0,
        lastActivity: activity.get(id)?.lastMessageAt ?? null,
      }),
      count: (count) => formatCount(count, 'chatbot'),
      question: 'Delete the selected chatbots? Pages no longer show them. Their conversations stay in the logs.',
    },
  );
  return {
    total: bots.length,
    ...list,
    bots: (await inOrder(parts.bots, list.rows)).map((bot) => ({
      ...botRow(bot, labels),
      ...(bot.status === 'active' && connected?.has(bot.provider) === false && { badge: cannotAnswer }),
      conversations: activity.get(bot.id)?.conversations ?? 0,
      lastActivity: activity.get(bot.id)?.lastMessageAt,
      editHref: `${host.admin.url(editSlug)}?id=${String(bot.id)}`,
      unread: unread.get(bot.id) ?? 0,
      unreadHref: `${host.admin.url(submissionsSlug)}?bot=${String(bot.id)}&state=new`,
      logsHref: `${host.admin.url(logsSlug)}?bot=${String(bot.id)}`,
      checkHref: `${host.admin.url('svc/check-site')}?bot=${String(bot.id)}`,
    })),
    several: bots.length > 1,
    newHref: host.admin.url(newBotSlug),
    setupHref: host.admin.url('svc/setup'),
    canAnswer: ready !== null,
    sandboxOffered: !sandbox && (await settings.sandbox.isAvailable()),
    refused,
  };
}

/** Its provider is not connected. */
const cannotAnswer = { text: 'Cannot answer', kind: 'error' } as const;

function botRow(bot: Bot, labels: ReadonlyMap<string, string>): Record<string, unknown> {
  return {
    ...recordRow(bot),
    badge: statusBadge(bot.status),
    model: `${labels.get(bot.provider) ?? bot.provider}${bot.model === '' ? '' : `, ${bot.model}`}`,
    embed: embedLabel(bot.embed),
    extras: [
      ...(bot.rules.length > 0 ? [formatCount(bot.rules.length, 'rule')] : []),
      ...(bot.forms.length > 0 ? [formatCount(bot.forms.length, 'form')] : []),
      ...(bot.knowledge.enabled ? ['knowledge'] : []),
    ].join(', '),
  };
}

interface BotActivity {
  readonly conversations: number;
  /** Milliseconds since the epoch. */
  readonly lastMessageAt: number;
}

/** The number of conversations and the last message of each bot, read from one index. Bots without conversations are left out. */
async function readActivity({ database }: Pick<HostApi, 'database'>): Promise<ReadonlyMap<number, BotActivity>> {
  const rows = await database
    .knex(tables.conversations)
    .select<{ bot_id: number | string; conversations: number | string; last: number | string }[]>(
      'bot_id',
      database.knex.raw('count(*) as conversations'),
      database.knex.raw('max(last_message_at) as last'),
    )
    .groupBy('bot_id');
  return new Map(
    rows.map((row) => [
      Number(row.bot_id),
      { conversations: Number(row.conversations), lastMessageAt: Number(row.last) },
    ]),
  );
}
