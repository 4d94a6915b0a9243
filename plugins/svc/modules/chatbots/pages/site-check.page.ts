import { type AdminActionResult, type AdminPageBody, type AdminRequest, withNotice } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { deletedBotLabel, readText, recordField } from '../../../admin-ui/form-values.ts';
import type { Bot } from '../bots/bot.ts';
import { mayEmbed, namedOrigin } from '../../../kit/visitors/origin.ts';
import { checkSite } from '../site-check/check-site.ts';
import type { Finding, SiteReport } from '../site-check/finding.ts';
import { findBotInForm } from './bot-request.ts';
import { editSlug } from './bot-page-slugs.ts';

interface DemoSite {
  /** Not the origin of this site, for example `http://127.0.0.1:40213`. */
  readonly origin: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /**
     * A demo site on another origin of this machine. Its page `/?bot=<id>` shows a bot by the script tag. Applied when
     * "Check my site" is opened; null if there is no demo site.
     */
    svc_chatbot_demo_site: (site: DemoSite | null) => DemoSite | null;
    /** @deprecated Use `svc_chatbot_demo_site`. Still applied, before it. */
    svc_chatbot_pretend_shop: (site: DemoSite | null) => DemoSite | null;
  }
}

const template = 'svc/site-check';

interface Entered {
  readonly bot: string;
  readonly address: string;
  readonly internal: boolean;
}

/** The page "Check my site": finds out why a page does not show a chatbot, and how to fix it. */
export function createPage(parts: ChatbotParts): AdminPageBody {
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
      check: (request) => check(parts, request),
      /** Adds the origin of the checked page to the allowed domains, and checks again. */
      allow: async (request) => {
        const { id, embed } = await findBotInForm(parts, request, 'bot');
        const origin = readText(request, 'origin');
        const domains = [...new Set([...embed.allowed_domains, origin])];
        await parts.bots.update(id, { embed: { allowed_domains: domains } });
        return check(parts, request);
      },
    },
  };
}

async function check(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
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
}

function reportNotice({ ok, findings }: SiteReport) {
  const warned = findings.some(({ verdict }) => verdict === 'warning');
  if (!ok)
    return withNotice('error' as const, 'The chatbot cannot load on this page. See how to fix it below.', {
      status: 200,
    });
  return {
    notice: warned
      ? { kind: 'warning' as const, text: 'The chatbot loads on this page, but there are warnings.' }
      : { kind: 'success' as const, text: 'All checks passed. Visitors of this page see the chatbot.' },
  };
}

/** The demo site that a plugin offers, for example the sandbox. */
async function findDemoSite({ host }: ChatbotParts, { id, embed }: Bot): Promise<Record<string, unknown> | null> {
  const site = await host.hooks
    .applyFiltersAsync('svc_chatbot_pretend_shop', null)
    .then((former) => host.hooks.applyFiltersAsync('svc_chatbot_demo_site', former))
    .catch(() => null);
  if (site === null) return null;
  const { origin } = site;
  const url = `${origin}/?bot=${String(id)}`;
  // The port changes with every start. A domain without a port allows all ports.
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
  const bots = await parts.bots.summaries();
  const chosen = await parts.bots.get((bots.find(({ id }) => String(id) === entered.bot) ?? bots[0])?.id ?? 0);
  return {
    ...entered,
    botField: recordField(
      bots.map(({ id, name }) => ({ id, name: `${name} (${String(id)})` })),
      { value: '', deleted: deletedBotLabel },
    ),
    bot: chosen ? String(chosen.id) : '',
    editHref: chosen ? `${host.admin.url(editSlug)}?id=${String(chosen.id)}` : '',
    demo: chosen ? await findDemoSite(parts, chosen) : null,
    ...(report && {
      report: {
        landed: report.landed,
        findings: [...report.findings]
          .sort((left, right) => order.indexOf(left.verdict) - order.indexOf(right.verdict))
          .map((finding) => ({
            ...finding,
            badge: badges[finding.verdict],
            allow:
              finding.id === 'origin' && finding.verdict === 'failed' && finding.copy
                ? {
                    origin: finding.copy.value,
                    bot: entered.bot,
                    url: entered.address,
                    internal: entered.internal ? '1' : '0',
                  }
                : null,
          })),
      },
    }),
  };
}
