import { isUrl, type OutboundResponse } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import { mayEmbed, namedOrigin } from '../../../kit/visitors/origin.ts';
import { widgetNamespace } from '../widget/protocol.ts';
import { checkOwnSite } from './check-own.ts';
import { checkPolicies } from './check-policies.ts';
import { checkSnippet, findSnippet } from './check-snippet.ts';
import type { Wanted } from './content-security-policy.ts';
import { fetchPage, typedAddress } from './fetch-page.ts';
import type { Finding, SiteReport } from './finding.ts';
import { readPage } from './read-page.ts';

export interface SiteCheckInput {
  /** As it was typed. */
  readonly address: string;
  readonly bot: Bot;
  /** Names that lead into a private network may be followed (D23). */
  readonly allowInternal?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The line that puts a bot on a page. */
export function snippetOf(script: string, bot: Pick<Bot, 'id'>): string {
  return `<script src="${script}" data-bot="${String(bot.id)}" async></script>`;
}

/** Finds out why a page does or does not show a bot: everything that a visitor's browser would stumble over, each with its remedy. */
export async function checkSite(
  parts: ChatbotParts,
  { address, bot, allowInternal = false, signal }: SiteCheckInput,
): Promise<SiteReport> {
  const url = typedAddress(address);
  if (url === null) {
    const text =
      'This is no address of a page. It looks like https://shop.example.com/contact, without a user name or password in it.';
    return report(address, address, [{ id: 'address', title: 'Address', verdict: 'failed', text }]);
  }
  const { response, findings } = await fetchPage(parts.host.http, url, { allowInternal, signal });
  const landed = new URL(response?.url ?? url.href);
  const reached = [...findings, botFinding(bot), originFinding(parts, bot, landed)];
  if (response === null || response.status >= 400) return report(url.href, landed.href, reached);
  return report(url.href, landed.href, [...reached, ...(await pageFindings(parts, { bot, response, landed }))]);
}

function report(url: string, landed: string, findings: readonly Finding[]): SiteReport {
  return { url, landed, findings, ok: findings.every(({ verdict }) => verdict !== 'failed') };
}

function botFinding({ id, name, status, embed }: Bot): Finding {
  const finding = (verdict: Finding['verdict'], text: string): Finding => ({
    id: 'bot',
    title: 'Chatbot',
    verdict,
    text,
  });
  if (status !== 'active')
    return finding('failed', `${name} (${String(id)}) is not active, so it answers nobody. Switch it on.`);
  if (!embed.enabled)
    return finding('failed', `${name} (${String(id)}) may not be embedded. Turn its switch "Embedding" on.`);
  return finding('passed', `${name} (${String(id)}) is active and may be embedded.`);
}

function originFinding({ host }: ChatbotParts, { embed }: Bot, { origin }: URL): Finding {
  const title = 'Origin allowed';
  const named = namedOrigin(origin, host.site.url);
  if (mayEmbed({ ...embed, enabled: true }, named)) {
    const why = named.isOwn
      ? 'it is this site itself'
      : embed.any_site
        ? 'any site may show this chatbot'
        : 'it is on the list of allowed domains';
    return { id: 'origin', title, verdict: 'passed', text: `${origin} may show the chatbot: ${why}.` };
  }
  const text = `${origin} may not show this chatbot, so its visitors get nothing. Add this line to the allowed domains of the chatbot, or tick "any site".`;
  return { id: 'origin', title, verdict: 'failed', text, copy: { label: 'allowed domain', value: origin } };
}

interface LandedPage {
  readonly bot: Bot;
  readonly response: OutboundResponse;
  readonly landed: URL;
}

async function pageFindings(parts: ChatbotParts, { bot, response, landed }: LandedPage): Promise<Finding[]> {
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
        text: `The address answers ${type === '' ? 'something without a type' : type}, not a page of HTML. Check the address of a page.`,
      },
      ...own,
    ];
  const page = readPage(response.text(), landed);
  const nonce = findSnippet(page)[0]?.attributes['nonce'];
  const wanted: Wanted[] = [
    { directive: 'script-src', url: script, nonce },
    { directive: 'connect-src', url: start },
    ...pictures(bot, script),
  ];
  const policies = checkPolicies({
    page: landed,
    header: response.headers['content-security-policy'],
    reportOnly: response.headers['content-security-policy-report-only'],
    metas: page.policies,
    wanted,
  });
  const bots = await parts.bots.list();
  return [checkSnippet(page, { bot, bots, script, snippet: snippetOf(script.href, bot) }), ...own, ...policies];
}

/** The bot's own picture, where it has one. */
function pictures({ look: { avatar_url: picture } }: Bot, script: URL): Wanted[] {
  return picture !== '' && isUrl(picture, script.href) ? [{ directive: 'img-src', url: new URL(picture, script) }] : [];
}

function mixedFinding(page: URL, script: URL): Finding {
  const finding = (verdict: Finding['verdict'], text: string): Finding => ({
    id: 'mixed',
    title: 'https',
    verdict,
    text,
  });
  if (page.protocol !== 'https:' || script.protocol === 'https:')
    return finding(
      'passed',
      page.protocol === 'https:'
        ? 'Page and chatbot are both on https.'
        : 'The page is not on https, so it may load the chatbot either way.',
    );
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(script.hostname);
  if (isLocal)
    return finding(
      'warning',
      `The page is on https, this site on ${script.origin}: it works in browsers on this machine alone. For visitors serve this site over https, and set SITE_URL to that address.`,
    );
  return finding(
    'failed',
    `The page is on https, but this site on http: browsers refuse to load ${script.origin} there (mixed content). Serve this site over https, and set SITE_URL to that address.`,
  );
}
