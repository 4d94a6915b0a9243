import { translateText, type AdminPageBody, type SiteHealthResult, type ViewsApi } from '#plugin-api';
import type { SiteHealth } from './site-health.ts';

const states = {
  critical: { text: 'Critical', kind: 'danger' },
  recommended: { text: 'Recommended', kind: 'warning' },
  good: { text: 'Passed', kind: 'success' },
} as const;

/**
 * The facts about the site, and all Site Health tests, the worst results first. Tests request the site itself and take their
 * time, so that the browser loads their results after the page.
 */
export function createSiteHealthPage({
  siteHealth,
  views,
  sanitizeHtml,
}: {
  readonly siteHealth: SiteHealth;
  readonly views: Pick<ViewsApi, 'safe'>;
  readonly sanitizeHtml: (html: string) => Promise<string>;
}): AdminPageBody {
  /** Plugins write results as HTML, which is sanitized before it is shown. */
  const toRow = async ({ label, status, badge, description, actions }: SiteHealthResult) => ({
    label,
    state: states[status],
    topic: badge.label,
    html: views.safe(await sanitizeHtml(translateHtml(description) + translateHtml(actions))),
  });
  return {
    async render({ headers, query }) {
      const hasResults = query['results'] !== undefined;
      const [results, sections] = await Promise.all([
        hasResults ? siteHealth.runAll({ headers }) : [],
        siteHealth.information(),
      ]);
      const open = results.filter(({ status }) => status !== 'good');
      return {
        template: 'admin/pages/site-health',
        data: {
          isPending: !hasResults,
          openCount: open.length,
          open: await Promise.all(open.map(toRow)),
          passed: await Promise.all(results.filter(({ status }) => status === 'good').map(toRow)),
          sections: Object.entries(sections).map(([name, { label, fields }]) => ({
            name,
            label,
            facts: Object.values(fields).map((fact) => ({ label: fact.label, value: factText(fact.value) })),
          })),
        },
      };
    },
  };
}

/** Catalogs have what is written as one text, or each of its paragraphs, with the tags. */
function translateHtml(html: string): string {
  const whole = translateText(html);
  if (whole !== html) return whole;
  return html
    .split(/(?<=<\/p>)/)
    .map(translateText)
    .join('');
}

function factText(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return String(value);
}
