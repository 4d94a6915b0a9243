import { asRecord, checkValue, invalidFields, isRecord, type OptionsApi } from '#plugin-api';
import type { Capability } from '../../ai/capable-provider.ts';
import { failoverOption, failoverSchema, maxTargets, noFailover } from './failover.ts';
import type { EmbeddingTarget, Failover, FailoverTarget } from './failover.ts';

/** The fallback providers. A change applies to new calls, on every node within a second. */
export interface FailoverStore {
  get(): Promise<Failover>;
  /** Changes the given members. @throws RestError 400 with a sentence for each invalid entry. */
  save(changes: Partial<Failover>): Promise<Failover>;
}

export const uses: readonly Capability[] = ['text', 'images', 'embeddings'];

export function createFailoverStore({
  options,
}: {
  readonly options: Pick<OptionsApi, 'computed' | 'update'>;
}): FailoverStore {
  const get = options.computed([failoverOption], readFailover);
  return {
    get,
    async save(changes) {
      const next = { ...(await get()), ...changes };
      const { errors } = checkValue(failoverSchema, next);
      if (Object.keys(errors).length > 0) throw invalidFields(errors);
      const failover = readFailover(next);
      await options.update(failoverOption, failover);
      return failover;
    },
  };
}

/** Ignores invalid entries: another program may have stored them. */
function readFailover(stored: unknown): Failover {
  if (!isRecord(stored)) return noFailover;
  const value: Partial<Record<keyof Failover, unknown>> = stored;
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
    const { provider, model, dimensions } = asRecord(entry) as Partial<EmbeddingTarget>;
    if (typeof provider !== 'string' || typeof model !== 'string' || provider.trim() === '' || model.trim() === '')
      return [];
    const target = { provider: provider.trim(), model: model.trim() };
    if (use !== 'embeddings') return [target];
    return typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions > 0
      ? [{ ...target, dimensions }]
      : [];
  });
}
