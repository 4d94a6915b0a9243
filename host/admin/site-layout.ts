import { translateText } from '#plugin-api';
import type { SiteApi } from '#plugin-api';
import type { AdminViews } from './dependencies.ts';
import { adminPath } from './local-path.ts';

export interface SiteDependencies {
  readonly views: Pick<AdminViews, 'render' | 'safe'>;
  readonly site: SiteApi;
  /** Absolute URL of the REST root. */
  readonly restUrl: () => string;
  /** The option `blogdescription`. Default: empty. */
  readonly description?: () => Promise<string>;
  /** Additional values for the layout: head, footer, body classes, menu. Default: none. */
  readonly theme?: (page: SitePage) => Promise<Readonly<Record<string, unknown>>>;
}

const messages: Readonly<Record<number, { readonly title: string; readonly text: string }>> = {
  400: { title: 'Bad request', text: 'The site could not understand this request.' },
  403: { title: 'Not allowed', text: 'You do not have access to this page.' },
  404: {
    title: 'Page not found',
    text: 'This page does not exist. It may have moved, or the link may be wrong.',
  },
  413: { title: 'Too large', text: 'The request is larger than this site accepts.' },
  429: { title: 'Too many requests', text: 'Wait a moment and try again.' },
  503: { title: 'Back in a moment', text: 'The site is starting or stopping. Try again shortly.' },
};
const unknownError = {
  title: 'Something went wrong',
  text: 'An error occurred on this site. Try again in a moment.',
};

/** Renders the public error page of a status. From 500 on it shows the request id to report. */
export function createErrorPage(
  dependencies: SiteDependencies,
): (status: number, requestId: string) => Promise<string> {
  return (status, requestId) => {
    const { title, text } = messages[status] ?? unknownError;
    return renderSitePage(dependencies, {
      title: translateText(title),
      template: 'site/error',
      kind: `error${status}`,
      isHidden: true,
      data: { status, title, text, requestId: status >= 500 ? requestId : '' },
    });
  };
}

/** The content of a public page, without the layout. */
export interface SitePage {
  readonly title: string;
  readonly template: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Type of the page, added to the body classes. */
  readonly kind?: string;
  /** Excludes the page from search engines. */
  readonly isHidden?: boolean;
  /** URLs of a style sheet and a script for the page. */
  readonly style?: string;
  readonly script?: string;
}

/** Renders a page in the layout of the site. */
export async function renderSitePage(
  { views, site, restUrl, theme }: SiteDependencies,
  page: SitePage,
): Promise<string> {
  const frame = { site: { name: await site.name(), url: site.url }, restUrl: restUrl() };
  const body = await views.render(page.template, page.data, frame);
  const layout = {
    title: page.title,
    style: page.style,
    script: page.script,
    hasSearch: page.kind === 'search' || page.kind === 'error404',
    body: views.safe(body),
    adminUrl: adminPath(),
    ...(await theme?.(page)),
  };
  return views.render('site/layout', layout, frame);
}
