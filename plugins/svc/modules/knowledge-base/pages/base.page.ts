import { readFile } from 'node:fs/promises';
import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { fieldErrorsOf } from '../../../kit/field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { KnowledgeBase } from '../bases/base.ts';
import { changeBase, whole } from '../bases/create-base.ts';
import { knowledgeOf } from '../knowledge.ts';
import { searchKnowledge } from '../search.ts';
import { addSourcesTo, type AddSources } from '../sources/add-source.ts';
import { baseView, type Extras } from './base-view.ts';
import { baseSlug, basesSlug } from './slugs.ts';

const template = 'svc/knowledge-base';
const found = 8;

type Action = (request: AdminRequest) => Promise<AdminActionResult>;

/** The page of one knowledge base: its sources and how they fare, what adds some, the test box, its settings. */
export function basePage(context: ServiceContext): AdminPageBody {
  /** What adds a source; where it is refused its form comes back. */
  const adding =
    (form: string, add: (to: AddSources, request: AdminRequest) => Promise<string>): Action =>
    async (request) => {
      const base = await baseOf(context, readText(request, 'id'));
      if (base.state === 'deleting') throw goneError();
      return orForm(context, { base, form, request }, async () => ({
        notice: { kind: 'success', text: await add(addSourcesTo(context, base), request) },
        redirect: pathOf(base),
      }));
    };
  const added = (title: string): string => `${title} is added. It is indexed in the background.`;
  return {
    async render(request) {
      const id = request.query['id'];
      return {
        template,
        data: await baseView(context, await baseOf(context, typeof id === 'string' ? id : ''), {
          query: request.query,
        }),
      };
    },
    actions: {
      'add-text': adding('text', async (to, request) =>
        added((await to.text({ title: readText(request, 'title'), text: readText(request, 'text') })).title),
      ),
      'add-answer': adding('qa', async (to, request) =>
        added(
          (await to.answer({ question: readText(request, 'question'), answer: readText(request, 'answer') })).title,
        ),
      ),
      'add-file': adding('file', async (to, request) => {
        const file = request.files?.['file'];
        if (file === undefined || file.size === 0)
          throw new RestError({
            code: 'rest_invalid_param',
            status: 400,
            message: 'Choose a file.',
            data: { params: { file: 'Choose a file.' } },
          });
        return added((await to.file({ name: file.name, bytes: await readFile(file.path) })).title);
      }),
      'add-address': adding('address', async (to, request) =>
        added((await to.address(readText(request, 'url'))).title),
      ),
      'add-sitemap': adding(
        'sitemap',
        async (to, request) => `${(await to.sitemap(readText(request, 'url'))).title} is being read.`,
      ),
      'add-posts': adding('posts', async (to, request) => {
        const { added: count, all } = await to.postType(readText(request, 'type'));
        return all === 0
          ? 'There is no published post of this type.'
          : count === 0
            ? `All ${String(all)} are indexed as they are.`
            : `${String(count)} of ${String(all)} are new or changed. They are indexed in the background.`;
      }),
      ...sourceActions(context),
      ...baseActions(context),
      search: (request) => test(context, request),
    },
  };
}

function sourceActions(context: ServiceContext): Readonly<Record<string, Action>> {
  const { sources } = knowledgeOf(context);
  const one = async (request: AdminRequest): Promise<{ readonly base: KnowledgeBase; readonly id: number }> => {
    const base = await baseOf(context, readText(request, 'id'));
    const source = await sources.get(Number(readText(request, 'source')));
    if (source?.baseId !== base.id)
      throw new RestError({
        code: 'rest_svc_source_not_found',
        status: 404,
        message: 'This source is not there any more. It may have been deleted in another window.',
      });
    return { base, id: source.id };
  };
  return {
    retry: async (request) => {
      const { base, id } = await one(request);
      await sources.requeue({ id });
      return { notice: { kind: 'info', text: 'It is tried again.' }, redirect: pathOf(base) };
    },
    'retry-failed': async (request) => {
      const base = await baseOf(context, readText(request, 'id'));
      const count = await sources.requeue({ baseId: base.id, state: 'failed' });
      return {
        notice: {
          kind: 'info',
          text: count === 1 ? '1 source is tried again.' : `${String(count)} sources are tried again.`,
        },
        redirect: pathOf(base),
      };
    },
    'index-all': async (request) => {
      const base = await baseOf(context, readText(request, 'id'));
      const count = await sources.requeue({ baseId: base.id }, { anew: readText(request, 'anew') === '1' });
      return {
        notice: {
          kind: 'info',
          text: `${count === 1 ? '1 source is' : `${String(count)} sources are`} looked at again. What has not changed is skipped.`,
        },
        redirect: pathOf(base),
      };
    },
    'delete-source': async (request) => {
      const { base, id } = await one(request);
      await sources.markDeleting({ parentId: id });
      await sources.markDeleting({ id });
      return {
        notice: { kind: 'info', text: 'It goes as soon as its passages are deleted from the vector store.' },
        redirect: pathOf(base),
      };
    },
  };
}

function baseActions(context: ServiceContext): Readonly<Record<string, Action>> {
  const { bases, sources } = knowledgeOf(context);
  return {
    save: async (request) => {
      const base = await baseOf(context, readText(request, 'id'));
      const types = new Set(context.host.content.postTypes().map(({ name }) => name));
      const typed = request.form['follows'];
      const follows = (Array.isArray(typed) ? typed : [typed]).filter(
        (name): name is string => typeof name === 'string' && types.has(name),
      );
      return orForm(context, { base, form: 'settings', request }, async () => {
        await changeBase(context, base, {
          name: readText(request, 'name').trim(),
          chunkTokens: whole(readText(request, 'chunkTokens'), Number.NaN),
          overlapTokens: whole(readText(request, 'overlapTokens'), Number.NaN),
          follows,
        });
        return { notice: { kind: 'success', text: 'The settings are saved.' }, redirect: pathOf(base) };
      });
    },
    delete: async (request) => {
      const base = await baseOf(context, readText(request, 'id'));
      if (readText(request, 'confirm') !== '1')
        return {
          notice: { kind: 'error', text: `Nothing was deleted. Tick the box to confirm that ${base.name} is to go.` },
          redirect: pathOf(base),
        };
      await bases.markDeleting(base.id, readText(request, 'target') === '1');
      await sources.markDeleting({ baseId: base.id });
      void knowledgeOf(context)
        .drain()
        .catch(() => undefined);
      return {
        notice: {
          kind: 'success',
          text: `${base.name} goes as soon as its passages are deleted from the vector store.`,
        },
        redirect: basesSlug,
      };
    },
  };
}

async function test(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const base = await baseOf(context, readText(request, 'id'));
  const question = readText(request, 'question').trim();
  const shown = async (extras: NonNullable<Extras['test']>): Promise<AdminActionResult> => ({
    page: { template, data: await baseView(context, base, { test: extras }) },
  });
  if (question === '') return shown({ question, found: null, failure: 'Type a question first.' });
  try {
    return await shown({
      question,
      found: await searchKnowledge(context, base, {
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

/** The outcome, or the page with the form that was refused. */
async function orForm(
  context: ServiceContext,
  { base, form, request }: { readonly base: KnowledgeBase; readonly form: string; readonly request: AdminRequest },
  act: () => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  try {
    return await act();
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === null) throw error;
    return {
      notice: { kind: 'error', text: Object.values(errors).join(' ') },
      page: { template, data: await baseView(context, base, { refused: { form, typed: request.form, errors } }) },
      status: 400,
    };
  }
}

async function baseOf(context: ServiceContext, id: string): Promise<KnowledgeBase> {
  const base = /^\d{1,9}$/.test(id) ? await knowledgeOf(context).bases.get(Number(id)) : null;
  if (base === null) throw goneError();
  return base;
}

function goneError(): RestError {
  return new RestError({
    code: 'rest_svc_knowledge_base_not_found',
    status: 404,
    message: 'There is no such knowledge base. It may have been deleted in another window.',
  });
}

function pathOf({ id }: Pick<KnowledgeBase, 'id'>): string {
  return `${baseSlug}?id=${String(id)}`;
}
