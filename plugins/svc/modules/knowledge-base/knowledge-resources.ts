import type { McpResourceSource } from '#plugin-api';
import { readText } from './indexing/index-source.ts';
import type { KnowledgeParts } from './knowledge.ts';
import type { Source } from './sources/source.ts';

const prefix = 'knowledge://';
const mimeType = 'text/markdown';
/** Sources that a suggestion is made of. */
const mostSources = 1_000;
const indexed = { state: 'indexed', hasText: true } as const;

/**
 * The indexed sources of all knowledge bases as resources of MCP, for those who may search them (D34). A web page is fetched
 * when it is read: only its passages are stored.
 */
export function knowledgeResources({ host, bases, sources }: KnowledgeParts): McpResourceSource {
  return {
    prefix,
    uriTemplate: `${prefix}{base}/{source}`,
    name: 'Knowledge',
    ability: 'svc/search-knowledge',
    description:
      'The text of a source of a knowledge base. The ability svc/list-knowledge-bases returns the ids of bases.',
    async list({ user, offset, limit }) {
      if (!user.can('manage_options')) return [];
      const [found, known] = await Promise.all([sources.list(indexed, { offset, limit }), bases.list()]);
      return found.map(({ id, baseId, title }) => ({
        uri: `${prefix}${String(baseId)}/${String(id)}`,
        name: title,
        description: `Source of the knowledge base ${known.find((base) => base.id === baseId)?.name ?? String(baseId)}.`,
        mimeType,
      }));
    },
    async read(uri, user) {
      const source = user.can('manage_options') ? await findSource(uri) : null;
      const base = source && (await bases.get(source.baseId));
      if (source === null || base === null) return null;
      const init = { signal: new AbortController().signal, onProgress: () => undefined };
      const { text } = await readText({ host, sources }, { source, base }, init);
      return { text, mimeType };
    },
    async complete({ name, value, values, user, limit }) {
      if (!user.can('manage_options')) return [];
      if (name === 'base')
        return matchesOf(
          (await bases.list()).map(({ id, name: title }) => ({ id, title })),
          value,
        );
      const baseId = Number(values['base'] ?? 'none');
      const found = await sources.list(
        { ...indexed, ...(Number.isSafeInteger(baseId) && { baseId }) },
        { offset: 0, limit: mostSources },
      );
      return matchesOf(found, value).slice(0, limit);
    },
  };

  async function findSource(uri: string): Promise<Source | null> {
    const [, base, id] = /^knowledge:\/\/([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(uri) ?? [];
    const source = id === undefined ? null : await sources.get(Number(id));
    const isReadable = source?.baseId === Number(base) && source.state === 'indexed' && source.kind !== 'sitemap';
    return isReadable ? source : null;
  }
}

/** The ids that begin with what is typed, or whose titles have it. */
function matchesOf(found: readonly { readonly id: number; readonly title: string }[], value: string): string[] {
  const text = value.trim().toLowerCase();
  return found
    .filter(({ id, title }) => String(id).startsWith(text) || title.toLowerCase().includes(text))
    .map(({ id }) => String(id));
}
