import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import { botActivity, type BotActivity } from './bot-activity.ts';
import type { RefusedImport } from '../../../admin-ui/transfer-actions.ts';
import { readyModel } from '../../../settings/ready-model.ts';
import { editSlug, embedWords, logsSlug, newBotSlug, statusBadge } from './bot-pages.ts';

/** The data of `svc/bots`. */
export async function botsView(parts: ChatbotParts, refused?: RefusedImport): Promise<Record<string, unknown>> {
  const { host, settings } = parts;
  const bots = await parts.bots.list();
  const [ready, sandbox, activity] = await Promise.all([
    readyModel(parts),
    settings.sandbox.isOn(),
    bots.length === 0 ? new Map<number, BotActivity>() : botActivity(host),
  ]);
  const labels = new Map(parts.providers.all().map(({ id, label }) => [id, label]));
  return {
    bots: bots.map((bot) => ({
      ...card(bot, labels),
      conversations: activity.get(bot.id)?.conversations ?? 0,
      lastActivity: activity.get(bot.id)?.lastMessageAt,
      editHref: `${host.admin.url(editSlug)}?id=${String(bot.id)}`,
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

function card(bot: Bot, labels: ReadonlyMap<string, string>): Record<string, unknown> {
  const active = bot.status === 'active';
  return {
    id: bot.id,
    title: bot.name,
    badge: statusBadge(bot.status),
    model: `${labels.get(bot.provider) ?? bot.provider}${bot.model === '' ? '' : `, ${bot.model}`}`,
    embed: embedWords(bot.embed),
    knowledge: bot.knowledge.enabled,
    rules: bot.rules.length,
    forms: bot.forms.length,
    switchLabel: active ? 'Deactivate' : 'Activate',
    idFields: { id: bot.id },
    switchFields: { id: bot.id, status: active ? 'inactive' : 'active' },
  };
}
