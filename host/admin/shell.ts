import type { Request } from 'express';
import { translateText, type AdminPage, type AdminActionResult, type AdminView, type User } from '#plugin-api';
import type { AdminDependencies, SignedIn } from './dependencies.ts';
import type { Notice } from './notices.ts';
import { adminPath } from './local-path.ts';
import { pageAsset, type AdminRegistry } from './registry.ts';
import { showViews } from './saved-views.ts';
import { shownQuery, stampForms, type Stamp } from './shown-forms.ts';
import { readTheme, themeChoices } from './theme.ts';

export const logoutAction = 'admin:logout';

/** Each page has a separate nonce, which is not valid on other pages. */
export function pageNonceAction(slug: string): string {
  return `admin:page:${slug}`;
}

export interface ShellContent extends AdminView {
  readonly request: Request;
  readonly page: Pick<AdminPage, 'slug' | 'title' | 'script' | 'style'>;
  readonly session: SignedIn;
  /** The user must set up two-step sign-in first: without menu, because no other page opens. */
  readonly isLimited?: boolean;
  readonly notice?: Notice | null;
  readonly reveal?: AdminActionResult['reveal'];
  /** The form that was sent, when its page is shown again because the action refused it. */
  readonly sent?: Stamp | undefined;
}

export interface NarrowContent {
  readonly title: string;
  readonly template: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly notice?: Notice | null;
  readonly wide?: boolean;
  /** Nonce for the forms of the page when a user is signed in. */
  readonly nonce?: string;
  /** Script from the assets of the admin to load on this page, for example `passkeys.js`. */
  readonly script?: string;
}

export interface Shell {
  full(content: ShellContent): Promise<string>;
  /** What `full` puts into the frame. */
  body(content: ShellContent): Promise<string>;
  /** A single column without menu, for sign-in, setup and errors. */
  narrow(content: NarrowContent): Promise<string>;
}

export function createShell(dependencies: AdminDependencies, registry: AdminRegistry): Shell {
  const { views, site, nonces, savedViews } = dependencies;
  const siteFrame = async (): Promise<Record<string, unknown>> => ({
    site: { name: await site.name(), url: site.url, version: site.version },
    restUrl: dependencies.restUrl(),
  });
  const pageFrame = async ({ request, page, session, title }: ShellContent): Promise<Record<string, unknown>> => {
    const { user, sessionId } = session;
    return {
      ...(await siteFrame()),
      page: { slug: page.slug, title: title ?? translateText(page.title) },
      user: publicUser(user),
      nonce: await nonces.create(pageNonceAction(page.slug), user, sessionId),
      views: showViews(await savedViews.list(user.id, page.slug), request.method === 'POST' ? '' : queryOf(request)),
    };
  };
  return {
    body: async (content) => views.render(content.template, content.data, await pageFrame(content)),
    async full(content) {
      const { request, page, session, sent, isLimited = false, trail = [], notice, reveal } = content;
      const { title = translateText(page.title) } = content;
      const { user, sessionId } = session;
      const frame = await pageFrame(content);
      const html = await views.render(content.template, content.data, frame);
      const body = await stampForms(html, { query: sent ? shownQuery(sent.shown) : queryOf(request), sent });
      return views.render(
        'admin/shell',
        {
          title,
          breadcrumbs: isLimited ? [] : [...registry.breadcrumbs(user, page.slug), ...trail],
          theme: readTheme(request),
          themes: themeChoices(readTheme(request)),
          path: request.method === 'GET' ? request.originalUrl : adminPath(page.slug),
          body: views.safe(body),
          menu: isLimited ? [] : registry.menu(user, page.slug),
          // States of plugins, such as used-up budgets, concern administrators alone.
          badges: !isLimited && user.can('manage_options') ? await registry.badges() : [],
          notices: isLimited ? [] : await registry.notices(user, page.slug),
          isLimited,
          notice,
          reveal,
          logoutNonce: await nonces.create(logoutAction, user, sessionId),
          script: page.script === undefined ? null : pageAsset(dependencies.assetUrl, page.slug, page.script),
          style: page.style === undefined ? null : pageAsset(dependencies.assetUrl, page.slug, page.style),
        },
        frame,
      );
    },
    async narrow({ template, data, notice, wide, nonce, script, ...content }) {
      const title = translateText(content.title);
      const frame = { ...(await siteFrame()), page: { slug: '', title }, nonce };
      const body = await views.render(template, data, frame);
      return views.render(
        'admin/narrow',
        { title, body: views.safe(body), notice, wide, script: script && dependencies.assetUrl('admin', script) },
        frame,
      );
    },
  };
}

function queryOf({ originalUrl }: Request): string {
  return originalUrl.split(/\?(.*)/s)[1] ?? '';
}

function publicUser(user: User): Record<string, unknown> {
  return { id: user.id, login: user.login, displayName: user.displayName || user.login, email: user.email };
}

/** The path below the admin root for the `redirect` of an action or a setup choice. */
export function redirectTarget(redirect: string): string {
  const [path = '', query] = redirect.replace(/^\/(admin\/?)?/, '').split('?', 2);
  const safePath = path
    .split('/')
    .map((part) => encodeURIComponent(decodeOrKeep(part)))
    .join('/');
  return adminPath(safePath) + (query === undefined ? '' : `?${query}`);
}

function decodeOrKeep(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
