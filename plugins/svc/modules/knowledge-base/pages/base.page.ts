import { readFile } from 'node:fs/promises';
import {
  parseId,
  formatCount,
  formatNumber,
  invalidFields,
  RestError,
  withNotice,
  withFieldErrors,
  restError,
} from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import type { KnowledgeBase } from '../bases/base-store.ts';
import { updateBase, parseInteger } from '../bases/create-base.ts';
import type { KnowledgeParts } from '../knowledge.ts';
import { searchKnowledge } from '../find-knowledge.ts';
import { addSourcesTo, type AddSources } from '../sources/add-source.ts';
import type { Source } from '../sources/source.ts';
import { baseView, type Extras } from './base-view.ts';
import { baseSlug, basesSlug } from '../register.ts';

const found = 8;

type Action = (request: AdminRequest) => Promise<AdminActionResult>;

/** The page of one knowledge base: its sources, forms to add some, a test box and its settings. */
export function createPage(parts: KnowledgeParts): AdminPageBody {
  /** An action that adds a source. Shows the form again if a field has an error. */
  const adding =
    (form: string, add: (to: AddSources, request: AdminRequest) => Promise<string>): Action =>
    async (request) => {
      const base = await findBase(parts, readText(request, 'id'));
      if (base.state === 'deleting') throw baseNotFound();
      return withForm(parts, { base, form, request }, async () =>
        withNotice('success', await add(addSourcesTo(parts, base), request), { redirect: basePath(base) }),
      );
    };
  const added = ({ title }: Source): string => `"${title}" added. It is indexed in the background.`;
  return {
    async render(request) {
      return page(parts, await findBase(parts, request.query['id']), { query: request.query });
    },
    actions: {
      'add-text': adding('text', async (to, request) =>
        added(await to.text({ title: readText(request, 'title'), text: readText(request, 'text') })),
      ),
      'add-answer': adding('qa', async (to, request) =>
        added(await to.answer({ question: readText(request, 'question'), answer: readText(request, 'answer') })),
      ),
      'add-file': adding('file', async (to, request) => {
        const file = request.files?.['file'];
        if (file === undefined || file.size === 0) throw invalidFields({ file: 'Choose a file.' });
        return added(await to.file({ name: file.name, bytes: await readFile(file.path) }));
      }),
      'add-address': adding('address', async (to, request) => added(await to.address(readText(request, 'url')))),
      'add-sitemap': adding(
        'sitemap',
        async (to, request) =>
          `${(await to.sitemap(readText(request, 'url'))).title} is queued. Its pages are added in the background.`,
      ),
      'add-posts': adding('posts', async (to, request) => {
        const { added: count, all } = await to.postType(readText(request, 'type'));
        return all === 0
          ? 'This type has no published posts.'
          : count === 0
            ? `All ${formatNumber(all)} posts are up to date.`
            : `${formatNumber(count)} of ${formatCount(all, 'post')} are new or changed. They are indexed in the background.`;
      }),
      ...sourceActions(parts),
      ...baseActions(parts),
      search: (request) => test(parts, request),
    },
  };
}

function sourceActions(parts: KnowledgeParts): Readonly<Record<string, Action>> {
  const { sources } = parts;
  const one = async (request: AdminRequest): Promise<{ readonly base: KnowledgeBase; readonly id: number }> => {
    const base = await findBase(parts, readText(request, 'id'));
    const source = await sources.get(parseId(readText(request, 'source')));
    if (source?.baseId !== base.id)
      throw restError(
        404,
        'rest_svc_source_not_found',
        'This source no longer exists. It may have been deleted in another window.',
      );
    return { base, id: source.id };
  };
  return {
    retry: async (request) => {
      const { base, id } = await one(request);
      await sources.requeue({ id });
      return withNotice('info', 'The source is tried again.', { redirect: basePath(base) });
    },
    'retry-failed': async (request) => {
      const base = await findBase(parts, readText(request, 'id'));
      const count = await sources.requeue({ baseId: base.id, state: 'failed' });
      return withNotice('info', `Retrying ${formatCount(count, 'source')}.`, { redirect: basePath(base) });
    },
    'index-all': async (request) => {
      const base = await findBase(parts, readText(request, 'id'));
      const count = await sources.requeue({ baseId: base.id });
      return withNotice('info', `Checking ${formatCount(count, 'source')}. Unchanged sources are skipped.`, {
        redirect: basePath(base),
      });
    },
    'delete-source': async (request) => {
      const { base, id } = await one(request);
      await sources.markDeleting({ parentId: id });
      await sources.markDeleting({ id });
      return withNotice('info', 'Deleting… it disappears when its passages are removed.', { redirect: basePath(base) });
    },
  };
}

function baseActions(parts: KnowledgeParts): Readonly<Record<string, Action>> {
  const { bases, sources } = parts;
  return {
    save: async (request) => {
      const base = await findBase(parts, readText(request, 'id'));
      const types = new Set(parts.host.content.postTypes().map(({ name }) => name));
      const typed = request.form['follows'];
      const follows = (Array.isArray(typed) ? typed : [typed]).filter(
        (name): name is string => typeof name === 'string' && types.has(name),
      );
      return withForm(parts, { base, form: 'settings', request }, async () => {
        await updateBase(parts, base, {
          name: readText(request, 'name').trim(),
          chunkTokens: parseInteger(readText(request, 'chunkTokens'), Number.NaN),
          overlapTokens: parseInteger(readText(request, 'overlapTokens'), Number.NaN),
          follows,
        });
        return withNotice('success', 'Settings saved.', { redirect: basePath(base) });
      });
    },
    delete: async (request) => {
      const base = await findBase(parts, readText(request, 'id'));
      await bases.markDeleting(base.id, readText(request, 'target') === '1');
      await sources.markDeleting({ baseId: base.id });
      return withNotice('success', `Deleting ${base.name}… it disappears when its passages are removed.`, {
        redirect: basesSlug,
      });
    },
  };
}

async function page(parts: KnowledgeParts, base: KnowledgeBase, extras: Extras): Promise<AdminView> {
  return { template: 'svc/knowledge-base', title: base.name, data: await baseView(parts, base, extras) };
}

async function test(parts: KnowledgeParts, request: AdminRequest): Promise<AdminActionResult> {
  const base = await findBase(parts, readText(request, 'id'));
  const question = readText(request, 'question').trim();
  const shown = async (extras: NonNullable<Extras['test']>): Promise<AdminActionResult> => ({
    page: await page(parts, base, { test: extras }),
  });
  if (question === '') return shown({ question, found: null, failure: 'Enter a question.' });
  try {
    return await shown({
      question,
      found: await searchKnowledge(parts, base, {
        text: question.slice(0, 8_000),
        limit: found,
        signal: request.signal,
      }),
      failure: '',
    });
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return shown({ question, found: null, failure: error.message });
  }
}

/** Runs an action. If a field has an error, returns the page with the form and its errors. */
async function withForm(
  parts: KnowledgeParts,
  { base, form, request }: { readonly base: KnowledgeBase; readonly form: string; readonly request: AdminRequest },
  run: () => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  return withFieldErrors(run, (errors) => page(parts, base, { refused: { form, typed: request.form, errors } }));
}

async function findBase(parts: KnowledgeParts, id: unknown): Promise<KnowledgeBase> {
  const base = await parts.bases.get(parseId(id));
  if (base === null) throw baseNotFound();
  return base;
}

function baseNotFound(): RestError {
  return restError(
    404,
    'rest_svc_knowledge_base_not_found',
    'This knowledge base no longer exists. It may have been deleted in another window.',
  );
}

function basePath({ id }: Pick<KnowledgeBase, 'id'>): string {
  return `${baseSlug}?id=${String(id)}`;
}
