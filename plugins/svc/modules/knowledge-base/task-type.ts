import { RestError } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../kit/automation-task.ts';
import type { ServiceContext } from '../../wiring.ts';
import { indexSource } from './indexing/index-source.ts';
import { knowledgeOf } from './knowledge.ts';
import { addSourcesTo } from './sources/add-source.ts';
import { SourceError } from './sources/read-source.ts';
import { leaseTime } from './sources/source-queue.ts';
import { origins, type Claimed, type Source } from './sources/source.ts';
import type { KnowledgeBase } from './bases/base.ts';

/** The kind of task that indexes posts and addresses (`knowledge_indexing`). */
export function indexingTask(
  context: ServiceContext,
  bases: readonly Pick<KnowledgeBase, 'id' | 'name'>[],
): AutomationTaskType {
  return {
    id: 'knowledge_indexing',
    label: 'Index content',
    description: 'Brings posts or web pages into a knowledge base. What has not changed is skipped.',
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
              ? 'There is none yet: make one on the page "Knowledge".'
              : `Its id: ${bases.map(({ id, name }) => `${String(id)} is ${name}`).join(', ')}.`,
          ...(bases.length > 0 && { enum: bases.map(({ id }) => id), default: bases[0]?.id }),
        },
      },
      required: ['base'],
    },
    async check(settings): Promise<Readonly<Record<string, string>>> {
      const base = await knowledgeOf(context).bases.get(Number(settings['base']));
      return base?.state === 'active'
        ? {}
        : { base: 'There is no such knowledge base. Make one on the page "Knowledge".' };
    },
    run: (item) => runItem(context, item),
  };
}

async function runItem(context: ServiceContext, item: AutomationItem): Promise<AutomationResult> {
  const { bases, queue, index } = knowledgeOf(context);
  const base = await bases.get(Number(item.settings['base']));
  if (base?.state !== 'active')
    throw failed(`There is no knowledge base ${String(item.settings['base'])}. Choose another one for the task.`, 400);
  const source = await sourceOf(context, base, item);
  const claimed = await queue.claim(source.id);
  if (claimed === null) throw failed(`${source.title} is being indexed elsewhere just now.`, 503);
  const undo = context.host.clock.every(leaseTime / 4, () => {
    queue.renew(claimed.lease).catch(() => undefined);
  });
  try {
    const ready = await indexSource(index, claimed, { signal: item.signal, reference: item.origin.reference ?? null });
    return { message: `${claimed.source.title}: ${ready.message}`, commit: (transaction) => ready.commit(transaction) };
  } catch (error) {
    await giveUp(context, claimed, error);
    throw error instanceof SourceError ? failed(error.message, 400) : error;
  } finally {
    undo();
  }
}

/** An id is that of a post, everything else an address. */
async function sourceOf(
  context: ServiceContext,
  base: KnowledgeBase,
  { input, target }: AutomationItem,
): Promise<Source> {
  const add = addSourcesTo(context, base);
  const asked = { origin: origins.task, heldFor: leaseTime };
  const postId = Number(input['post_id'] ?? (/^\d{1,9}$/.test(target.trim()) ? target : Number.NaN));
  if (Number.isInteger(postId) && postId > 0) return add.post(postId, asked);
  return add.address(typeof input['url'] === 'string' && input['url'] !== '' ? input['url'] : target, asked);
}

/** The queue of automations decides about further tries. */
async function giveUp(context: ServiceContext, claimed: Claimed, error: unknown): Promise<void> {
  const { queue } = knowledgeOf(context);
  await queue
    .fail(claimed, { message: error instanceof Error ? error.message : String(error), retryAfter: null })
    .catch(() => false);
  await queue.release(claimed.lease).catch(() => undefined);
}

function failed(message: string, status: number): RestError {
  return new RestError({ code: 'rest_svc_knowledge_not_indexed', status, message });
}
