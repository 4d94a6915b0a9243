import type { HostApi, Post } from '#plugin-api';

/** Post meta. Category and tags are terms of the host as well; themes and plugins may read them here. */
export const metaKeys = {
  description: 'svc_meta_description',
  keyword: 'svc_focus_keyword',
  category: 'svc_category',
  tags: 'svc_tags',
  title: 'svc_seo_title',
  generated: 'svc_ai_generated',
  disclosure: 'svc_ai_disclosure',
} as const;

const text = (maxLength: number) => ({ type: 'string', maxLength }) as const;

/** Registers the keys, and adds title, description, category, tags and disclosure to a post's page. */
export function registerPostMeta({ content, hooks }: Pick<HostApi, 'content' | 'hooks'>): void {
  content.registerMeta('', metaKeys.title, {
    schema: text(200),
    description: 'Title for search results.',
    editor: { label: 'Title for search engines', help: 'If empty, the title of the post is used.' },
    showInRest: true,
  });
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
  content.registerMeta('', metaKeys.generated, {
    schema: { type: 'boolean' },
    description: 'Whether a model wrote the text. Pages of the post say so to programs.',
    showInRest: true,
  });
  content.registerMeta('', metaKeys.disclosure, {
    schema: text(300),
    description: 'Line below the text that says that AI wrote it.',
    editor: { label: 'AI disclosure', help: 'Shown below the text. Leave empty to show none.' },
    showInRest: true,
  });
  hooks.addFilter('the_content', (html: string, post: Post) => withDisclosure(content, html, post), 20);
  hooks.addFilter('document_title', async (title: string, page: { readonly post?: Post }) => {
    const written = page.post ? (await content.meta.all(page.post.id))[metaKeys.title]?.[0] : '';
    return typeof written === 'string' && written !== '' ? written : title;
  });
  hooks.addFilter('wp_head', async (head: string, page: { readonly post?: Post }) =>
    page.post ? headWithMeta(content, head, page.post) : head,
  );
}

async function withDisclosure({ meta }: Pick<HostApi['content'], 'meta'>, html: string, { id }: Post): Promise<string> {
  const line = id > 0 ? (await meta.all(id))[metaKeys.disclosure]?.[0] : '';
  return typeof line !== 'string' || line === ''
    ? html
    : `${html}\n<p class="ai-disclosure" data-ai-disclosure="ai-generated"><small>${escaped(line)}</small></p>`;
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
    ...(values[metaKeys.generated]?.[0] === true ? ['<meta name="ai-disclosure" content="ai-generated">'] : []),
    ...tags.map((tag) => `<meta property="article:tag" content="${escaped(tag)}">`),
  ];
  return [...lines, rest].filter((line) => line !== '').join('\n  ');
}

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
