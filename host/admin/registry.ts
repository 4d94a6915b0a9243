import type {
  AdminApi,
  AdminBadge,
  AdminMenuGroup,
  AdminPage,
  AdminPageBody,
  AdminPageDeclaration,
  LazyAdminPage,
  Logger,
  SetupChoice,
  Undo,
  User,
} from '#plugin-api';
import { lazy } from '#plugin-api';
import { adminPath } from './local-path.ts';
import { breadcrumbsOf, buildMenu, hostMenuGroups, type Breadcrumb, type MenuEntry } from './menu.ts';

const reserved = /^(login|logout|theme|palette|forgot-password|set-password|setup|rest-nonce)(\/|$)/;
const slugPattern = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*$/;

/** A registered page. Its code may not be loaded yet. */
export interface RegisteredPage {
  readonly declaration: AdminPageDeclaration;
  /** Loads the code of the page on first call. */
  body(): Promise<AdminPageBody>;
}

/** Pages, badges and setup choices of the host and of plugins. */
export interface AdminRegistry {
  readonly api: AdminApi;
  page(slug: string): RegisteredPage | undefined;
  menu(user: User, currentSlug: string): MenuEntry[];
  /** The group and the pages above a page, as far as the user may open them. */
  breadcrumbs(user: User, slug: string): Breadcrumb[];
  /** Logs and omits a badge that throws. */
  badges(): Promise<AdminBadge[]>;
  choices(): readonly SetupChoice[];
  /** The choices that are available now. Logs and omits one whose check throws. */
  availableChoices(): Promise<SetupChoice[]>;
}

/** @param siteUrl called each time: without SITE_URL the port is unknown until the host listens. */
export function createAdminRegistry({
  siteUrl,
  log,
}: {
  readonly siteUrl: () => string;
  readonly log: Logger;
}): AdminRegistry {
  const pages = new Map<string, RegisteredPage>();
  const badges = new Set<() => Promise<AdminBadge | null>>();
  const choices = new Map<string, SetupChoice>();
  const groups = new Map(hostMenuGroups.map((group) => [group.id, group]));
  const api: AdminApi = {
    addPage(page) {
      const isDashboard = page.slug === '' && !pages.has('');
      if (!isDashboard && !slugPattern.test(page.slug))
        throw new Error(
          `'${page.slug}' is not a valid slug of an admin page; use lowercase letters, digits, '-', '_' and '/'.`,
        );
      if (reserved.test(page.slug))
        throw new Error(`The slug '${page.slug}' is reserved by the admin; choose another one.`);
      return addUnique(pages, page.slug, { declaration: page, body: lazyBody(page) });
    },
    addMenuGroup: (group) => addUnique<AdminMenuGroup>(groups, group.id, group),
    addBadge(badge) {
      badges.add(badge);
      return () => void badges.delete(badge);
    },
    addSetupChoice: (choice) => addUnique(choices, choice.id, choice),
    url: (slug) => siteUrl() + adminPath(slug),
  };
  const sortedChoices = (): SetupChoice[] =>
    [...choices.values()].sort((left, right) => (left.position ?? 50) - (right.position ?? 50));
  const siteOf = (user: User) => ({
    pages: [...pages.values()].map(({ declaration }) => declaration).filter((page) => canOpen(user, page)),
    groups: [...groups.values()],
  });
  return {
    api,
    page: (slug) => pages.get(slug),
    menu: (user, currentSlug) => buildMenu(siteOf(user), currentSlug),
    breadcrumbs: (user, slug) => breadcrumbsOf(siteOf(user), slug),
    async badges() {
      const errorResponses = await Promise.all(
        [...badges].map(async (badge) => {
          try {
            return await badge();
          } catch (error) {
            log.error('Admin badge failed', { event: 'admin_badge_failed', error });
            return null;
          }
        }),
      );
      return errorResponses.filter((badge) => badge !== null);
    },
    choices: sortedChoices,
    async availableChoices() {
      const known = sortedChoices();
      const available = await Promise.all(
        known.map(async (choice) => {
          try {
            return (await choice.available?.()) ?? true;
          } catch (error) {
            log.error('Setup choice check failed', { event: 'setup_choice_failed', choice: choice.id, error });
            return false;
          }
        }),
      );
      return known.filter((_choice, index) => available[index]);
    },
  };
}

function lazyBody(page: AdminPage | LazyAdminPage): () => Promise<AdminPageBody> {
  return 'body' in page
    ? lazy(async () => {
        const body = await page.body();
        return () => body;
      })
    : () => Promise.resolve(page);
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
