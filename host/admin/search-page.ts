import { inLanguage } from '#plugin-api';
import type { AdminPageBody, AdminSearchResult, Logger, User } from '#plugin-api';
import type { Request, Response } from 'express';
import type { AdminContext, AdminDependencies } from './dependencies.ts';
import { toHref } from './local-path.ts';
import type { AdminRegistry } from './registry.ts';

const maxQuery = 100;
/** In the dialog. */
const maxResults = 20;

interface SearchParts {
  readonly registry: AdminRegistry;
  readonly hooks: AdminDependencies['hooks'];
  readonly log: Logger;
}

/** The page that finds pages, objects and actions of the admin. Scripts open it as a dialog with Ctrl+K. */
export function createSearchPage(parts: SearchParts): AdminPageBody {
  return {
    render: async ({ query, user }) => {
      const text = readQuery(query['q']);
      return { template: 'admin/search', data: { query: text, groups: groupResults(await search(parts, user, text)) } };
    },
  };
}

/** Answers `GET /search-results?q=` with the results as JSON for the dialog. */
export async function sendSearchResults(context: AdminContext, request: Request, response: Response): Promise<void> {
  const session = await context.authenticate(request);
  if (!session) return context.errorResponses.requireSignIn(request, response);
  const query = readQuery(request.query['q']);
  const language = context.language?.(session.user.profile?.locale);
  const results = await inLanguage(language, () => search(context, session.user, query));
  response.json({ results: query === '' ? results : results.slice(0, maxResults) });
}

function readQuery(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, maxQuery) : '';
}

/** By what they are: chatbots, posts, or pages of a group of the menu; pages without a group first. */
function groupResults(results: readonly AdminSearchResult[]) {
  return [...new Set(results.map(({ note }) => note))]
    .sort((left, right) => Number(left !== '') - Number(right !== ''))
    .map((note) => ({ title: note || 'Admin', results: results.filter((result) => result.note === note) }));
}

/**
 * How well a title fits, best first: it begins with the query, its words begin with those of the query, it has them, or they are
 * elsewhere.
 */
function rankOf(title: string, words: readonly string[]): number {
  const text = title.toLowerCase();
  if (text.startsWith(words.join(' '))) return 0;
  if (words.every((word) => beginsWord(text, word))) return 1;
  return words.every((word) => text.includes(word)) ? 2 : 3;
}

function beginsWord(text: string, word: string): boolean {
  return text.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word));
}

/**
 * Pages whose title has every word, or whose group has a word that begins so, and what plugins find. Without a query all pages of
 * the menu.
 */
async function search(
  { registry, hooks, log }: SearchParts,
  user: User,
  query: string,
): Promise<readonly AdminSearchResult[]> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const pages = registry
    .menu(user, '!')
    .flatMap(({ title, href, children }) =>
      href === null
        ? children.map((child) => ({ title: child.title, note: title, href: child.href ?? '' }))
        : [{ title, note: '', href }],
    )
    .filter(({ title, note }) =>
      words.every((word) => title.toLowerCase().includes(word) || beginsWord(note.toLowerCase(), word)),
    );
  let found: readonly AdminSearchResult[] = [];
  try {
    if (query !== '') found = await hooks.applyFiltersAsync('admin_search', [], { query, user });
  } catch (error) {
    log.error('Search filter failed', { event: 'admin_search_failed', error });
  }
  const objects = found.map(({ title, note, href }) => ({
    title,
    note,
    href: toHref(href),
  }));
  if (query === '') return pages;
  return [...pages, ...objects]
    .map((result) => ({ result, rank: rankOf(result.title, words) }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ result }) => result);
}
