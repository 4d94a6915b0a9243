import type { AdminPageBody } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Bot } from '../bots/bot.ts';
import { mayEmbed, namedOrigin } from '../../../kit/visitors/origin.ts';
import { checkSite } from '../site-check/check-site.ts';
import type { Finding, SiteReport } from '../site-check/finding.ts';
import { findBotInForm } from './bot-request.ts';
import { editSlug } from './bot-page-slugs.ts';

interface DemoSite {
  /** Another one than the site's, for example `http://127.0.0.1:40213`. */
  readonly origin: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** A made-up shop on another origin of this machine, whose page `/?bot=<id>` shows a bot by its script tag; asked when "Check my site" is opened. Null: there is none. */
    svc_chatbot_pretend_shop: (shop: DemoSite | null) => DemoSite | null;
  }
}

const template = 'svc/site-check';

interface Entered {
  readonly bot: string;
  readonly address: string;
  readonly internal: boolean;
}

/** The page "Check my site": why a page does or does not show a chatbot, and what to do about it. */
export function siteCheckPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async ({ query }) => ({
      template,
      data: await view(parts, {
        bot: String(query['bot'] ?? ''),
        address: String(query['url'] ?? ''),
        internal: false,
      }),
    }),
    actions: {
      check: async (request) => {
        const entered = {
          bot: readText(request, 'bot'),
          address: readText(request, 'url'),
          internal: readText(request, 'internal') === '1',
        };
        const report = await checkSite(parts, {
          address: entered.address,
          bot: await findBotInForm(parts, request, 'bot'),
          allowInternal: entered.internal,
          signal: request.signal,
        });
        return { page: { template, data: await view(parts, entered, report) }, data: report, ...reportNotice(report) };
      },
    },
  };
}

function reportNotice({ ok, findings }: SiteReport) {
  const warned = findings.some(({ verdict }) => verdict === 'warning');
  if (!ok)
    return {
      notice: {
        kind: 'error' as const,
        text: 'Something keeps the chatbot from this page. What to do stands beside it.',
      },
      status: 200,
    };
  return {
    notice: warned
      ? { kind: 'warning' as const, text: 'Nothing keeps the chatbot from this page, but look at the warnings.' }
      : { kind: 'success' as const, text: 'All is well: visitors of this page see the chatbot.' },
  };
}

/** The shop on another origin that a plugin offers, the sandbox say. */
async function findDemoSite({ host }: ChatbotParts, { id, embed }: Bot): Promise<Record<string, unknown> | null> {
  const shop = await host.hooks.applyFiltersAsync('svc_chatbot_pretend_shop', null).catch(() => null);
  if (shop === null) return null;
  const { origin } = shop;
  const url = `${origin}/?bot=${String(id)}`;
  // Its port is another one each time: without a port the name stands for all.
  return {
    url,
    hostileUrl: `${url}&css=hostile`,
    strictUrl: `${url}&csp=strict`,
    domain: new URL(origin).hostname,
    allowed: mayEmbed(embed, namedOrigin(origin, host.site.url)),
    embeds: embed.enabled,
  };
}

const badges: Readonly<
  Record<Finding['verdict'], { readonly text: string; readonly kind: 'success' | 'warning' | 'error' }>
> = {
  passed: { text: 'Passed', kind: 'success' },
  warning: { text: 'Warning', kind: 'warning' },
  failed: { text: 'Failed', kind: 'error' },
};
const order: readonly Finding['verdict'][] = ['failed', 'warning', 'passed'];

async function view(parts: ChatbotParts, entered: Entered, report?: SiteReport): Promise<Record<string, unknown>> {
  const { host } = parts;
  const bots = await parts.bots.list();
  const chosen = bots.find(({ id }) => String(id) === entered.bot) ?? bots[0];
  return {
    ...entered,
    bots: bots.map(({ id, name }) => ({ value: String(id), label: `${name} (${String(id)})` })),
    bot: chosen ? String(chosen.id) : '',
    editHref: chosen ? `${host.admin.url(editSlug)}?id=${String(chosen.id)}` : '',
    shop: chosen ? await findDemoSite(parts, chosen) : null,
    ...(report && {
      report: {
        landed: report.landed,
        findings: [...report.findings]
          .sort((left, right) => order.indexOf(left.verdict) - order.indexOf(right.verdict))
          .map((finding) => ({ ...finding, badge: badges[finding.verdict] })),
      },
    }),
  };
}
