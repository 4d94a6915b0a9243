import { findFieldError, readSentFields, requireView, type PublicPage, type Undo } from '#plugin-api';
import type { PlainHandler } from '../media/serve-uploads.ts';
import { unreadableQuery, type SitePage } from './site-page.ts';

export interface PublicPagesDependencies {
  /** Renders a page in the layout. */
  readonly renderPage: (page: SitePage) => Promise<string>;
  readonly assetUrl: (slug: string, file: string) => string;
  readonly siteUrl: () => string;
}

export interface PublicPages {
  /** @param slug of the plugin whose assets the page loads. */
  add(slug: string, page: PublicPage): Undo;
  /** Serves GET and HEAD of registered pages, with or without a trailing slash. Passes other requests on. */
  readonly handler: PlainHandler;
}

interface Registered {
  readonly slug: string;
  readonly page: PublicPage;
}

/** Public pages of plugins. */
export function createPublicPages({ renderPage, assetUrl, siteUrl }: PublicPagesDependencies): PublicPages {
  const pages = new Map<string, Registered>();

  async function html({ slug, page }: Registered, query: Readonly<Record<string, string>>): Promise<string> {
    const { template, data = {} } = requireView(
      await page.render({ query }),
      `'render' of the public page '${page.path}' (plugin '${slug}')`,
    );
    return renderPage({
      title: page.title,
      template,
      data,
      kind: 'plugin-page',
      canonical: `${siteUrl()}/${page.path}`,
      ...(page.description !== undefined && { description: page.description }),
      ...(page.style !== undefined && { style: assetUrl(slug, page.style) }),
      ...(page.script !== undefined && { script: assetUrl(slug, page.script) }),
    });
  }

  return {
    add(slug, page) {
      if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(page.path))
        throw new Error(`'${page.path}' is not a valid path of a public page; use a form like 'my-page'.`);
      if (pages.has(page.path)) throw new Error(`The public page '${page.path}' already exists.`);
      const registered = { slug, page };
      pages.set(page.path, registered);
      return () => {
        if (pages.get(page.path) === registered) pages.delete(page.path);
      };
    },
    handler(request, response, next) {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const [path = '', query = ''] = (request.url ?? '/').split('?', 2);
      const found = isRead ? pages.get(path.replace(/^\/|\/$/g, '')) : undefined;
      if (found === undefined) return next();
      const fields = Object.fromEntries(readSentFields(query));
      if (findFieldError(fields) !== null) return next(unreadableQuery());
      html(found, fields)
        .then((text) => {
          response.writeHead(200, {
            'Content-Type': 'text/html; charset=utf-8',
            'Cache-Control': 'no-cache',
            'Content-Length': Buffer.byteLength(text),
          });
          response.end(request.method === 'HEAD' ? undefined : text);
        })
        .catch(next);
    },
  };
}
