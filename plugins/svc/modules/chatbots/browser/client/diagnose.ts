import type { Failure } from './failure.ts';
import type { Attempt } from './report.ts';

/** Why a call failed, and how to fix it. */
export async function diagnose(failure: Failure, attempt: Attempt): Promise<string> {
  return failure.status === 0 ? describeNoResponse(attempt) : describeErrorResponse(failure, attempt);
}

function describeErrorResponse({ status, code, message }: Failure, { root, botId }: Attempt): string {
  const detail = `(${status} ${code}${message && `: ${message}`})`;
  if (status === 404 && code === 'rest_no_route')
    return `There is no chatbot service at ${root} ${detail}. Is the plugin "svc" active on that site?`;
  if (status === 404)
    return `There is no active chatbot ${botId} at ${root} ${detail}. Check the id in data-bot and the status of the bot.`;
  if (/origin_not_allowed$/.test(code)) return notAllowed(botId, detail);
  if (status === 429) return `The service at ${root} got too many requests ${detail}. Try again later.`;
  if (status < 500) return `The service at ${root} rejected the request ${detail}.`;
  return `The service at ${root} failed ${detail}. Search its log for the X-Request-Id of the response.`;
}

function notAllowed(botId: string, detail: string): string {
  return (
    `This page (${location.origin}) may not show chatbot ${botId} ${detail}. ` +
    `In the bot's settings, section "Embedding", turn embedding on and add ${location.host} to "Allowed domains".`
  );
}

async function describeNoResponse({ root, botId, blocked }: Attempt): Promise<string> {
  const { origin, protocol } = new URL(root, location.href);
  if (blocked?.startsWith(origin))
    return `The Content-Security-Policy of this page blocks ${origin}. Add ${origin} to its directive connect-src.`;
  if (location.protocol === 'https:' && protocol === 'http:')
    return `Browsers block ${root} on an https page. Use its https address in the script tag.`;
  const reachable = await fetch(`${root}/svc-widget/v1/widget.css`, { mode: 'no-cors', credentials: 'omit' }).then(
    () => true,
    () => false,
  );
  if (reachable) return notAllowed(botId, '(its response has no Access-Control-Allow-Origin for this origin)');
  return `No response from ${root}. Check the address in the script tag, and whether the site is running or a content blocker interferes.`;
}
