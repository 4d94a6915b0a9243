import { translateText, type AdminMenuGroup, type AdminPageDeclaration } from '#plugin-api';
import { adminPath } from './local-path.ts';

/** The groups of the host. Plugins add their own with `admin.addMenuGroup`. */
export const hostMenuGroups: readonly AdminMenuGroup[] = [
  { id: 'content', title: 'Content', icon: 'page', position: 10 },
  { id: 'developers', title: 'Developers', icon: 'code', position: 50 },
  { id: 'people', title: 'People', icon: 'users', position: 70 },
  { id: 'system', title: 'System', icon: 'gear', position: 80 },
];

export interface MenuEntry {
  readonly title: string;
  /** Null for a group. */
  readonly href: string | null;
  readonly icon: string | null;
  /** Value of `aria-current`: `page` for the page itself, `true` for the nearest ancestor of a page that is not in the menu. */
  readonly current: 'page' | 'true' | null;
  /** Whether the group contains the current entry. */
  readonly isOpen: boolean;
  readonly children: readonly MenuEntry[];
}

/** A step of the path that is shown above the title of a page. */
export interface Breadcrumb {
  readonly title: string;
  readonly href: string | null;
}

interface Site {
  /** The pages that the user may open. */
  readonly pages: readonly AdminPageDeclaration[];
  readonly groups: readonly AdminMenuGroup[];
}

/**
 * The menu: groups with their pages, and pages without a group on the top level, sorted by position. A group with a single
 * page is that page. Empty groups are left out.
 */
export function buildMenu(site: Site, currentSlug: string): MenuEntry[] {
  const bySlug = new Map(site.pages.map((page) => [page.slug, page]));
  const inMenu = site.pages.filter((page) => page.menu !== undefined).sort(byPosition);
  const marked = menuSlugOf(currentSlug, bySlug);
  const toEntry = (page: AdminPageDeclaration): MenuEntry => ({
    title: translateText(page.menu ?? page.title),
    href: adminPath(page.slug),
    icon: page.icon ?? null,
    current: page.slug !== marked ? null : marked === currentSlug ? 'page' : 'true',
    isOpen: false,
    children: [],
  });
  const groupIds = new Set(site.groups.map(({ id }) => id));
  const placed = inMenu.map((page) => ({ page, group: groupOf(page, bySlug) }));
  const loose = placed.filter(({ group }) => group === undefined || !groupIds.has(group));
  const entries = [
    ...loose.map(({ page }) => ({ position: page.position ?? 50, entry: toEntry(page) })),
    ...site.groups.flatMap(({ id, title, icon, position = 50 }) => {
      const children = placed.filter(({ group }) => group === id).map(({ page }) => toEntry(page));
      const [only] = children;
      if (!only) return [];
      if (children.length === 1) return [{ position, entry: only }];
      const isOpen = children.some(({ current }) => current !== null);
      return [{ position, entry: { title: translateText(title), href: null, icon, current: null, isOpen, children } }];
    }),
  ];
  return entries.sort((left, right) => left.position - right.position).map(({ entry }) => entry);
}

/** The group of a page and the pages above it, without the page itself. */
export function breadcrumbsOf({ pages, groups }: Site, slug: string): Breadcrumb[] {
  const bySlug = new Map(pages.map((page) => [page.slug, page]));
  const page = bySlug.get(slug);
  if (!page) return [];
  const above: Breadcrumb[] = [];
  const seen = new Set([page]);
  let top = page;
  for (let parent = parentOf(page, bySlug); parent && !seen.has(parent); parent = parentOf(parent, bySlug)) {
    seen.add(parent);
    above.unshift({ title: translateText(parent.menu ?? parent.title), href: adminPath(parent.slug) });
    top = parent;
  }
  const group = groups.find(({ id }) => id === groupOf(top, bySlug));
  return group ? [{ title: translateText(group.title), href: null }, ...above] : above;
}

/** A page that names a group is at the top of that group. */
function parentOf(page: AdminPageDeclaration, bySlug: PagesBySlug): AdminPageDeclaration | undefined {
  return page.group === undefined && page.parent !== undefined ? bySlug.get(page.parent) : undefined;
}

function groupOf(page: AdminPageDeclaration, bySlug: PagesBySlug): string | undefined {
  const seen = new Set<AdminPageDeclaration>();
  let at: AdminPageDeclaration | undefined = page;
  while (at && at.group === undefined && !seen.has(at)) {
    seen.add(at);
    at = parentOf(at, bySlug);
  }
  return at?.group;
}

type PagesBySlug = ReadonlyMap<string, AdminPageDeclaration>;

/** The entry that is marked: the page itself, the nearest page above it, or the entry with the longest slug that it extends. */
function menuSlugOf(slug: string, bySlug: PagesBySlug): string | undefined {
  const seen = new Set<string>();
  for (let page = bySlug.get(slug); page && !seen.has(page.slug); page = bySlug.get(page.parent ?? '')) {
    if (page.menu !== undefined && (page.slug !== '' || slug === '')) return page.slug;
    seen.add(page.slug);
  }
  return [...bySlug.values()]
    .filter((page) => page.menu !== undefined && page.slug !== '' && slug.startsWith(`${page.slug}/`))
    .map((page) => page.slug)
    .sort((left, right) => right.length - left.length)[0];
}

function byPosition(left: AdminPageDeclaration, right: AdminPageDeclaration): number {
  return (left.position ?? 50) - (right.position ?? 50);
}
