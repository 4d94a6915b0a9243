import type { Failure } from './failure.ts';

export interface Attempt {
  readonly root: string;
  readonly botId: string;
}

let blocked: string | null = null;
addEventListener('securitypolicyviolation', (event) => {
  if (event.effectiveDirective === 'connect-src') blocked = event.blockedURI;
});

/** One line in the console that says what is wrong and how to mend it. */
export function complain(text: string): void {
  console.error(`[svc chatbot] ${text}`);
}

/** Says in the console why the server could not be used, and what to do about it. */
export async function explain(failure: Failure, attempt: Attempt): Promise<void> {
  complain(failure.status === 0 ? await silenceOf(attempt) : refusalOf(failure, attempt));
}

function refusalOf({ status, code, message }: Failure, { root, botId }: Attempt): string {
  const said = `(${status} ${code}${message && `: ${message}`})`;
  if (status === 404 && code === 'rest_no_route')
    return `There is no chatbot service at ${root} ${said}. Is the plugin "svc" active on that site?`;
  if (status === 404)
    return `There is no active chatbot ${botId} at ${root} ${said}. Check the number in data-bot, and that the bot's status is "active".`;
  if (/origin_not_allowed$/.test(code)) return notAllowed(botId, said);
  if (status === 429) return `The service at ${root} is asked too often ${said}. It works again in a while.`;
  if (status < 500) return `The service at ${root} refused the page's call ${said}.`;
  return `The service at ${root} failed ${said}. Its log tells more; the header X-Request-Id of the answer leads to the line.`;
}

function notAllowed(botId: string, said: string): string {
  return `This page (${location.origin}) may not show chatbot ${botId} ${said}. Add ${location.host} to "Allowed domains" in the settings of the bot, section "Embedding", and see that embedding is switched on there.`;
}

async function silenceOf({ root, botId }: Attempt): Promise<string> {
  const { origin, protocol } = new URL(root, location.href);
  // The event of a policy comes a little after the call has failed.
  await new Promise((resolve) => setTimeout(resolve, 100));
  if (!navigator.onLine) return `The browser is offline; the chatbot appears when the connection is back.`;
  if (blocked?.startsWith(origin))
    return `The Content-Security-Policy of this page does not let it connect to ${origin}. Add ${origin} to its directive connect-src.`;
  if (location.protocol === 'https:' && protocol === 'http:')
    return `This page is https, the chatbot's address ${root} is not, and browsers block that. Use the https address in the script tag.`;
  const reachable = await fetch(`${root}/svc-widget/v1/widget.css`, { mode: 'no-cors', credentials: 'omit' }).then(
    () => true,
    () => false,
  );
  if (reachable) return notAllowed(botId, '(its answer names this origin in no Access-Control-Allow-Origin)');
  return `No answer from ${root}. Is the address in the script tag right, and does the site run? A blocker of content in the browser may be the reason as well.`;
}
