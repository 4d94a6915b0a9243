import { allowScripts, escapeHtml } from '#plugin-api';
import type { HooksApi } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import type { NavigationEntry, SitePage } from './site-page.ts';

export interface ThemeDependencies {
  readonly parts: Pick<ContentParts, 'store' | 'renderer' | 'permalinks'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly views: { safe(html: string): unknown };
  readonly site: { readonly url: string; name(): Promise<string>; description(): Promise<string> };
}

/** Additional layout values after the theme filters. */
export type Theme = (page: SitePage) => Promise<Readonly<Record<string, unknown>>>;

const longestMenu = 8;

/** The hooks of the public layout: `wp_head`, `wp_footer`, `body_class`, `document_title`, `site_navigation`. */
export function createTheme({ parts, hooks, views, site }: ThemeDependencies): Theme {
  async function navigation(): Promise<readonly NavigationEntry[]> {
    const pages = await parts.store.find({
      type: 'page',
      parents: [0],
      orderBy: 'menuOrder',
      order: 'asc',
      limit: longestMenu,
    });
    const entries = await Promise.all(
      pages.map(async (page) => ({ label: await parts.renderer.title(page), href: await parts.permalinks.url(page) })),
    );
    return hooks.applyFiltersAsync(
      'site_navigation',
      entries.filter(({ label }) => label !== ''),
    );
  }
  return async (page) => {
    const entries = await navigation();
    const hasPosts = (await parts.store.find({ limit: 1 })).length > 0;
    return {
      title: await hooks.applyFiltersAsync('document_title', page.title, page),
      head: views.safe(
        allowScripts(await hooks.applyFiltersAsync('wp_head', await renderHead(page, { hasPosts, site }), page)),
      ),
      footer: views.safe(allowScripts(await hooks.applyFiltersAsync('wp_footer', '', page))),
      bodyClasses: (await hooks.applyFiltersAsync('body_class', pageClasses(page), page)).join(' '),
      navigation: entries.map(({ label, href }) => ({
        label: views.safe(label),
        href,
        isCurrent: page.canonical !== undefined && new URL(href, site.url).href === page.canonical,
      })),
      tagline: await site.description(),
      hasPosts,
    };
  };
}

async function renderHead(
  { canonical, description, isHidden = false }: SitePage,
  { hasPosts, site }: { hasPosts: boolean; site: ThemeDependencies['site'] },
): Promise<string> {
  const lines = [
    ...(description !== undefined && description !== ''
      ? [`<meta name="description" content="${escapeHtml(description)}">`]
      : []),
    ...(isHidden ? ['<meta name="robots" content="noindex">'] : []),
    ...(canonical !== undefined ? [`<link rel="canonical" href="${escapeHtml(canonical)}">`] : []),
    ...(hasPosts
      ? [
          `<link rel="alternate" type="application/rss+xml" title="${escapeHtml(await site.name())}" href="${escapeHtml(site.url)}/feed/">`,
        ]
      : []),
  ];
  return lines.join('\n  ');
}

function pageClasses({ kind = 'home', post }: SitePage): string[] {
  return [kind, ...(post ? [`${post.type}-id-${post.id}`, `single-${post.type}`] : [])];
}
