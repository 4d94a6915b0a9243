import type { BotSettings, Bot } from '../bots/bot.ts';

/** Slugs of the pages. */
export const botsSlug = 'svc/bots';
export const newBotSlug = 'svc/bots/new';
export const editSlug = 'svc/bots/edit';
export const rulesSlug = 'svc/bots/rules';
export const ruleSlug = 'svc/bots/rule';
export const formsSlug = 'svc/bots/forms';
export const formSlug = 'svc/bots/form';
/** Of the logs, which stand beside the chatbots. */
export const logsSlug = 'svc/logs';

/** Whether a bot answers, as a badge. */
export function statusBadge(status: BotSettings['status']): {
  readonly text: string;
  readonly kind: 'success' | 'info';
} {
  return status === 'active' ? { text: 'Active', kind: 'success' } : { text: 'Inactive', kind: 'info' };
}

/** Where a bot may be shown, in a word or two (D16). */
export function embedLabel({ enabled, any_site: anySite, allowed_domains: domains }: Bot['embed']): string {
  if (!enabled) return 'not embedded';
  if (anySite) return 'on any site';
  if (domains.length === 0) return 'on this site';
  return domains.length === 1 ? `on ${domains[0] ?? ''}` : `on ${String(domains.length)} sites`;
}
