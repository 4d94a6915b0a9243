import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import { botsSlug, editSlug, embedLabel, formsSlug, logsSlug, rulesSlug, statusBadge } from './bot-page-slugs.ts';

/** Parts of the editor that are one form; each is an anchor of its page. */
export const editorSections = [
  { id: 'basics', label: 'Basics' },
  { id: 'knowledge', label: 'Knowledge' },
  { id: 'look', label: 'Look' },
  { id: 'texts', label: 'Texts' },
  { id: 'limits', label: 'Limits' },
  { id: 'safety', label: 'Privacy and safety' },
  { id: 'embed', label: 'Embedding' },
] as const;

/** The data of `svc/bot-head`, which stands above every page about one bot. */
export function botHead(
  host: Pick<HostApi, 'admin'>,
  bot: Bot,
  current: 'settings' | 'rules' | 'forms',
): Record<string, unknown> {
  const edit = `${host.admin.url(editSlug)}?id=${String(bot.id)}`;
  return {
    name: bot.name,
    id: bot.id,
    badge: statusBadge(bot.status),
    embed: embedLabel(bot.embed),
    listHref: host.admin.url(botsSlug),
    logsHref: `${host.admin.url(logsSlug)}?bot=${String(bot.id)}`,
    tabs: [
      ...editorSections.map(({ id, label }) => ({
        label,
        href: current === 'settings' ? `#${id}` : `${edit}#${id}`,
        section: current === 'settings' ? id : '',
      })),
      {
        label: 'Rules',
        href: `${host.admin.url(rulesSlug)}?bot=${String(bot.id)}`,
        count: bot.rules.length,
        current: current === 'rules',
      },
      {
        label: 'Forms',
        href: `${host.admin.url(formsSlug)}?bot=${String(bot.id)}`,
        count: bot.forms.length,
        current: current === 'forms',
      },
    ],
  };
}

/** The data of `svc/bot-preview`: the widget itself, beside what is edited. */
export function botPreview(host: Pick<HostApi, 'rest'>, bot: Bot): Record<string, unknown> {
  return {
    id: bot.id,
    note: silence(bot),
    script: host.rest.url('/svc-widget/v1/widget.js'),
    settings: {
      id: bot.id,
      name: bot.name,
      greeting: bot.greeting,
      starters: bot.starters,
      look: bot.look,
      texts: bot.texts,
      consent: bot.consent,
      feedback: bot.feedback,
      keeps: bot.privacy.keep,
    },
  };
}

/** Why nobody can talk to the bot, and what to do about it; empty: they can. */
function silence({ status, embed }: Bot): string {
  if (status === 'inactive') return 'It is inactive. Make it active under Basics and save, then it answers here.';
  return embed.enabled ? '' : 'It may not be embedded. Switch that on under Embedding and save, then it answers here.';
}
