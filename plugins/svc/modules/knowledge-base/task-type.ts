import { errorText, restError, type RestError } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../kit/automation-task.ts';
import { indexSource } from './indexing/index-source.ts';
import type { KnowledgeParts } from './knowledge.ts';
import { addSourcesTo } from './sources/add-source.ts';
import { SourceError } from './sources/read-source.ts';
import { origins, type Source } from './sources/source.ts';
import { indexJob } from './tables.ts';
import type { KnowledgeBase } from './bases/base-store.ts';

/** The task type that indexes posts and web pages (`knowledge_indexing`). */
export function indexingTask(
  parts: KnowledgeParts,
  bases: readonly Pick<KnowledgeBase, 'id' | 'name'>[],
): AutomationTaskType {
  return {
    id: 'knowledge_indexing',
    label: 'Index content',
    description: 'Adds posts or web pages to a knowledge base. Unchanged content is skipped.',
    sources: ['posts', 'list', 'rss', 'csv'],
    settings: {
      type: 'object',
      properties: {
        base: {
          type: 'integer',
          title: 'Knowledge base',
          minimum: 1,
          description:
            bases.length === 0
              ? 'None exists yet. Create one on the page "Knowledge".'
              : `Its id: ${bases.map(({ id, name }) => `${String(id)} is ${name}`).join(', ')}.`,
          ...(bases.length > 0 && { enum: bases.map(({ id }) => id), default: bases[0]?.id }),
        },
      },
      required: ['base'],
    },
    async check(settings): Promise<Readonly<Record<string, string>>> {
      const base = await parts.bases.get(Number(settings['base']));
      return base?.state === 'active'
        ? {}
        : { base: 'This knowledge base does not exist. Create one on the page "Knowledge".' };
    },
    run: (item) => runItem(parts, item),
  };
}

/** Milliseconds after which the source is indexed as usual if the item was not committed. */
const commitTime = 60_000;

async function runItem(parts: KnowledgeParts, item: AutomationItem): Promise<AutomationResult> {
  const { bases, work, host } = parts;
  const base = await bases.get(Number(item.settings['base']));
  if (base?.state !== 'active')
    throw failed(
      `The knowledge base ${String(item.settings['base'])} does not exist. Choose another one for the automation.`,
      400,
    );
  const { source, started } = await host.database.transaction(async () => {
    const put = await putSource(parts, base, item);
    const key = String(put.id);
    // The item takes over what waits.
    await host.jobs.cancel({ name: indexJob, key, state: 'waiting' });
    return { source: put, started: await host.jobs.start(indexJob, { source: put.id }, { key }) };
  });
  const addAgain = (delay: number) =>
    host.jobs.add(indexJob, { source: source.id }, { key: String(source.id), whenWaiting: 'replace', delay });
  if (!started.isStarted) {
    await addAgain(0);
    throw failed(`${source.title} is being indexed on another node. Try again in a minute.`, 503);
  }
  try {
    return await started.run(async (job) => {
      const signal = AbortSignal.any([item.signal, job.signal]);
      const init = { signal, progress: job.progress, reference: item.origin.reference ?? null };
      const ready = await indexSource(parts, (await work.begin(source.id)) ?? source, init).catch(withoutRetry);
      await job.commit(async () => void (await addAgain(commitTime)));
      return { message: `${source.title}: ${ready.message}`, commit: (transaction) => ready.commit(transaction) };
    });
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    throw cause instanceof SourceError ? failed(cause.message, 400) : (cause ?? error);
  }
}

/** The automation decides about further attempts. */
function withoutRetry(error: unknown): never {
  const message = errorText(error);
  throw Object.assign(new Error(message, { cause: error }), { retryable: false });
}

/** A number is the id of a post, anything else a URL. */
async function putSource(
  parts: KnowledgeParts,
  base: KnowledgeBase,
  { input, target }: AutomationItem,
): Promise<Source> {
  const add = addSourcesTo(parts, base);
  const asked = { origin: origins.task, isHeld: true };
  const postId = Number(input['post_id'] ?? (/^\d{1,9}$/.test(target.trim()) ? target : Number.NaN));
  if (Number.isInteger(postId) && postId > 0) return add.post(postId, asked);
  return add.address(typeof input['url'] === 'string' && input['url'] !== '' ? input['url'] : target, asked);
}

function failed(message: string, status: number): RestError {
  return restError(status, 'rest_svc_knowledge_not_indexed', message);
}
