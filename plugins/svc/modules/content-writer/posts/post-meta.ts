import type { HostApi, Post } from '#plugin-api';

/** Post meta. Category and tags are terms of the host as well; themes and plugins may read them here. */
export const metaKeys = {
  description: 'svc_meta_description',
  keyword: 'svc_focus_keyword',
  category: 'svc_category',
  tags: 'svc_tags',
} as const;

const text = (maxLength: number) => ({ type: 'string', maxLength }) as const;

/** Registers the keys, and adds description, category and tags to the head of a post's page. */
export function registerPostMeta({ content, hooks }: Pick<HostApi, 'content' | 'hooks'>): void {
  content.registerMeta('', metaKeys.description, {
    schema: text(500),
    description: 'Description for search results.',
    editor: {
      label: 'Meta description',
      help: 'Shown by search engines below the title. If empty, the beginning of the text is used.',
      rows: 2,
    },
    showInRest: true,
  });
  content.registerMeta('', metaKeys.keyword, {
    schema: text(200),
    description: 'Search phrase that the post targets.',
    editor: { label: 'Focus keyword', help: 'The search phrase that this text targets. Visitors do not see it.' },
    showInRest: true,
  });
  content.registerMeta('', metaKeys.category, { schema: text(200), description: 'Category.', showInRest: true });
  content.registerMeta('', metaKeys.tags, { schema: text(200), single: false, description: 'Tags.', showInRest: true });
  hooks.addFilter('wp_head', async (head: string, page: { readonly post?: Post }) =>
    page.post ? headWithMeta(content, head, page.post) : head,
  );
}

async function headWithMeta(
  { meta }: Pick<HostApi['content'], 'meta'>,
  head: string,
  { id, password }: Post,
): Promise<string> {
  const values = await meta.all(id);
  const one = (key: string): string => (typeof values[key]?.[0] === 'string' ? values[key][0] : '');
  // A description summarizes the text, which the password protects.
  const description = password === '' ? one(metaKeys.description) : '';
  // A written description replaces the one that the host generates from the text.
  const rest = description === '' ? head : head.replace(/<meta name="description"[^>]*>\s*/, '');
  const tags = (values[metaKeys.tags] ?? []).filter((tag): tag is string => typeof tag === 'string');
  const lines = [
    ...(description === '' ? [] : [`<meta name="description" content="${escaped(description)}">`]),
    ...(one(metaKeys.category) === ''
      ? []
      : [`<meta property="article:section" content="${escaped(one(metaKeys.category))}">`]),
    ...tags.map((tag) => `<meta property="article:tag" content="${escaped(tag)}">`),
  ];
  return [...lines, rest].filter((line) => line !== '').join('\n  ');
}

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
