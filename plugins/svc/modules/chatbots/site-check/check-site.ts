import { DocumentError, isUrl, type OutboundResponse } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import { mayEmbed, namedOrigin } from '../../../kit/visitors/origin.ts';
import { widgetNamespace } from '../widget/protocol.ts';
import { checkOwnSite } from './check-own.ts';
import { checkPolicies } from './check-policies.ts';
import { checkSnippet, findSnippet } from './check-snippet.ts';
import type { RequiredSource } from './content-security-policy.ts';
import { fetchPage, parseTypedUrl } from './fetch-page.ts';
import { createFinding, type Finding, type SiteReport } from './finding.ts';
import type { parsePage } from './page.reader.ts';

export interface SiteCheckInput {
  /** As typed by the administrator. */
  readonly address: string;
  readonly bot: Bot;
  /** Whether host names may resolve to private network addresses (D23). */
  readonly allowInternal?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The script tag that shows a bot on a page. */
export function createSnippet(script: string, bot: Pick<Bot, 'id'>): string {
  return `<script src="${script}" data-bot="${String(bot.id)}" async></script>`;
}

/** Checks everything that can stop a visitor's browser from showing the bot. Each finding says how to fix it. */
export async function checkSite(
  parts: ChatbotParts,
  { address, bot, allowInternal = false, signal }: SiteCheckInput,
): Promise<SiteReport> {
  const url = parseTypedUrl(address);
  if (url === null) {
    const text = 'Enter the URL of a page, like https://shop.example.com/contact, without a user name or password.';
    return report(address, address, [{ id: 'address', title: 'URL', verdict: 'failed', text }]);
  }
  const { response, findings } = await fetchPage(parts.host.http, url, { allowInternal, signal });
  const landed = new URL(response?.url ?? url.href);
  const reached = [...findings, botFinding(bot), originFinding(parts, bot, landed)];
  if (response === null || response.status >= 400) return report(url.href, landed.href, reached);
  return report(url.href, landed.href, [...reached, ...(await pageFindings(parts, { bot, response, landed, signal }))]);
}

function report(url: string, landed: string, findings: readonly Finding[]): SiteReport {
  return { url, landed, findings, ok: findings.every(({ verdict }) => verdict !== 'failed') };
}

function botFinding({ id, name, status, embed }: Bot): Finding {
  const finding = createFinding('bot', 'Chatbot');
  if (status !== 'active')
    return finding('failed', `${name} (${String(id)}) is inactive, so visitors cannot use it. Activate it.`);
  if (!embed.enabled)
    return finding('failed', `Embedding is off for ${name} (${String(id)}). Turn on "Allow embedding".`);
  return finding('passed', `${name} (${String(id)}) is active and allows embedding.`);
}

function originFinding({ host }: ChatbotParts, { embed }: Bot, { origin }: URL): Finding {
  const title = 'Origin allowed';
  const named = namedOrigin(origin, host.site.url);
  if (mayEmbed({ ...embed, enabled: true }, named)) {
    const why = named.isOwn
      ? 'it is this site'
      : embed.any_site
        ? 'any site may show this chatbot'
        : 'it is on the list of allowed domains';
    return { id: 'origin', title, verdict: 'passed', text: `${origin} may show the chatbot: ${why}.` };
  }
  const text =
    `${origin} may not show this chatbot, so its visitors do not see it. ` +
    'Add this line to the allowed domains of the chatbot, or turn on "Any site".';
  return { id: 'origin', title, verdict: 'failed', text, copy: { label: 'allowed domain', value: origin } };
}

interface LandedPage {
  readonly bot: Bot;
  readonly response: OutboundResponse;
  readonly landed: URL;
  readonly signal: AbortSignal | undefined;
}

async function pageFindings(parts: ChatbotParts, { bot, response, landed, signal }: LandedPage): Promise<Finding[]> {
  const { host } = parts;
  const type = response.headers['content-type'] ?? '';
  const script = new URL(host.rest.url(`/${widgetNamespace}/widget.js`));
  const start = new URL(host.rest.url(`/${widgetNamespace}/bots/${String(bot.id)}/start`));
  const own = [
    ...(await checkOwnSite({ http: host.http, script, start, origin: landed.origin })),
    mixedFinding(landed, script),
  ];
  if (!/html/i.test(type))
    return [
      {
        id: 'html',
        title: 'HTML',
        verdict: 'failed',
        text: `The URL returns ${type === '' ? 'no content type' : type}, not HTML. Enter the URL of a page.`,
      },
      ...own,
    ];
  const page = await host.documents
    .read<typeof parsePage>({
      module: new URL('./page.reader.ts', import.meta.url),
      reader: 'parsePage',
      input: { html: response.text(), address: landed.href },
      signal,
    })
    .catch((error: unknown) => {
      if (error instanceof DocumentError) return error.message;
      throw error;
    });
  if (typeof page === 'string') return [{ id: 'html', title: 'HTML', verdict: 'failed', text: page }, ...own];
  const nonce = findSnippet(page)[0]?.attributes['nonce'];
  const required: RequiredSource[] = [
    { directive: 'script-src', url: script, nonce },
    { directive: 'connect-src', url: start },
    ...pictures(bot, script),
  ];
  const policies = checkPolicies({
    page: landed,
    header: response.headers['content-security-policy'],
    reportOnly: response.headers['content-security-policy-report-only'],
    metas: page.policies,
    required,
  });
  const bots = await parts.bots.summaries();
  return [checkSnippet(page, { bot, bots, script, snippet: createSnippet(script.href, bot) }), ...own, ...policies];
}

/** The bot's picture, if it has one. */
function pictures({ look: { avatar_url: picture } }: Bot, script: URL): RequiredSource[] {
  return picture !== '' && isUrl(picture, script.href) ? [{ directive: 'img-src', url: new URL(picture, script) }] : [];
}

function mixedFinding(page: URL, script: URL): Finding {
  const finding = createFinding('mixed', 'https');
  if (page.protocol !== 'https:' || script.protocol === 'https:')
    return finding(
      'passed',
      page.protocol === 'https:'
        ? 'The page and the chatbot use https.'
        : 'The page does not use https, so it can load the chatbot either way.',
    );
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(script.hostname);
  if (isLocal)
    return finding(
      'warning',
      `The page uses https, but this site is ${script.origin}, which works only in browsers on this machine. ` +
        'Serve this site over https and set SITE_URL to its URL.',
    );
  return finding(
    'failed',
    `The page uses https, but this site uses http: browsers refuse to load ${script.origin} (mixed content). ` +
      'Serve this site over https and set SITE_URL to its URL.',
  );
}
