import { isUrl, type HostApi } from '#plugin-api';
import { typedInternalHost } from '../../../kit/internal-host.ts';
import type { RuleCall } from '../hooks.ts';

/** Milliseconds, for the whole exchange. */
const timeout = 5_000;
/** The response is not used. */
const maxBytes = 16_384;

/** A rule of type `call_url` that matched. */
export interface UrlCall {
  /** Id of the rule. */
  readonly rule: string;
  readonly url: string;
  readonly call: RuleCall;
}

/**
 * Sends the facts of a rule as JSON to its URL: once, within 5 s, guarded as every outbound request (D23). Only an address
 * that an administrator typed may be in a private network. Never throws: a failure is logged.
 */
export async function callUrl(
  { http, log }: Pick<HostApi, 'http' | 'log'>,
  { rule, url, call }: UrlCall,
): Promise<void> {
  const { bot, user, ...facts } = call;
  const allowHost = typedInternalHost(url);
  try {
    const { status } = await http.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', accept: 'application/json' },
      body: JSON.stringify({
        ...facts,
        rule,
        bot: { id: bot.id, name: bot.name },
        user: { id: user.id, display_name: user.displayName, roles: user.roles },
      }),
      timeout,
      redirects: 2,
      sameOriginOnly: true,
      maxBytes,
      truncate: true,
      ...(allowHost !== null && { allowHost }),
    });
    if (status >= 200 && status < 300) return;
    log.warn('The URL of a rule refused the request', { event: 'rule_url_refused', bot_id: bot.id, rule, status });
  } catch (error) {
    log.warn('Failed to call the URL of a rule', { event: 'rule_url_failed', bot_id: bot.id, rule, error });
  }
}

/** Why a URL cannot be called, as the end of a sentence, or null. */
export function urlError(text: string): string | null {
  if (!/^https?:\/\//i.test(text) || !isUrl(text)) return 'must be an http or https URL';
  const { username, password } = new URL(text);
  return username === '' && password === '' ? null : 'must not contain a user name or password';
}
