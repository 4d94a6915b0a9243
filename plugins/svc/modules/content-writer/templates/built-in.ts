import { partNames, type PartName, type PartSettings, type Template } from './template.ts';

const defaultSystem =
  'You write for the website {site}. Write in the language of the topic unless instructed otherwise. Be ' +
  'concrete and correct: no filler, no phrases such as "in today\'s world", no invented facts. Return only ' +
  'the requested text, without remarks about it.';

const small = { temperature: 0.3 } as const;
const on = (prompt: string, more: Partial<PartSettings> = {}): PartSettings => ({
  enabled: true,
  prompt,
  provider: '',
  model: '',
  params: {},
  size: '',
  ...more,
});
const off = (prompt: string, more: Partial<PartSettings> = {}): PartSettings => ({
  ...on(prompt, more),
  enabled: false,
});

const common: Readonly<Record<PartName, PartSettings>> = {
  title: on(
    'Write one title for an article about: {topic}\nKeywords: {keywords}\nAt most 65 characters, no quotation ' +
      'marks, no full stop. Answer with the title alone.',
    { params: { temperature: 0.7 } },
  ),
  content: on(
    'Write an article in Markdown.\nTitle: {title}\nTopic: {topic}\nKeywords to use where they fit: ' +
      '{keywords}\nInstructions: {instructions}\nBegin with a paragraph that says what the reader gets. Use ' +
      'headings of level 2 and 3, short paragraphs, and lists or tables where they help. Do not repeat the ' +
      'title. About 900 words.',
  ),
  excerpt: on(
    'Sum up this article in one or two sentences of at most 50 words, as plain text.\n\n{title}\n\n{content}',
    { params: small },
  ),
  meta_description: on(
    'Write a meta description of 120 to 155 characters for search results: what the page offers and why to ' +
      'open it. Plain text.\n\n{title}\n\n{content}',
    { params: small },
  ),
  focus_keyword: on(
    'Name the one key phrase of one to four words that people would search for to find this article. Answer ' +
      'with the phrase alone, in lower case.\nKeywords given: {keywords}\n\n{title}\n\n{content}',
    { params: small },
  ),
  tags: on('Name 3 to 6 tags for this article, without #.\n\n{title}\n\n{content}', {
    params: small,
  }),
  image: off('A photograph for the article "{title}". Natural light, one clear subject, no text, no logos.'),
};

function template({
  id,
  parts,
  ...rest
}: Pick<Template, 'id' | 'name' | 'description'> &
  Partial<Omit<Template, 'parts'>> & { readonly parts?: Partial<Record<PartName, PartSettings>> }): Template {
  return {
    kind: 'write',
    provider: '',
    model: '',
    system: defaultSystem,
    params: {},
    ...rest,
    id,
    builtIn: true,
    parts: Object.fromEntries(partNames.map((name) => [name, parts?.[name] ?? common[name]])) as Record<
      PartName,
      PartSettings
    >,
  };
}

const postContext = 'This is a post of the website.\n\nTitle: {title}\n\n{content}\n\n';

/** The built-in templates. They are read-only; users can copy them. */
export const builtInTemplates: readonly Template[] = [
  template({
    id: 'article',
    name: 'Article',
    description: 'A full article with title, excerpt and SEO fields.',
  }),
  template({
    id: 'how-to',
    name: 'How-to guide',
    description: 'Numbered steps with requirements and common mistakes.',
    parts: {
      title: on(
        'Write one title, beginning with "How to" or its equivalent in the language of the topic, for a guide ' +
          'about: {topic}\nAt most 65 characters. Answer with the title alone.',
      ),
      content: on(
        'Write a guide in Markdown.\nTitle: {title}\nTopic: {topic}\nKeywords: {keywords}\nInstructions: ' +
          '{instructions}\nSay in two sentences what the reader will have in the end. Then: what is needed (a list), ' +
          'the steps (a numbered list, one action each, with the reason where it helps), common mistakes and how to ' +
          'put them right (level 2 headings). Do not repeat the title.',
      ),
    },
  }),
  template({
    // Saved tasks refer to the template by this id and name.
    id: 'news',
    name: 'News from a source',
    description: 'A short article from a page or feed entry, with a link to the source.',
    parts: {
      title: on(
        'Write a headline for a short piece about this. At most 70 characters, factual, in your own words. Answer ' +
          'with the headline alone.\n\n{topic}\n\n{source}',
      ),
      content: on(
        'Write a short piece of 200 to 350 words in Markdown from the source below. Use nothing that is not in it, ' +
          'and your own words. First what happened, then what it means for readers. End with a link to the source: ' +
          '{source_url}\nTitle: {title}\nInstructions: {instructions}\n\nSource ({source_url}):\n{source}',
      ),
    },
  }),
  template({
    id: 'product',
    name: 'Product description',
    description: 'The benefits of a product, a list of facts and a meta description.',
    parts: {
      title: off('Write a name and a benefit for the product in at most 60 characters: {topic}'),
      content: on(
        'Describe a product in Markdown for people who may buy it.\nProduct: {topic}\nFacts: ' +
          '{instructions}\nKeywords: {keywords}\nTwo short paragraphs about what it does for them, then a list of ' +
          'its facts. Claim nothing that the facts do not say. No heading.',
      ),
      excerpt: on('Sum up this product description in one sentence of at most 25 words.\n\n{content}', {
        params: small,
      }),
    },
  }),
  template({
    id: 'rewrite',
    name: 'Refresh a post',
    description: 'Rewrites a post more clearly with the same facts, including its excerpt and meta description.',
    kind: 'rewrite',
    parts: {
      title: off(`${postContext}Write a better title for it, of at most 65 characters. Answer with the title alone.`),
      content: on(
        `${postContext}Rewrite the text in Markdown: clearer, better ordered, with headings of level 2, and ` +
          'without repetition. Keep every fact, name, number, link, image and [shortcode] in square brackets, and ' +
          'the language. Add nothing. Do not repeat the title. Instructions: {instructions}',
      ),
      tags: off(`${postContext}Name 3 to 6 tags for it, without #.`),
      image: off('A photograph for the article "{title}". Natural light, one clear subject, no text, no logos.'),
    },
  }),
  template({
    id: 'search-texts',
    name: 'Texts for search results',
    description: 'Writes excerpt, meta description, focus keyword and tags of a post, and leaves its text unchanged.',
    kind: 'rewrite',
    parts: { title: off(common.title.prompt), content: off(`${postContext}Rewrite the text in Markdown.`) },
  }),
];
