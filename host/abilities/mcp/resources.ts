import { isRecord, type AbilityCaller, type McpResource, type McpResourceSource } from '#plugin-api';
import { userFor } from '../caller.ts';
import type { McpDependencies } from './mcp-route.ts';

const pageSize = 50;
/** Posts that the routes of `wp/v2` list at once. */
const mostPosts = 100;

/** Posts and pages, as the routes of `wp/v2` show them to the user. */
export function postSources(rest: McpDependencies['rest']): McpResourceSource[] {
  return [postSource(rest, 'posts', 'Post'), postSource(rest, 'pages', 'Page')];
}

function postSource(rest: McpDependencies['rest'], base: string, name: string): McpResourceSource {
  const prefix = `wp://${base}/`;
  const mimeType = 'text/html';
  return {
    prefix,
    uriTemplate: `${prefix}{id}`,
    name,
    ability: 'host/read-post',
    description: `A ${name.toLowerCase()} with its rendered content.`,
    async list({ user, offset, limit }) {
      const query = { offset, per_page: limit, _fields: 'id,title' };
      const { body, status } = await rest.dispatch(`/wp/v2/${base}`, { query, user });
      if (status !== 200) return [];
      return (body as readonly { id: number; title: { rendered: string } }[]).map(({ id, title }) => ({
        uri: `${prefix}${id}`,
        name: title.rendered || `#${id}`,
        mimeType,
      }));
    },
    async read(uri, user) {
      const id = /^\d{1,10}$/.exec(uri.slice(prefix.length))?.[0];
      if (id === undefined) return null;
      const { body, status } = await rest.dispatch(`/wp/v2/${base}/${id}`, { user });
      if (status !== 200 || !isRecord(body)) return null;
      const rendered = (member: string): string => String((body[member] as { rendered?: unknown }).rendered ?? '');
      return { text: `<h1>${rendered('title')}</h1>\n${rendered('content')}`, mimeType };
    },
    /** The newest ids that begin with the digits, or those of posts with the words. */
    async complete({ value, user }) {
      const text = value.trim();
      const isId = /^\d*$/.test(text);
      const query = { per_page: mostPosts, _fields: 'id', ...(!isId && { search: text }) };
      const { body, status } = await rest.dispatch(`/wp/v2/${base}`, { query, user });
      if (status !== 200) return [];
      const ids = (body as readonly { id: number }[]).map(({ id }) => String(id));
      return isId ? ids.filter((id) => id.startsWith(text)) : ids;
    },
  };
}

/** One page of all sources, and the cursor of the next. @param cursor `source:offset` */
export async function listResources(
  sources: readonly McpResourceSource[],
  caller: AbilityCaller,
  cursor = '0:0',
): Promise<{ resources: McpResource[]; nextCursor?: string } | null> {
  const [, index = '', offset = ''] = /^(\d{1,4}):(\d{1,7})$/.exec(cursor) ?? [];
  if (index === '') return null;
  const source = sources[Number(index)];
  if (source === undefined) return { resources: [] };
  const user = userFor(source.ability ?? null, caller);
  const resources = [...(await source.list({ user, offset: Number(offset), limit: pageSize }))];
  const isFull = resources.length >= pageSize;
  const next = isFull ? `${index}:${Number(offset) + pageSize}` : `${Number(index) + 1}:0`;
  const isLast = !isFull && Number(index) + 1 >= sources.length;
  return { resources, ...(!isLast && { nextCursor: next }) };
}
