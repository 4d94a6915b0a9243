import type {
  AdminApi,
  AdminBadge,
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

const reserved = /^(login|logout|setup|rest-nonce)(\/|$)/;
const slugPattern = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*$/;

export interface MenuEntry {
  readonly title: string;
  readonly href: string;
  readonly icon: string | null;
  /** Value of `aria-current`: `page` for the page itself, `true` for the nearest entry above a page that is not in the menu. */
  readonly current: 'page' | 'true' | null;
  readonly children: readonly MenuEntry[];
}

/** A page as it was added, its code perhaps still to be loaded. */
export interface RegisteredPage {
  readonly declaration: AdminPageDeclaration;
  /** Loads the page's code at the first call. */
  body(): Promise<AdminPageBody>;
}

/** Pages, badges and setup choices that the host and plugins registered. */
export interface AdminRegistry {
  readonly api: AdminApi;
  page(slug: string): RegisteredPage | undefined;
  /** The menu as this user may see it. */
  menu(user: User, currentSlug: string): MenuEntry[];
  /** A badge that throws is logged and left out. */
  badges(): Promise<AdminBadge[]>;
  choices(): readonly SetupChoice[];
  /** Those that can be taken now. One that cannot say so is logged and left out. */
  availableChoices(): Promise<SetupChoice[]>;
}

/** @param siteUrl asked at each call: without SITE_URL the port is only known once the host listens. */
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
  const api: AdminApi = {
    addPage(page) {
      const isDashboard = page.slug === '' && !pages.has('');
      if (!isDashboard && !slugPattern.test(page.slug))
        throw new Error(
          `'${page.slug}' is no address of an admin page; use lower-case letters, digits, '-', '_' and '/'.`,
        );
      if (reserved.test(page.slug))
        throw new Error(`The address '${page.slug}' belongs to the admin itself; choose another slug.`);
      return addOnce(pages, page.slug, { declaration: page, body: bodyOf(page) });
    },
    addBadge(badge) {
      badges.add(badge);
      return () => void badges.delete(badge);
    },
    addSetupChoice: (choice) => addOnce(choices, choice.id, choice),
    url: (slug) => siteUrl() + adminPath(slug),
  };
  const sorted = (): SetupChoice[] =>
    [...choices.values()].sort((left, right) => (left.position ?? 50) - (right.position ?? 50));
  return {
    api,
    page: (slug) => pages.get(slug),
    menu: (user, currentSlug) =>
      buildMenu(
        [...pages.values()].map(({ declaration }) => declaration).filter((page) => mayOpen(user, page)),
        currentSlug,
      ),
    async badges() {
      const answers = await Promise.all(
        [...badges].map(async (badge) => {
          try {
            return await badge();
          } catch (error) {
            log.error('A badge of the admin bar failed.', { error });
            return null;
          }
        }),
      );
      return answers.filter((badge) => badge !== null);
    },
    choices: sorted,
    async availableChoices() {
      const known = sorted();
      const available = await Promise.all(
        known.map(async (choice) => {
          try {
            return (await choice.available?.()) ?? true;
          } catch (error) {
            log.error('A setup choice could not say whether it is available.', { choice: choice.id, error });
            return false;
          }
        }),
      );
      return known.filter((_choice, index) => available[index]);
    },
  };
}

function bodyOf(page: AdminPage | LazyAdminPage): () => Promise<AdminPageBody> {
  return 'body' in page
    ? lazy(async () => {
        const body = await page.body();
        return () => body;
      })
    : () => Promise.resolve(page);
}

export function mayOpen(user: User, page: AdminPageDeclaration): boolean {
  return user.can(page.capability ?? 'manage_options');
}

function addOnce<Value>(entries: Map<string, Value>, key: string, value: Value): Undo {
  if (entries.has(key)) throw new Error(`'${key}' is registered in the admin already; choose another name.`);
  entries.set(key, value);
  return () => {
    if (entries.get(key) === value) entries.delete(key);
  };
}

function buildMenu(pages: readonly AdminPageDeclaration[], currentSlug: string): MenuEntry[] {
  const inMenu = pages
    .filter((page) => page.menu !== undefined)
    .sort((left, right) => (left.position ?? 50) - (right.position ?? 50));
  const marked = nearestEntry(inMenu, currentSlug);
  const entry = (page: AdminPageDeclaration): MenuEntry => ({
    title: page.menu ?? page.title,
    href: adminPath(page.slug),
    icon: page.icon ?? null,
    current: page.slug !== marked ? null : marked === currentSlug ? 'page' : 'true',
    children: inMenu.filter((child) => child.parent === page.slug && child !== page).map(entry),
  });
  // A page whose parent this user may not see, or that nobody registered, moves to the top instead of vanishing.
  const slugs = new Set(inMenu.map((page) => page.slug));
  return inMenu.filter((page) => page.parent === undefined || !slugs.has(page.parent)).map(entry);
}

function nearestEntry(inMenu: readonly AdminPageDeclaration[], currentSlug: string): string | undefined {
  const above = inMenu
    .map((page) => page.slug)
    .filter((slug) => slug === currentSlug || (slug !== '' && currentSlug.startsWith(`${slug}/`)));
  return above.sort((left, right) => right.length - left.length)[0];
}
