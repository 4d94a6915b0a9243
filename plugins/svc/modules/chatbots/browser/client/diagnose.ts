import type { Failure } from './failure.ts';

export interface Attempt {
  readonly root: string;
  readonly botId: string;
}

let blocked: string | null = null;
addEventListener('securitypolicyviolation', (event) => {
  if (event.effectiveDirective === 'connect-src') blocked = event.blockedURI;
});

/** Writes one line to the console: the problem and its fix. */
export function reportProblem(text: string): void {
  console.error(`[svc chatbot] ${text}`);
}

/** Writes to the console why a call failed, and how to fix it. */
export async function reportFailure(failure: Failure, attempt: Attempt): Promise<void> {
  reportProblem(failure.status === 0 ? await describeNoResponse(attempt) : describeErrorResponse(failure, attempt));
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

async function describeNoResponse({ root, botId }: Attempt): Promise<string> {
  const { origin, protocol } = new URL(root, location.href);
  // The violation event arrives shortly after the call has failed.
  await new Promise((resolve) => setTimeout(resolve, 100));
  if (!navigator.onLine) return 'The browser is offline. The chatbot appears when the connection is back.';
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
