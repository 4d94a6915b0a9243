import { findFieldError, isUrl, readSentFields } from '#plugin-api';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { findListResponse } from './post-list-pages.ts';
import { commentPath, sendComment } from './comment-form.ts';
import { enterPassword, passwordPath } from './password-form.ts';
import { findSinglePost } from './single-post-page.ts';
import type { PlainHandler } from '../media/serve-uploads.ts';
import {
  unreadableQuery,
  type FormAnswer,
  type PublicSiteDependencies,
  type SentForm,
  type SiteResponse,
  type SiteSession,
  type SiteVisit,
} from './site-page.ts';

/** Forms of visitors by the path that they are sent to. */
const forms = new Map<string, (given: PublicSiteDependencies, sent: SentForm) => Promise<FormAnswer | null>>([
  [passwordPath, enterPassword],
  [commentPath, sendComment],
]);

/**
 * The public site: posts, pages, lists, search, archives and the feed. Passes unknown paths, and a home page without posts,
 * to the next handler.
 */
export function createPublicSite(given: PublicSiteDependencies): PlainHandler {
  return (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const form = request.method === 'POST' ? forms.get(request.url ?? '') : undefined;
    const visit = isRead || form !== undefined ? readVisit(given, request) : null;
    if (visit === null) return next();
    if (findFieldError(Object.fromEntries(readSentFields(visit.url.search.slice(1)))) !== null)
      return next(unreadableQuery());
    if (form !== undefined) {
      form(given, { request, response, visit })
        .then((answer) => (answer === null ? next(notFound) : sendAnswer({ given, request, response }, answer)))
        .catch(next);
      return;
    }
    findResponse(given, visit)
      .then(async (found) =>
        found === null ? next(hasPostQuery(visit) ? notFound : undefined) : send({ given, request, response }, found),
      )
      .catch(next);
  };
}

async function sendAnswer(exchange: Exchange, answer: FormAnswer): Promise<void> {
  if (answer.kind === 'refused') return send(exchange, answer.page, answer);
  const cookie = answer.cookie === undefined ? {} : { 'Set-Cookie': answer.cookie };
  exchange.response.writeHead(303, { Location: answer.to, ...cookie, 'Cache-Control': 'no-store' }).end();
}

const notFound = Object.assign(new Error('Post not found.'), { status: 404 });

/** Whether the root URL requests something other than the home page, for example `/?p=7`. */
function hasPostQuery({ url, parts }: SiteVisit): boolean {
  return parts.length === 0 && ['p', 'page_id', 'author', 'paged', 'feed'].some((name) => url.searchParams.has(name));
}

async function findResponse(given: PublicSiteDependencies, visit: SiteVisit): Promise<SiteResponse | null> {
  const { searchParams } = visit.url;
  const isById = visit.parts.length === 0 && (searchParams.has('p') || searchParams.has('page_id'));
  const list = isById ? undefined : await findListResponse(given, visit);
  return list === undefined ? findSinglePost(given, visit) : list;
}

/** Null: the path cannot belong to this site. */
function readVisit({ authenticate, anonymous }: PublicSiteDependencies, request: IncomingMessage): SiteVisit | null {
  const path = request.url ?? '/';
  if (!path.startsWith('/') || path.startsWith('//') || !isUrl(path, 'http://local.invalid')) return null;
  const url = new URL(path, 'http://local.invalid');
  const parts = decodeParts(url.pathname);
  if (parts === null) return null;
  const visitor: SiteSession = { user: anonymous, sessionId: '' };
  let session: Promise<SiteSession | null> | undefined;
  return {
    url,
    parts,
    cookies: request.headers.cookie,
    ip: (request as IncomingMessage & { readonly ip?: string }).ip ?? '',
    session: async () =>
      request.headers.cookie === undefined ? visitor : ((await (session ??= authenticate(request))) ?? visitor),
  };
}

function decodeParts(path: string): string[] | null {
  try {
    const parts = path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
    return parts.some((part) => /[\0/\\]/.test(part)) || /\/\//.test(path) ? null : parts;
  } catch {
    return null;
  }
}

interface Exchange {
  readonly given: PublicSiteDependencies;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function send(
  { given, request, response }: Exchange,
  found: SiteResponse,
  {
    status = 200,
    headers = {},
  }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  if (found.kind === 'redirect') {
    response.writeHead(301, { Location: found.to, 'Cache-Control': 'no-cache' }).end();
    return;
  }
  if (found.kind === 'feed') return sendFeed({ given, request, response }, found);
  const template = await given.hooks.applyFiltersAsync('template_include', found.page.template, found.page);
  const html = await given.renderPage({ ...found.page, template });
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': found.isPersonal === true ? 'private, no-store' : 'no-cache',
    'Content-Length': Buffer.byteLength(html),
  });
  response.end(request.method === 'HEAD' ? undefined : html);
}

function sendFeed({ request, response }: Exchange, { xml }: { readonly xml: string }): void {
  const tag = `"${createHash('sha256').update(xml).digest('base64url').slice(0, 22)}"`;
  const headers = { 'Cache-Control': 'no-cache', ETag: tag };
  if (request.headers['if-none-match']?.split(',').some((known) => known.trim().replace(/^W\//, '') === tag) === true) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    'Content-Type': 'application/rss+xml; charset=utf-8',
    'Content-Length': Buffer.byteLength(xml),
  });
  response.end(request.method === 'HEAD' ? undefined : xml);
}
