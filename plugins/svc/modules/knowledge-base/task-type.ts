import { RestError } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../kit/automation-task.ts';
import { indexSource } from './indexing/index-source.ts';
import type { KnowledgeParts } from './knowledge.ts';
import { addSourcesTo } from './sources/add-source.ts';
import { SourceError } from './sources/read-source.ts';
import { leaseTime } from './sources/source-queue.ts';
import { origins, type Claimed, type Source } from './sources/source.ts';
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

async function runItem(parts: KnowledgeParts, item: AutomationItem): Promise<AutomationResult> {
  const { bases, queue } = parts;
  const base = await bases.get(Number(item.settings['base']));
  if (base?.state !== 'active')
    throw failed(
      `The knowledge base ${String(item.settings['base'])} does not exist. Choose another one for the task.`,
      400,
    );
  const source = await putSource(parts, base, item);
  const claimed = await queue.claim(source.id);
  if (claimed === null) throw failed(`${source.title} is being indexed on another node. Try again in a minute.`, 503);
  const undo = parts.host.clock.every(leaseTime / 4, () => {
    queue.renew(claimed.lease).catch(() => undefined);
  });
  try {
    const ready = await indexSource(parts, claimed, { signal: item.signal, reference: item.origin.reference ?? null });
    return { message: `${claimed.source.title}: ${ready.message}`, commit: (transaction) => ready.commit(transaction) };
  } catch (error) {
    await failSource(parts, claimed, error);
    throw error instanceof SourceError ? failed(error.message, 400) : error;
  } finally {
    undo();
  }
}

/** A number is the id of a post, anything else a URL. */
async function putSource(
  parts: KnowledgeParts,
  base: KnowledgeBase,
  { input, target }: AutomationItem,
): Promise<Source> {
  const add = addSourcesTo(parts, base);
  const asked = { origin: origins.task, holdFor: leaseTime };
  const postId = Number(input['post_id'] ?? (/^\d{1,9}$/.test(target.trim()) ? target : Number.NaN));
  if (Number.isInteger(postId) && postId > 0) return add.post(postId, asked);
  return add.address(typeof input['url'] === 'string' && input['url'] !== '' ? input['url'] : target, asked);
}

/** Without a retry: the automation decides about further attempts. */
async function failSource(parts: KnowledgeParts, claimed: Claimed, error: unknown): Promise<void> {
  const { queue } = parts;
  await queue
    .fail(claimed, { message: error instanceof Error ? error.message : String(error), retryAfter: null })
    .catch(() => false);
  await queue.release(claimed.lease).catch(() => undefined);
}

function failed(message: string, status: number): RestError {
  return new RestError({ code: 'rest_svc_knowledge_not_indexed', status, message });
}
