import { isInsideFolder } from '#plugin-api';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import type { ClientBundle, Undo } from '#plugin-api';
import { createScriptTexts, textsIn } from './script-texts.ts';

/** The static files of the host and its plugins, served at `/assets/<slug>/<file>`. */
export interface Assets {
  /**
   * Serves a folder. A folder that does not exist serves nothing.
   *
   * @throws Error when the slug is taken or not of lower-case letters, digits and dashes.
   */
  add(slug: string, directory: string): Undo;
  /**
   * Serves a bundle as `script.js` and `styles.css`. The first call or request builds it.
   *
   * @returns the paths of both with the hashes of their content.
   * @throws Error as `add` does.
   */
  addBundle(slug: string, build: () => Promise<ClientBundle>): () => Promise<BundlePaths>;
  /**
   * Path with the hash of the file's content, `/assets/svc/settings.js?v=1a2b3c4d`; without the hash if the file is missing.
   *
   * @throws Error for a path that leads out of the folder.
   */
  url(slug: string, file: string): string;
  /**
   * The texts that a script shows, `__('Copy')`, with those of its imports. Of a bundle once it is built.
   *
   * @param path `svc/settings.js`, or as `url` returns it.
   */
  texts(path: string): ScriptTexts;
  /** Mount it at `/assets`. Dotfiles and paths outside the folder are not found. */
  readonly handler: RequestHandler;
}

export interface ScriptTexts {
  readonly slug: string;
  readonly texts: readonly string[];
}

export interface BundlePaths {
  readonly script: string;
  readonly styles: string;
}

interface Fingerprint {
  readonly changed: number;
  readonly size: number;
  readonly hash: string;
}

interface Folder {
  readonly directory: string;
  /** Created for the first request: commands do not load express. */
  serve?: RequestHandler;
}

const forever = 'public, max-age=31536000, immutable';
const revalidate = 'public, max-age=0, must-revalidate';

/** Asset folders by slug. URLs change with the content, so caches may keep files forever and never serve old ones. */
export function createAssets(): Assets {
  const folders = new Map<string, Folder>();
  const bundles = new Map<string, () => Promise<ClientBundle>>();
  const bundleTexts = new Map<string, readonly string[]>();
  const fingerprints = new Map<string, Fingerprint>();
  const textsOf = createScriptTexts(contentHash);

  function contentHash(path: string): string | null {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return null;
    const known = fingerprints.get(path);
    if (known && known.changed === stat.mtimeMs && known.size === stat.size) return known.hash;
    const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 8);
    fingerprints.set(path, { changed: stat.mtimeMs, size: stat.size, hash });
    return hash;
  }

  /** Null: outside of the folder, or there is none. */
  function pathOf(slug: string, file: string): string | null {
    const folder = folders.get(slug);
    const path = folder && join(folder.directory, file);
    return folder && path && isInsideFolder(path, folder.directory) ? path : null;
  }

  function setHeaders(response: Response, path: string): void {
    const version = response.req.query['v'];
    response.setHeader('Cache-Control', version !== undefined && version === contentHash(path) ? forever : revalidate);
    // A chatbot widget on another site loads its style and script from here.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  }

  const staticOptions = { dotfiles: 'ignore', index: false, redirect: false, cacheControl: false, setHeaders };

  function checkSlug(slug: string): void {
    if (!/^[a-z0-9-]+$/.test(slug))
      throw new Error(`'${slug}' is not a valid name for assets; use lower-case letters, digits and dashes.`);
    if (folders.has(slug) || bundles.has(slug))
      throw new Error(`Assets named '${slug}' already exist; remove them first.`);
  }

  return {
    add(slug, directory) {
      checkSlug(slug);
      const folder: Folder = { directory };
      folders.set(slug, folder);
      return () => {
        if (folders.get(slug) === folder) folders.delete(slug);
      };
    },
    addBundle(slug, build) {
      checkSlug(slug);
      bundles.set(slug, build);
      return async () => {
        const { script, styles } = await build();
        if (!bundleTexts.has(slug)) bundleTexts.set(slug, textsIn(script.content.toString()));
        return {
          script: `/assets/${slug}/script.js?v=${script.hash}`,
          styles: `/assets/${slug}/styles.css?v=${styles.hash}`,
        };
      };
    },
    url(slug, file) {
      if (/(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]/.test(file))
        throw new Error(
          `'${file}' leads out of the folder 'assets' of '${slug}', which alone is served. Name a file in it, such as 'page.js'.`,
        );
      const path = `/assets/${slug}/${file.split('/').map(encodeURIComponent).join('/')}`;
      const inside = pathOf(slug, file);
      const hash = inside === null ? null : contentHash(inside);
      return hash === null ? path : `${path}?v=${hash}`;
    },
    texts(path) {
      const [, slug = '', file = ''] = /^(?:\/assets\/)?([a-z0-9-]+)\/([^?]+)/.exec(path) ?? [];
      const inside = pathOf(slug, file);
      return { slug, texts: bundleTexts.get(slug) ?? (inside === null ? [] : textsOf(inside)) };
    },
    async handler(request, response, next) {
      const [, slug = '', rest = ''] = /^\/([a-z0-9-]+)(\/.*)$/.exec(request.url) ?? [];
      const build = bundles.get(slug);
      if (build) return sendBundled(request, response, { build, path: rest.split('?', 1)[0] ?? '', next });
      const folder = folders.get(slug);
      if (folder === undefined || pathOf(slug, decodeOrEmpty(rest)) === null) return next();
      folder.serve ??= (await import('express')).default.static(folder.directory, staticOptions);
      const whole = request.url;
      request.url = rest;
      folder.serve(request, response, (error?: unknown) => {
        request.url = whole;
        next(error);
      });
    },
  };
}

function decodeOrEmpty(path: string): string {
  try {
    return decodeURIComponent(path.split('?', 1)[0] ?? '');
  } catch {
    return '';
  }
}

const bundled = { '/script.js': 'script', '/styles.css': 'styles' } as const;

async function sendBundled(
  request: Request,
  response: Response,
  {
    build,
    path,
    next,
  }: {
    readonly build: () => Promise<ClientBundle>;
    readonly path: string;
    readonly next: (error?: unknown) => void;
  },
): Promise<void> {
  if (!Object.hasOwn(bundled, path) || !['GET', 'HEAD'].includes(request.method)) return next();
  try {
    const file = (await build())[bundled[path as keyof typeof bundled]];
    response.setHeader('Cache-Control', request.query['v'] === file.hash ? forever : revalidate);
    response.vary('Accept-Encoding').type(path.slice(1));
    const isGzip = request.acceptsEncodings('gzip') === 'gzip';
    if (isGzip) response.setHeader('Content-Encoding', 'gzip');
    response.send(isGzip ? file.gzipped : file.content);
  } catch (error) {
    next(error);
  }
}
