import type { OptionsApi } from '#plugin-api';
import { invalidFields } from '../../kit/field-errors.ts';
import { noFailover, type EmbeddingTarget, type Failover, type FailoverTarget, type FailoverUse } from './failover.ts';

/** Who answers in place of whom. A change counts for calls from then on, on every node within a second. */
export interface FailoverStore {
  get(): Promise<Failover>;
  /** Changes what is given. @throws RestError 400 with a sentence for each bad list. */
  save(changes: Partial<Failover>): Promise<Failover>;
}

export const uses: readonly FailoverUse[] = ['text', 'images', 'embeddings'];
const atMost = 10;

export function createFailoverStore({
  options,
}: {
  readonly options: Pick<OptionsApi, 'get' | 'update'>;
}): FailoverStore {
  let known: { readonly stored: unknown; readonly failover: Failover } | undefined;

  async function get(): Promise<Failover> {
    const stored = await options.get<unknown>(failoverOption, noFailover);
    if (known === undefined || known.stored !== stored) known = { stored, failover: asFailover(stored) };
    return known.failover;
  }

  return {
    get,
    async save(changes) {
      const next = { ...(await get()), ...changes };
      const errors: Record<string, string> = {};
      for (const use of uses) {
        const given: readonly unknown[] = next[use];
        if (given.length > atMost) errors[use] = `There may be ${String(atMost)} at most in the list for ${use}.`;
        else if (targetsOf(given, use).length < given.length)
          errors[use] =
            `Each entry in the list for ${use} needs a provider and a model${use === 'embeddings' ? ', and the dimensions of its vectors' : ''}.`;
      }
      if (Object.keys(errors).length > 0) throw invalidFields(errors);
      const failover = asFailover(next);
      await options.update(failoverOption, failover);
      return failover;
    },
  };
}

/** What another program may have stored is read as far as it fits. */
function asFailover(stored: unknown): Failover {
  const value = (typeof stored === 'object' && stored !== null ? stored : {}) as Partial<
    Record<keyof Failover, unknown>
  >;
  return {
    enabled: value.enabled === true,
    rest: value.rest === true,
    text: targetsOf(value.text, 'text'),
    images: targetsOf(value.images, 'images'),
    embeddings: targetsOf(value.embeddings, 'embeddings') as EmbeddingTarget[],
  };
}

function targetsOf(value: unknown, use: FailoverUse): FailoverTarget[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).slice(0, atMost).flatMap((entry) => {
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
