import { readFileSync } from 'node:fs';
import {
  type AdminApi,
  type AdminBadge,
  type AdminMenuGroup,
  type AdminNotice,
  type AdminNoticeDefinition,
  type AdminPage,
  type AdminPageBody,
  type AdminPageDeclaration,
  type LazyAdminPage,
  type Logger,
  type SetupChoice,
  type Undo,
  type User,
  lazyValue,
} from '#plugin-api';
import type { AdminDependencies } from './dependencies.ts';
import { adminPath, toHref } from './local-path.ts';
import { breadcrumbsOf, buildMenu, hostMenuGroups, type Breadcrumb, type MenuEntry } from './menu.ts';

const reserved = /^(login|logout|theme|search-results|forgot-password|set-password|setup|rest-nonce)(\/|$)/;
const slugPattern = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*$/;

/** A registered page. Its code may not be loaded yet. */
export interface RegisteredPage {
  readonly declaration: AdminPageDeclaration;
  /** Slug of the plugin that added it, or `host`. */
  readonly owner: string;
  /** Loads the code of the page on first call. */
  body(): Promise<AdminPageBody>;
}

/** Pages, badges and setup choices of the host and of plugins. */
export interface AdminRegistry {
  /** Of the host's own pages. */
  readonly api: AdminApi;
  forOwner(owner: string): AdminApi;
  page(slug: string): RegisteredPage | undefined;
  /** Slugs of the pages that a plugin added. */
  slugs(owner: string): readonly string[];
  menu(user: User, currentSlug: string): MenuEntry[];
  /** The group and the pages above a page, as far as the user may open them. */
  breadcrumbs(user: User, slug: string): Breadcrumb[];
  /** Logs and omits a badge that throws. */
  badges(): Promise<AdminBadge[]>;
  /** What this user sees above the content of a page. Logs and omits a notice that throws. */
  notices(user: User, page: string): Promise<ShownNotice[]>;
  choices(): readonly SetupChoice[];
  /** The choices that are available now. Logs and omits one whose check throws. */
  availableChoices(): Promise<SetupChoice[]>;
}

interface OwnBadge {
  readonly badge: () => Promise<AdminBadge | null>;
  readonly owner: string;
}

/** The values of the partial `admin/notice`. */
interface ShownNotice extends Pick<AdminNotice, 'kind' | 'text'> {
  readonly noticeLink: { readonly href: string; readonly label: string } | null;
}

interface OwnNotice {
  readonly notice: AdminNoticeDefinition;
  readonly owner: string;
}

interface OwnChoice {
  readonly choice: SetupChoice;
  readonly owner: string;
}

interface AdminRegistryDependencies {
  readonly siteUrl: () => string;
  readonly assetUrl: AdminDependencies['assetUrl'];
  readonly log: Logger;
  /** Called with the owner of a page and a sentence about what has no effect. */
  readonly warn?: (owner: string, message: string) => void;
}

let icons: ReadonlySet<string> | undefined;

/** The names in the sprite. Read once, when first needed. */
export function iconNames(): ReadonlySet<string> {
  if (icons) return icons;
  const sprite = readFileSync(new URL('assets/icons.svg', import.meta.url), 'utf8');
  return (icons = new Set([...sprite.matchAll(/<symbol id="([^"]+)"/g)].map(([, name = '']) => name)));
}

/** Whether the sprite has the icon, or the folder `assets` of a plugin has its file, whose URL then ends with a hash. */
function hasIcon(icon: string, assetUrl: AdminDependencies['assetUrl']): boolean {
  const [, slug = '', file = ''] = /^([a-z0-9-]+)\/([\w/-]+\.svg)#[\w-]+$/.exec(icon) ?? [];
  return slug === '' ? iconNames().has(icon) : hasHash(assetUrl(slug, file));
}

/** `settings.js` belongs to the plugin named by the first part of the page slug. `other/settings.js` names the plugin. */
export function pageAsset(assetUrl: AdminDependencies['assetUrl'], slug: string, file: string): string {
  const [owner, rest] = file.includes('/')
    ? [file.slice(0, file.indexOf('/')), file.slice(file.indexOf('/') + 1)]
    : [slug.split('/')[0] ?? '', file];
  return assetUrl(owner, rest);
}

/** @param siteUrl called each time: without SITE_URL the port is unknown until the host listens. */
export function createAdminRegistry({
  siteUrl,
  assetUrl,
  log,
  warn = () => undefined,
}: AdminRegistryDependencies): AdminRegistry {
  const pages = new Map<string, RegisteredPage>();
  const badges = new Set<OwnBadge>();
  const notices = new Set<OwnNotice>();
  const choices = new Map<string, OwnChoice>();
  const groups = new Map(hostMenuGroups.map((group) => [group.id, group]));
  const forOwner = (owner: string): AdminApi => ({
    addPage(page) {
      const isDashboard = page.slug === '' && !pages.has('');
      if (!isDashboard && !slugPattern.test(page.slug))
        throw new Error(
          `'${page.slug}' is not a valid slug of an admin page; use lowercase letters, digits, '-', '_' and '/'.`,
        );
      if (reserved.test(page.slug))
        throw new Error(`The slug '${page.slug}' is reserved by the admin; choose another one.`);
      if (owner !== 'host' && page.icon !== undefined && !hasIcon(page.icon, assetUrl))
        warn(
          owner,
          `The icon '${page.icon}' of the page '${page.slug}' does not exist. Choose one of: ${[...iconNames()].join(', ')}. ` +
            `Or draw it: '${owner}/icons.svg#cart' is the symbol 'cart' of the file icons.svg in the plugin's folder 'assets'.`,
        );
      if (owner !== 'host')
        for (const file of [page.script, page.style])
          if (file !== undefined && !hasHash(pageAsset(assetUrl, page.slug, file)))
            warn(owner, missingAsset(file, `the page '${page.slug}'`));
      return addUnique(pages, page.slug, { declaration: page, owner, body: lazyBody(page) });
    },
    addMenuGroup: (group) => addUnique<AdminMenuGroup>(groups, group.id, group),
    addBadge(badge) {
      const own = { badge, owner };
      badges.add(own);
      return () => void badges.delete(own);
    },
    addNotice(notice) {
      const own = { notice, owner };
      notices.add(own);
      return () => void notices.delete(own);
    },
    addSetupChoice: (choice) => addUnique(choices, choice.id, { choice, owner }),
    url: (slug) => siteUrl() + adminPath(slug),
  });
  const sortedChoices = (): OwnChoice[] =>
    [...choices.values()].sort(({ choice: left }, { choice: right }) => (left.position ?? 50) - (right.position ?? 50));
  const siteOf = (user: User) => ({
    pages: [...pages.values()].map(({ declaration }) => declaration).filter((page) => canOpen(user, page)),
    groups: [...groups.values()],
  });
  return {
    api: forOwner('host'),
    forOwner,
    page: (slug) => pages.get(slug),
    slugs: (owner) => [...pages].filter(([, page]) => page.owner === owner).map(([slug]) => slug),
    menu: (user, currentSlug) => buildMenu(siteOf(user), currentSlug),
    breadcrumbs: (user, slug) => breadcrumbsOf(siteOf(user), slug),
    async badges() {
      const errorResponses = await Promise.all(
        [...badges].map(async ({ badge, owner }) => {
          try {
            return await badge();
          } catch (error) {
            log.error('Admin badge failed', { event: 'admin_badge_failed', plugin: owner, error });
            return null;
          }
        }),
      );
      return errorResponses.filter((badge) => badge !== null);
    },
    notices: (user, page) => readNotices([...notices], { user, page, log }),
    choices: () => sortedChoices().map(({ choice }) => choice),
    async availableChoices() {
      const known = sortedChoices();
      const available = await Promise.all(
        known.map(async ({ choice, owner }) => {
          try {
            return (await choice.available?.()) ?? true;
          } catch (error) {
            log.error('Setup choice check failed', {
              event: 'setup_choice_failed',
              choice: choice.id,
              plugin: owner,
              error,
            });
            return false;
          }
        }),
      );
      return known.filter((_own, index) => available[index]).map(({ choice }) => choice);
    },
  };
}

function toShown({ kind, text, href, label = 'Show' }: AdminNotice): ShownNotice {
  return { kind, text, noticeLink: href === undefined ? null : { href: toHref(href), label } };
}

async function readNotices(
  notices: readonly OwnNotice[],
  { user, page, log }: { readonly user: User; readonly page: string; readonly log: Logger },
): Promise<ShownNotice[]> {
  const shown = await Promise.all(
    notices.map(async ({ notice: { capability = 'manage_options', pages, show }, owner }) => {
      if (!user.can(capability) || pages?.includes(page) === false) return null;
      try {
        const notice = await show({ user, page });
        return notice && toShown(notice);
      } catch (error) {
        log.error('Admin notice failed', { event: 'admin_notice_failed', plugin: owner, error });
        return null;
      }
    }),
  );
  return shown.filter((notice) => notice !== null);
}

function lazyBody(page: AdminPage | LazyAdminPage): () => Promise<AdminPageBody> {
  if (!('body' in page)) return () => Promise.resolve(page);
  return lazyValue(async () => {
    const body = (await page.body()) as Partial<AdminPageBody> | undefined;
    if (typeof body?.render === 'function') return body as AdminPageBody;
    throw new Error(`'body' of the page '${page.slug}' returned no object with a function 'render'.`);
  });
}

export function canOpen(user: User, page: AdminPageDeclaration): boolean {
  return user.can(page.capability ?? 'manage_options');
}

function addUnique<Value>(entries: Map<string, Value>, key: string, value: Value): Undo {
  if (entries.has(key)) throw new Error(`'${key}' is already registered in the admin; choose another name.`);
  entries.set(key, value);
  return () => {
    if (entries.get(key) === value) entries.delete(key);
  };
}

/** Whether the URL is that of a file: others have no hash. */
export function hasHash(url: string): boolean {
  return url.includes('?');
}

/** @param by what names the file, for example `assets.url`. */
export function missingAsset(file: string, by: string): string {
  return `The file '${file}', which ${by} names, is not in the plugin's folder 'assets'.`;
}
