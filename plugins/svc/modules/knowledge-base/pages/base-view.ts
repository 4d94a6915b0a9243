import type { AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { documentEndings } from '../../../kit/read-document.ts';
import type { KnowledgeBase } from '../bases/base.ts';
import { knowledgeOf } from '../knowledge.ts';
import type { FoundPassage } from '../search.ts';
import { sourceStates, type SourceCounts, type SourceState } from '../sources/source.ts';
import { baseSlug, basesSlug, questionsSlug } from './slugs.ts';
import { sourceRow } from './source-row.ts';

export const perPage = 50;

/** What the page shows beside the sources: a question and what was found, a form that was refused. */
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
  context: ServiceContext,
  base: KnowledgeBase,
  extras: Extras = {},
): Promise<Record<string, unknown>> {
  const { sources, questions } = knowledgeOf(context);
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
  const { admin } = context.host;
  const own = counts.get(base.id) ?? none;
  const all = own.pending + own.indexing + own.indexed + own.failed + own.deleting;
  const here = `${admin.url(baseSlug)}?id=${String(base.id)}`;
  return {
    id: base.id,
    name: base.name,
    isDeleting: base.state === 'deleting',
    listHref: admin.url(basesSlug),
    here,
    questionsHref: `${admin.url(questionsSlug)}?base=${String(base.id)}`,
    questions: open,
    place: `${context.vectorStores.get(base.store)?.label ?? base.store}, ${base.target}`,
    model: base.embeddingModel,
    counts: own,
    all,
    isBusy: own.pending + own.indexing + own.deleting > 0,
    work: workWords(own, all),
    progress: { value: own.indexed + own.failed, max: Math.max(1, all) },
    rows: rows.map(sourceRow),
    total,
    states: stateLinks(here, { counts: own, all, current: state }),
    pagination: paginationOf({ here, state, page, total }),
    idFields: { id: base.id },
    ...formsOf(context, base, extras),
    test: extras.test ?? null,
    fields: settingsFields(base, extras),
    follows: followChoices(context, base),
  };
}

function workWords(counts: SourceCounts, all: number): string {
  const parts = [`${String(counts.indexed)} of ${String(all)} indexed`];
  if (counts.pending + counts.indexing > 0) parts.push(`${String(counts.pending + counts.indexing)} to do`);
  if (counts.failed > 0) parts.push(`${String(counts.failed)} failed`);
  if (counts.deleting > 0) parts.push(`${String(counts.deleting)} being deleted`);
  return parts.join(', ');
}

function stateLinks(
  here: string,
  {
    counts,
    all,
    current,
  }: { readonly counts: SourceCounts; readonly all: number; readonly current: SourceState | undefined },
): { label: string; href: string; current: boolean }[] {
  const words: Readonly<Record<SourceState, string>> = {
    pending: 'Waiting',
    indexing: 'Being indexed',
    indexed: 'Indexed',
    failed: 'Failed',
    deleting: 'Being deleted',
  };
  const shown = sourceStates.filter((state) => counts[state] > 0 || state === current);
  return [
    { label: `All ${String(all)}`, href: here, current: current === undefined },
    ...shown.map((state) => ({
      label: `${words[state]} ${String(counts[state])}`,
      href: `${here}&state=${state}`,
      current: state === current,
    })),
  ];
}

function paginationOf({
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
    text: `Page ${String(page)} of ${String(pages)}`,
    ...(page > 1 && { previous: to(page - 1) }),
    ...(page < pages && { next: to(page + 1) }),
  };
}

/** The forms that add sources; one that was refused is open, with what was typed. */
function formsOf({ host }: ServiceContext, base: KnowledgeBase, { refused }: Extras): Record<string, unknown> {
  const field = (form: string, name: string, init: Readonly<Record<string, unknown>>) => ({
    id: `${form}-${name}`,
    name,
    type: 'text',
    value: refused?.form === form ? (refused.typed[name] ?? '') : '',
    ...(refused?.form === form && refused.errors[name] !== undefined && { error: refused.errors[name] }),
    ...init,
  });
  const isOpen = (form: string): boolean => refused?.form === form;
  const types = host.content
    .postTypes()
    .filter((type) => type.public && type.name !== 'attachment')
    .map(({ name, label }) => ({ value: name, label }));
  return {
    accept: documentEndings.join(','),
    fileError: refused?.form === 'file' ? (refused.errors['file'] ?? '') : '',
    forms: [
      {
        id: 'text',
        title: 'Text',
        action: 'add-text',
        open: isOpen('text'),
        label: 'Add the text',
        fields: [
          field('text', 'title', { label: 'Title', maxlength: 500 }),
          field('text', 'text', {
            type: 'textarea',
            label: 'Text',
            rows: 8,
            required: true,
            help: 'Plain text or Markdown; headings begin with #.',
          }),
        ],
      },
      {
        id: 'qa',
        title: 'Question and answer',
        action: 'add-answer',
        open: isOpen('qa'),
        label: 'Add the answer',
        fields: [
          field('qa', 'question', { label: 'Question', required: true, maxlength: 1000 }),
          field('qa', 'answer', { type: 'textarea', label: 'Answer', rows: 5, required: true }),
        ],
      },
      {
        id: 'posts',
        title: 'Posts of this site',
        action: 'add-posts',
        open: isOpen('posts'),
        label: 'Add new and changed ones',
        fields: [
          field('posts', 'type', {
            type: 'select',
            label: 'Type',
            options: types,
            help: 'All published ones that are new here, or have changed since.',
          }),
        ],
      },
      {
        id: 'address',
        title: 'Web page',
        action: 'add-address',
        open: isOpen('address'),
        label: 'Add the page',
        fields: [
          field('address', 'url', {
            type: 'url',
            label: 'Address',
            required: true,
            mono: true,
            placeholder: 'https://example.com/help',
            help: 'A page, a text or a PDF. Its text is read without menus and footers.',
          }),
        ],
      },
      {
        id: 'sitemap',
        title: 'Sitemap',
        action: 'add-sitemap',
        open: isOpen('sitemap'),
        label: 'Add its pages',
        fields: [
          field('sitemap', 'url', {
            type: 'url',
            label: 'Address',
            required: true,
            mono: true,
            placeholder: 'https://example.com/sitemap.xml',
            help: 'Every page it names, up to 2,000, becomes a source. Index it again to find new ones.',
          }),
        ],
      },
    ],
  };
}

function settingsFields(base: KnowledgeBase, { refused }: Extras): unknown[] {
  const values =
    refused?.form === 'settings'
      ? refused.typed
      : { name: base.name, chunkTokens: base.chunkTokens, overlapTokens: base.overlapTokens };
  const error = (name: string) =>
    refused?.form === 'settings' && refused.errors[name] !== undefined ? { error: refused.errors[name] } : {};
  const field = (name: string, init: Readonly<Record<string, unknown>>) => ({
    id: `settings-${name}`,
    name,
    value: (values as Readonly<Record<string, unknown>>)[name],
    ...error(name),
    ...init,
  });
  return [
    field('name', { type: 'text', label: 'Name', required: true, maxlength: 200 }),
    field('chunkTokens', {
      type: 'number',
      label: 'Tokens of a passage, at most',
      min: 50,
      max: 8000,
      step: 1,
      short: true,
      help: 'When it changes, all sources are cut and embedded anew.',
    }),
    field('overlapTokens', {
      type: 'number',
      label: 'Tokens repeated in the next passage',
      min: 0,
      max: 4000,
      step: 1,
      short: true,
    }),
  ];
}

function followChoices(
  { host }: ServiceContext,
  base: KnowledgeBase,
): { name: string; label: string; checked: boolean }[] {
  return host.content
    .postTypes()
    .filter((type) => type.public && type.name !== 'attachment')
    .map(({ name, label }) => ({ name, label, checked: base.follows.includes(name) }));
}
