import { type OptionsApi, invalidFields } from '#plugin-api';
import type { Capability } from '../../ai/capable-provider.ts';
import { failoverOption, noFailover, type EmbeddingTarget, type Failover, type FailoverTarget } from './failover.ts';

/** The fallback providers. A change applies to new calls, on every node within a second. */
export interface FailoverStore {
  get(): Promise<Failover>;
  /** Changes the given members. @throws RestError 400 with a sentence for each invalid list. */
  save(changes: Partial<Failover>): Promise<Failover>;
}

export const uses: readonly Capability[] = ['text', 'images', 'embeddings'];
/** Entries of a list at most. */
export const maxTargets = 10;

export function createFailoverStore({
  options,
}: {
  readonly options: Pick<OptionsApi, 'get' | 'update'>;
}): FailoverStore {
  let known: { readonly stored: unknown; readonly failover: Failover } | undefined;

  async function get(): Promise<Failover> {
    const stored = await options.get<unknown>(failoverOption, noFailover);
    if (known === undefined || known.stored !== stored) known = { stored, failover: readFailover(stored) };
    return known.failover;
  }

  return {
    get,
    async save(changes) {
      const next = { ...(await get()), ...changes };
      const errors: Record<string, string> = {};
      for (const use of uses) {
        const listed: readonly unknown[] = next[use];
        if (listed.length > maxTargets) errors[use] = `The list for ${use} has at most ${String(maxTargets)} entries.`;
        else if (readTargets(listed, use).length < listed.length)
          errors[use] =
            `Each entry in the list for ${use} needs a provider and a ` +
            `model${use === 'embeddings' ? ', and the dimensions of its vectors' : ''}.`;
      }
      if (Object.keys(errors).length > 0) throw invalidFields(errors);
      const failover = readFailover(next);
      await options.update(failoverOption, failover);
      return failover;
    },
  };
}

/** Ignores invalid entries: another program may have stored them. */
function readFailover(stored: unknown): Failover {
  const value = (typeof stored === 'object' && stored !== null ? stored : {}) as Partial<
    Record<keyof Failover, unknown>
  >;
  return {
    enabled: value.enabled === true,
    rest: value.rest === true,
    text: readTargets(value.text, 'text'),
    images: readTargets(value.images, 'images'),
    embeddings: readTargets(value.embeddings, 'embeddings') as EmbeddingTarget[],
  };
}

function readTargets(value: unknown, use: Capability): FailoverTarget[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).slice(0, maxTargets).flatMap((entry) => {
    const { provider, model, dimensions } = (
      typeof entry === 'object' && entry !== null ? entry : {}
    ) as Partial<EmbeddingTarget>;
    if (typeof provider !== 'string' || typeof model !== 'string' || provider.trim() === '' || model.trim() === '')
      return [];
    const target = { provider: provider.trim(), model: model.trim() };
    if (use !== 'embeddings') return [target];
    return typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions > 0
      ? [{ ...target, dimensions }]
      : [];
  });
}
