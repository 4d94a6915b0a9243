import { formatNumber, formFields, type AdminRequest, type FieldErrors, type FormField } from '#plugin-api';
import { documentEndings } from '../../../kit/documents.ts';
import { knowledgeSchema } from '../../../kit/assistants/assistant-knowledge.ts';
import type { KnowledgeBase } from '../bases/base-store.ts';
import { baseSchema } from '../bases/create-base.ts';
import type { KnowledgeParts } from '../knowledge.ts';
import type { FoundPassage } from '../find-knowledge.ts';
import { sourceStates, type SourceCounts, type SourceState, type Source, type SourceKind } from '../sources/source.ts';
import { baseSlug, questionsSlug } from '../register.ts';

const kindLabels: Readonly<Record<SourceKind, string>> = {
  text: 'Text',
  qa: 'Question and answer',
  file: 'File',
  post: 'Post',
  address: 'Page',
  sitemap: 'Sitemap',
};
const badges = {
  pending: { text: 'Waiting', kind: 'info' },
  indexing: { text: 'Indexing', kind: 'info' },
  indexed: { text: 'Indexed', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  deleting: { text: 'Deleting', kind: 'warning' },
} as const;

/** A source as a row of the page. */
function sourceRow(source: Source): Record<string, unknown> {
  const { id, baseId, state, kind, chunksTotal, chunksDone } = source;
  const isBusy = state === 'pending' || state === 'indexing' || state === 'deleting';
  return {
    id,
    title: source.title,
    url: source.url,
    kind: kindLabels[kind],
    badge: badges[state],
    isBusy,
    message: source.message,
    isFailed: state === 'failed',
    isWaiting: state === 'pending' && source.message !== '',
    progress:
      state === 'indexing' && chunksTotal > 0
        ? { value: chunksDone, max: chunksTotal, text: `${formatNumber(chunksDone)} of ${formatNumber(chunksTotal)}` }
        : null,
    chunks: kind === 'sitemap' ? null : chunksTotal,
    indexedAt: source.indexedAt,
    canRetry: state === 'failed' || (state === 'pending' && source.message !== ''),
    canIndex: state === 'indexed',
    isDeleting: state === 'deleting',
    fields: { id: baseId, source: id },
  };
}

export const perPage = 50;

/** Additional content of the page: the result of a test question, or a form with errors. */
export interface Extras {
  readonly query?: AdminRequest['query'];
  readonly test?: {
    readonly question: string;
    readonly found: readonly FoundPassage[] | null;
    readonly failure: string;
  };
  readonly refused?: { readonly form: string; readonly typed: AdminRequest['form']; readonly errors: FieldErrors };
}

const none: SourceCounts = { pending: 0, indexing: 0, indexed: 0, failed: 0, deleting: 0, chunks: 0 };

/** The data of `svc/knowledge-base`. */
export async function baseView(
  parts: KnowledgeParts,
  base: KnowledgeBase,
  extras: Extras = {},
): Promise<Record<string, unknown>> {
  const { sources, questions } = parts;
  const { query = {} } = extras;
  const state = sourceStates.find((known) => known === query['state']);
  const page = Math.max(1, Math.min(100_000, Math.trunc(Number(query['page'])) || 1));
  const filter = { baseId: base.id, ...(state !== undefined && { state }) };
  const [counts, rows, total, open] = await Promise.all([
    sources.counts(),
    sources.list(filter, { limit: perPage, offset: (page - 1) * perPage }),
    sources.count(filter),
    questions.count({ baseId: base.id, state: 'open' }),
  ]);
  const { admin } = parts.host;
  const own = counts.get(base.id) ?? none;
  const all = own.pending + own.indexing + own.indexed + own.failed + own.deleting;
  const here = `${admin.url(baseSlug)}?id=${String(base.id)}`;
  return {
    id: base.id,
    name: base.name,
    isDeleting: base.state === 'deleting',
    here,
    questionsHref: `${admin.url(questionsSlug)}?base=${String(base.id)}`,
    questions: open,
    location: `${parts.vectorStores.get(base.store)?.label ?? base.store}, ${base.target}`,
    model: base.embeddingModel,
    counts: own,
    all,
    isBusy: own.pending + own.indexing + own.deleting > 0,
    work: workSummary(own, all),
    progress: { value: own.indexed + own.failed, max: Math.max(1, all) },
    rows: rows.map(sourceRow),
    total,
    states: stateTabs(here, { counts: own, all, current: state }),
    pagination: createPagination({ here, state, page, total }),
    idFields: { id: base.id },
    ...sourceForms(parts, base, extras),
    test: extras.test ? testView(extras.test) : null,
    fields: settingsFields(base, extras),
    follows: followChoices(parts, base),
  };
}

/** Passages below the minimum match of a new chatbot are marked: it would not get them. */
function testView({ found, ...test }: NonNullable<Extras['test']>): Record<string, unknown> {
  const minimum = knowledgeSchema.properties.min_score.default;
  return { ...test, minimum, found: found?.map((passage) => ({ ...passage, isUsed: passage.score >= minimum })) };
}

function workSummary(counts: SourceCounts, all: number): string {
  const parts = [`${formatNumber(counts.indexed)} of ${formatNumber(all)} indexed`];
  if (counts.pending + counts.indexing > 0) parts.push(`${formatNumber(counts.pending + counts.indexing)} waiting`);
  if (counts.failed > 0) parts.push(`${formatNumber(counts.failed)} failed`);
  if (counts.deleting > 0) parts.push(`${formatNumber(counts.deleting)} deleting`);
  return parts.join(', ');
}

function stateTabs(
  here: string,
  {
    counts,
    all,
    current,
  }: { readonly counts: SourceCounts; readonly all: number; readonly current: SourceState | undefined },
): { label: string; href: string; current: boolean }[] {
  const labels: Readonly<Record<SourceState, string>> = {
    pending: 'Waiting',
    indexing: 'Indexing',
    indexed: 'Indexed',
    failed: 'Failed',
    deleting: 'Deleting',
  };
  const shown = sourceStates.filter((state) => counts[state] > 0 || state === current);
  return [
    { label: `All ${formatNumber(all)}`, href: here, current: current === undefined },
    ...shown.map((state) => ({
      label: `${labels[state]} ${formatNumber(counts[state])}`,
      href: `${here}&state=${state}`,
      current: state === current,
    })),
  ];
}

function createPagination({
  here,
  state,
  page,
  total,
}: {
  readonly here: string;
  readonly state: string | undefined;
  readonly page: number;
  readonly total: number;
}): Record<string, string> | null {
  const pages = Math.ceil(total / perPage);
  if (pages < 2) return null;
  const to = (number: number): string =>
    `${here}${state === undefined ? '' : `&state=${state}`}&page=${String(number)}`;
  return {
    text: `Page ${formatNumber(page)} of ${formatNumber(pages)}`,
    ...(page > 1 && { previous: to(page - 1) }),
    ...(page < pages && { next: to(page + 1) }),
  };
}

/** The forms that add sources. A form with errors is open and shows the submitted values. */
function sourceForms({ host }: KnowledgeParts, base: KnowledgeBase, { refused }: Extras): Record<string, unknown> {
  const field: FormTools['field'] = (form, name, init) => ({
    id: `${form}-${name}`,
    name,
    type: 'text',
    value: refused?.form === form ? (refused.typed[name] ?? '') : '',
    ...(refused?.form === form && refused.errors[name] !== undefined && { error: refused.errors[name] }),
    ...init,
  });
  const isOpen: FormTools['isOpen'] = (form) => refused?.form === form;
  const types = host.content
    .postTypes()
    .filter((type) => type.public && type.name !== 'attachment')
    .map(({ name, label }) => ({ value: name, label }));
  return {
    accept: documentEndings.join(','),
    fileError: refused?.form === 'file' ? (refused.errors['file'] ?? '') : '',
    forms: [...typedForms({ field, isOpen }), ...fetchedForms({ field, isOpen, types })],
  };
}

interface FormTools {
  /** Creates a field of a form; a refused form shows the submitted value and its error. */
  readonly field: (form: string, name: string, init: Readonly<Record<string, unknown>>) => object;
  readonly isOpen: (form: string) => boolean;
}

/** Forms for content typed on the page. */
function typedForms({ field, isOpen }: FormTools): object[] {
  return [
    {
      id: 'text',
      title: 'Text',
      action: 'add-text',
      open: isOpen('text'),
      label: 'Add text',
      fields: [
        field('text', 'title', { label: 'Title', maxlength: 500 }),
        field('text', 'text', {
          type: 'textarea',
          label: 'Text',
          rows: 8,
          required: true,
          help: 'Plain text or Markdown. Headings begin with #.',
        }),
      ],
    },
    {
      id: 'qa',
      title: 'Question and answer',
      action: 'add-answer',
      open: isOpen('qa'),
      label: 'Add answer',
      fields: [
        field('qa', 'question', { label: 'Question', required: true, maxlength: 1000 }),
        field('qa', 'answer', { type: 'textarea', label: 'Answer', rows: 5, required: true }),
      ],
    },
  ];
}

/** Forms for content that is fetched: posts of this site, and pages of others. */
function fetchedForms({ field, isOpen, types }: FormTools & { readonly types: readonly object[] }): object[] {
  return [
    {
      id: 'posts',
      title: 'Posts of this site',
      action: 'add-posts',
      open: isOpen('posts'),
      label: 'Add new and changed posts',
      fields: [
        field('posts', 'type', {
          type: 'select',
          label: 'Type',
          options: types,
          help: 'Adds published posts that are new or have changed since they were indexed.',
        }),
      ],
    },
    {
      id: 'address',
      title: 'Web page',
      action: 'add-address',
      open: isOpen('address'),
      label: 'Add page',
      fields: [
        field('address', 'url', {
          type: 'url',
          label: 'URL',
          required: true,
          mono: true,
          placeholder: 'https://example.com/help',
          help: 'A web page, a text file or a PDF. Menus and footers are left out.',
        }),
      ],
    },
    {
      id: 'sitemap',
      title: 'Sitemap',
      action: 'add-sitemap',
      open: isOpen('sitemap'),
      label: 'Add pages',
      fields: [
        field('sitemap', 'url', {
          type: 'url',
          label: 'URL',
          required: true,
          mono: true,
          placeholder: 'https://example.com/sitemap.xml',
          help: 'Each page it lists, up to 2,000, becomes a source. Index it again to find new pages.',
        }),
      ],
    },
  ];
}

function settingsFields(base: KnowledgeBase, { refused }: Extras): FormField[] {
  const { typed: values = base, errors = {} } = refused?.form === 'settings' ? refused : {};
  return formFields(baseSchema, {
    values,
    errors,
    id: 'settings',
    hints: { chunkTokens: { help: 'Changing this splits and embeds all sources again.' } },
    paths: ['name', 'chunkTokens', 'overlapTokens'],
  });
}

function followChoices(
  { host }: KnowledgeParts,
  base: KnowledgeBase,
): { name: string; label: string; checked: boolean }[] {
  return host.content
    .postTypes()
    .filter((type) => type.public && type.name !== 'attachment')
    .map(({ name, label }) => ({ name, label, checked: base.follows.includes(name) }));
}
