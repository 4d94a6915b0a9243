import type { FieldErrors, HostApi } from '#plugin-api';
import { statusBadge } from '../../../admin-ui/record-actions.ts';
import type { Bot } from '../bots/bot.ts';
import { editSlug, formsSlug, logsSlug, rulesSlug } from './bot-page-slugs.ts';

/** Sections of the editor. They share one form; each has an anchor. */
export const editorSections = [
  { id: 'basics', label: 'Basics' },
  { id: 'knowledge', label: 'Knowledge' },
  { id: 'look', label: 'Look' },
  { id: 'texts', label: 'Texts' },
  { id: 'limits', label: 'Limits' },
  { id: 'safety', label: 'Privacy and safety' },
  { id: 'embed', label: 'Embedding' },
] as const;

/** The data of `svc/bot-head`, the header of every page about one bot. */
export function botHead(
  host: Pick<HostApi, 'admin'>,
  bot: Bot,
  current: 'settings' | 'rules' | 'forms',
): Record<string, unknown> {
  const edit = `${host.admin.url(editSlug)}?id=${String(bot.id)}`;
  return {
    id: bot.id,
    badge: statusBadge(bot.status),
    embed: embedLabel(bot.embed),
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

/** The breadcrumbs of a page about a part of a bot. */
export function botTrail(
  host: Pick<HostApi, 'admin'>,
  bot: Bot,
  part?: 'rules' | 'forms',
): { title: string; href: string }[] {
  const trail = [{ title: bot.name, href: `${host.admin.url(editSlug)}?id=${String(bot.id)}` }];
  if (part === undefined) return trail;
  const [title, slug] = part === 'rules' ? ['Rules', rulesSlug] : ['Forms', formsSlug];
  return [...trail, { title, href: `${host.admin.url(slug)}?bot=${String(bot.id)}` }];
}

/** The data of `svc/bot-preview`: the widget beside the editor. */
export function botPreview(host: Pick<HostApi, 'rest'>, bot: Bot): Record<string, unknown> {
  return {
    id: bot.id,
    note: unavailableNote(bot),
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

/** Why visitors cannot use the bot, and what to do about it. An empty text if they can. */
function unavailableNote({ status, embed }: Bot): string {
  if (status === 'inactive') return 'This chatbot is inactive. Set it to active under Basics and save to try it here.';
  return embed.enabled ? '' : 'Embedding is off. Turn it on under Embedding and save to try the chatbot here.';
}

/** Where a bot may be shown, in a few words (D16). */
export function embedLabel({ enabled, any_site: anySite, allowed_domains: domains }: Bot['embed']): string {
  if (!enabled) return 'not embedded';
  if (anySite) return 'on any site';
  if (domains.length === 0) return 'on this site';
  return domains.length === 1 ? `on ${domains[0] ?? ''}` : `on ${String(domains.length)} sites`;
}

/** The data of every page of one rule or form of a bot. */
export function botPartView(host: Pick<HostApi, 'admin' | 'rest'>, bot: Bot, { part, errors }: BotPart) {
  return {
    head: botHead(host, bot, part),
    preview: botPreview(host, bot),
    bot: bot.id,
    // Errors that belong to no field of the page.
    others: Object.entries(errors)
      .filter(([path]) => /^(rules|forms)\[/.test(path))
      .map(([, sentence]) => sentence),
  };
}

/** What a form for a rule or a form of a bot contains, with what is wrong with it. */
export interface TypedPart<Draft> {
  readonly draft: Draft;
  readonly errors?: FieldErrors;
}

interface BotPart {
  readonly part: 'rules' | 'forms';
  readonly errors: FieldErrors;
}
