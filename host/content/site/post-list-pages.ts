import { momentOf, translateText } from '#plugin-api';
import type { PostQuery } from '#plugin-api';
import { renderFeed } from './feed.ts';
import { listedPostViews } from './post-view.ts';
import type { PublicSiteDependencies, SiteResponse, SiteVisit } from './site-page.ts';

interface List {
  readonly kind: 'home' | 'search' | 'archive' | 'author';
  readonly query: PostQuery;
  /** Path without the page number: `/`, `/2026/05/`. */
  readonly path: string;
  /** Query parameters of the links between pages. */
  readonly search?: Readonly<Record<string, string>>;
  readonly title: string;
  readonly heading?: string;
  /** HTML below the heading. */
  readonly description?: string;
  /** Shown even without posts. */
  readonly canBeEmpty?: boolean;
}

const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Post lists: home, search, date and author archives, and the feed. Undefined: the path is not a list. */
export async function findListResponse(
  given: PublicSiteDependencies,
  visit: SiteVisit,
): Promise<SiteResponse | null | undefined> {
  const paged = splitPage(visit);
  if (paged === null) return null;
  if (paged.parts[0] === 'feed' || visit.url.searchParams.has('feed')) return feedResponse(given, paged.parts);
  const list = await findList(given, visit, paged.parts);
  return list === undefined || list === null ? list : showList(given, { list, page: paged.page, visit });
}

/** `/page/2/` at the end, or `?paged=2`. */
function splitPage({ parts, url }: SiteVisit): { readonly parts: readonly string[]; readonly page: number } | null {
  const [keyword, number] = parts.slice(-2);
  if (parts.length >= 2 && keyword === 'page' && /^\d+$/.test(number ?? ''))
    return asPage(parts.slice(0, -2), number ?? '');
  return asPage(parts, url.searchParams.get('paged') ?? '1');
}

function asPage(
  parts: readonly string[],
  number: string,
): { readonly parts: readonly string[]; readonly page: number } | null {
  return /^[1-9]\d{0,5}$/.test(number) ? { parts, page: Number(number) } : null;
}

async function findList(
  given: PublicSiteDependencies,
  { url }: SiteVisit,
  parts: readonly string[],
): Promise<List | null | undefined> {
  const [search, author] = [url.searchParams.get('s'), url.searchParams.get('author')];
  if (parts.length === 0 && search !== null) {
    return {
      kind: 'search',
      query: { type: ['post', 'page'], search, orderBy: 'relevance' },
      path: '/',
      search: { s: search },
      title: translateText(search === '' ? 'Search' : `Search: ${search}`),
      heading: search === '' ? 'Search' : `Results for “${search}”`,
    };
  }
  if (parts.length === 0 && author !== null) return authorList(given, author);
  if (parts.length === 0) return { kind: 'home', query: {}, path: '/', title: await given.site.name() };
  const isDate =
    /^\d{4}$/.test(parts[0] ?? '') &&
    parts.length <= 2 &&
    (parts[1] === undefined || /^(0[1-9]|1[0-2])$/.test(parts[1]));
  return isDate ? dateList(given, parts) : termList(given, parts);
}

/** `/category/parent/child/`. Undefined: there is no such term, so the path may be that of a page. */
async function termList({ parts }: PublicSiteDependencies, path: readonly string[]): Promise<List | undefined> {
  const taxonomy = parts.taxonomies.all().find((candidate) => candidate.public && candidate.rewriteSlug === path[0]);
  const slug = path.length < 2 ? undefined : path.at(-1);
  if (taxonomy === undefined || slug === undefined) return undefined;
  const [term] = await parts.terms.find({ taxonomy: taxonomy.name, slugs: [slug], limit: 1 });
  if (term === undefined) return undefined;
  return {
    kind: 'archive',
    query: { type: taxonomy.types, terms: [{ ids: [term.id], includeChildren: true }] },
    path: new URL(await parts.terms.link(term)).pathname,
    title: term.name,
    heading: term.name,
    description: term.description,
    canBeEmpty: true,
  };
}

async function authorList({ users, parts }: PublicSiteDependencies, author: string): Promise<List | null> {
  const id = Number(author);
  const user = Number.isInteger(id) && (await parts.store.count({ authors: [id] })) > 0 ? await users.get(id) : null;
  return (
    user && {
      kind: 'author',
      query: { authors: [id] },
      path: '/',
      search: { author },
      title: user.displayName,
      heading: `Posts by ${user.displayName}`,
    }
  );
}

async function dateList({ site }: PublicSiteDependencies, [year = '', month]: readonly string[]): Promise<List> {
  const timezone = await site.timezone();
  const next =
    month === undefined
      ? `${String(Number(year) + 1).padStart(4, '0')}-01`
      : month === '12'
        ? `${String(Number(year) + 1).padStart(4, '0')}-01`
        : `${year}-${String(Number(month) + 1).padStart(2, '0')}`;
  const from = momentOf(`${year}-${month ?? '01'}-01`, timezone) ?? 0;
  const to = momentOf(`${next}-01`, timezone) ?? 0;
  const title = month === undefined ? year : `${monthNames[Number(month) - 1] ?? ''} ${year}`;
  return {
    kind: 'archive',
    query: { after: from - 1, before: to },
    path: `/${year}/${month === undefined ? '' : `${month}/`}`,
    title,
    heading: title,
  };
}

async function showList(
  given: PublicSiteDependencies,
  { list, page, visit }: { list: List; page: number; visit: SiteVisit },
): Promise<SiteResponse | null> {
  const { parts, site, hooks } = given;
  const limit = await perPage(given);
  const query = await hooks.applyFiltersAsync(
    'pre_get_posts',
    { ...list.query, limit, offset: (page - 1) * limit },
    list.kind,
  );
  const isEmptySearch = list.kind === 'search' && list.search?.['s']?.trim() === '';
  const total = isEmptySearch ? 0 : await parts.store.count(query);
  const pages = Math.max(1, Math.ceil(total / limit));
  if (page > pages || (total === 0 && list.kind !== 'search' && list.canBeEmpty !== true)) return null;
  const address = (number: number): string => pageUrl(list, number);
  if (visit.url.pathname !== '/' && decodeURI(visit.url.pathname) !== decodeURI(address(page).split('?')[0] ?? ''))
    return { kind: 'redirect', to: address(page) };
  const posts = isEmptySearch ? [] : await parts.store.find(query, total);
  return {
    kind: 'page',
    page: {
      kind: list.kind,
      title: page > 1 ? `${list.title} – Page ${page}` : list.title,
      template: 'site/posts',
      canonical: site.url + address(page),
      ...(list.kind === 'home' && { description: await site.description() }),
      isHidden: list.kind === 'search',
      data: {
        isHome: list.kind === 'home',
        isSearch: list.kind === 'search',
        heading: list.heading ?? (await site.name()),
        tagline: list.kind === 'home' ? await site.description() : '',
        description: list.description ? given.views.safe(list.description) : null,
        searched: list.search?.['s'] ?? '',
        total,
        posts: await listedPostViews(given, posts),
        newer: page > 1 ? address(page - 1) : null,
        older: page < pages ? address(page + 1) : null,
        page,
        pages,
      },
    },
  };
}

function pageUrl({ path, search = {} }: List, page: number): string {
  const query = new URLSearchParams(search).toString();
  return `${path}${page > 1 ? `page/${page}/` : ''}${query === '' ? '' : `?${query}`}`;
}

async function feedResponse(given: PublicSiteDependencies, parts: readonly string[]): Promise<SiteResponse | null> {
  if (
    parts.length > 2 ||
    (parts[1] !== undefined && !['rss2', 'rss'].includes(parts[1])) ||
    (parts.length > 0 && parts[0] !== 'feed')
  )
    return null;
  const query = await given.hooks.applyFiltersAsync('pre_get_posts', { limit: await perPage(given) }, 'feed');
  return renderFeed(given, await given.parts.store.find(query));
}

async function perPage({ options }: PublicSiteDependencies): Promise<number> {
  return Math.min(100, Math.max(1, Number(await options.get('posts_per_page')) || 10));
}
