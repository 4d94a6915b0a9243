import express, { type Router } from 'express';

import type { AdminBadge, SiteApi } from '#plugin-api';
import type { AdminPlugins, AdminViews } from './dependencies.ts';
import { adminPath } from './local-path.ts';

export interface SiteDependencies {
  readonly views: Pick<AdminViews, 'render' | 'safe'>;
  readonly site: SiteApi;
  /** Absolute address of the REST root. */
  readonly restUrl: () => string;
  readonly plugins: Pick<AdminPlugins, 'list'>;
  /** Shown in the head of every page, for example SANDBOX. Default none. */
  readonly badges?: () => Promise<readonly AdminBadge[]>;
  /** The option `blogdescription`. Default empty. */
  readonly description?: () => Promise<string>;
  /** Further values of the layout: head, footer, classes of the body, menu. Default none. */
  readonly theme?: (page: SitePage) => Promise<Readonly<Record<string, unknown>>>;
}

/** The public home page at `/`. Everything else is left to the next handler. */
export function createSiteRouter(dependencies: SiteDependencies): Router {
  const router = express.Router();
  router.get('/', async (_request, response) => {
    const active = (await dependencies.plugins.list()).filter((plugin) => plugin.state === 'active');
    const html = await renderSitePage(dependencies, {
      title: await dependencies.site.name(),
      template: 'site/home',
      kind: 'home',
      data: {
        description: (await dependencies.description?.()) ?? '',
        plugins: active.map(({ name, description }) => ({ name, description })),
        restUrl: dependencies.restUrl(),
        adminUrl: adminPath(),
      },
    });
    response.set('Cache-Control', 'no-cache').type('html').send(html);
  });
  return router;
}

const sentences: Readonly<Record<number, { readonly title: string; readonly text: string }>> = {
  400: { title: 'Not understood', text: 'The site could not read this request.' },
  403: { title: 'Not allowed', text: 'This page is not open to you.' },
  404: {
    title: 'Page not found',
    text: 'There is nothing at this address. It may have moved, or the link may be mistyped.',
  },
  413: { title: 'Too large', text: 'What was sent is larger than the site takes.' },
  429: { title: 'Too many requests', text: 'Wait a moment and try again.' },
  503: { title: 'Back in a moment', text: 'The site is starting or stopping. Try again shortly.' },
};
const unforeseen = {
  title: 'Something went wrong',
  text: 'The site met an error that is not your fault. Try again in a moment.',
};

/** Renders the public error page of a status, with the request's id to tell the site's owner. */
export function createErrorPage(
  dependencies: SiteDependencies,
): (status: number, requestId: string) => Promise<string> {
  return (status, requestId) => {
    const { title, text } = sentences[status] ?? unforeseen;
    return renderSitePage(dependencies, {
      title,
      template: 'site/error',
      kind: `error${status}`,
      isHidden: true,
      data: { status, title, text, requestId: status >= 500 ? requestId : '' },
    });
  };
}

/** A page of the public site before the layout is put around it. */
export interface SitePage {
  readonly title: string;
  readonly template: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** What kind of page it is, for the classes of the body. */
  readonly kind?: string;
  /** Keep it out of search engines. */
  readonly isHidden?: boolean;
  /** Addresses of a style sheet and a script to load on it. */
  readonly style?: string;
  readonly script?: string;
}

/** Puts the site's layout around a page. */
export async function renderSitePage(
  { views, site, restUrl, badges, theme }: SiteDependencies,
  page: SitePage,
): Promise<string> {
  const frame = { site: { name: await site.name(), url: site.url }, restUrl: restUrl() };
  const body = await views.render(page.template, page.data, frame);
  const layout = {
    title: page.title,
    style: page.style,
    script: page.script,
    body: views.safe(body),
    badges: (await badges?.()) ?? [],
    adminUrl: adminPath(),
    ...(await theme?.(page)),
  };
  return views.render('site/layout', layout, frame);
}
