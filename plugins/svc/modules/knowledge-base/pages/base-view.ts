import {
  formatNumber,
  formFields,
  type AdminRequest,
  type FieldErrors,
  type FormField,
  type JsonSchema,
  translateText,
} from '#plugin-api';
import { listPage, paginate } from '../../../admin-ui/list-pages.ts';
import { documentEndings } from '../../../kit/document-kinds.ts';
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
  const filter = { baseId: base.id, ...(state !== undefined && { state }) };
  const total = await sources.count(filter);
  const { page, pages, ...range } = listPage(query, total, perPage);
  const [counts, rows, open] = await Promise.all([
    sources.counts(),
    sources.list(filter, range),
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
    progress: { value: own.indexed + own.failed, succeeded: own.indexed, max: Math.max(1, all) },
    rows: rows.map(sourceRow),
    total,
    states: stateTabs(here, { counts: own, all, current: state }),
    pagination: paginate({ page, pages, query: { id: String(base.id), state: state ?? '' } }),
    idFields: { id: base.id },
    ...addForms(parts, extras),
    test: extras.test ?? null,
    fields: settingsFields(base, extras),
    follows: postTypes(parts).map(({ name, label }) => ({ name, label, checked: base.follows.includes(name) })),
  };
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
  const shown = sourceStates.filter((state) => counts[state] > 0 || state === current);
  return [
    { label: `All ${formatNumber(all)}`, href: here, current: current === undefined },
    ...shown.map((state) => ({
      label: `${translateText(badges[state].text)} ${formatNumber(counts[state])}`,
      href: `${here}&state=${state}`,
      current: state === current,
    })),
  ];
}

const url = { type: 'string', format: 'uri', title: 'URL', required: true } as const;

/** The forms that add sources, by their id and their kind of fields. */
const sourceForms: Readonly<Record<string, Readonly<Record<'title' | 'action' | 'label', string>> & JsonSchema>> = {
  text: {
    title: 'Text',
    action: 'add-text',
    label: 'Add text',
    properties: {
      title: { type: 'string', title: 'Title', maxLength: 500 },
      text: {
        type: 'string',
        title: 'Text',
        description: 'Plain text or Markdown. Headings begin with #.',
        required: true,
        ui: { rows: 8 },
      },
    },
  },
  qa: {
    title: 'Question and answer',
    action: 'add-answer',
    label: 'Add answer',
    properties: {
      question: { type: 'string', title: 'Question', required: true, maxLength: 1000 },
      answer: { type: 'string', title: 'Answer', required: true, ui: { rows: 5 } },
    },
  },
  posts: {
    title: 'Posts of this site',
    action: 'add-posts',
    label: 'Add new and changed posts',
    properties: {
      type: {
        type: 'string',
        title: 'Type',
        description: 'Adds published posts that are new or have changed since they were indexed.',
      },
    },
  },
  address: {
    title: 'Web page',
    action: 'add-address',
    label: 'Add page',
    properties: {
      url: {
        ...url,
        description: 'A web page, or a file such as a PDF. Menus and footers are left out.',
        ui: { mono: true, placeholder: 'https://example.com/help' },
      },
    },
  },
  sitemap: {
    title: 'Sitemap',
    action: 'add-sitemap',
    label: 'Add pages',
    properties: {
      url: {
        ...url,
        description: 'Each page it lists, up to 2,000, becomes a source. Index it again to find new pages.',
        ui: { mono: true, placeholder: 'https://example.com/sitemap.xml' },
      },
    },
  },
};

/** The forms that add sources. A form with errors is open and shows the submitted values. */
function addForms(parts: KnowledgeParts, { refused }: Extras): Record<string, unknown> {
  const hints = { type: { choices: postTypes(parts).map(({ name, label }) => ({ value: name, label })) } };
  return {
    accept: documentEndings.join(','),
    fileError: refused?.form === 'file' ? (refused.errors['file'] ?? '') : '',
    forms: Object.entries(sourceForms).map(([id, form]) => {
      const { typed: values = {}, errors = {} } = refused?.form === id ? refused : {};
      return { ...form, id, open: refused?.form === id, fields: formFields(form, { values, errors, id, hints }) };
    }),
  };
}

function postTypes({ host }: KnowledgeParts) {
  return host.content.postTypes().filter((type) => type.public && type.name !== 'attachment');
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
