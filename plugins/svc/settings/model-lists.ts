import type { Clock, OptionsApi } from '#plugin-api';
import type { ModelInfo, ModelKind } from '../providers/provider.ts';
import { modelsTransient } from './names.ts';

export type { ModelKind };

/** The models that a provider listed, each once, sorted by name. */
export interface ModelList {
  /** Time of the request, in milliseconds since the epoch; null: never, or too long ago. */
  readonly syncedAt: number | null;
  readonly models: readonly Pick<ModelInfo, 'id' | 'kinds'>[];
}

/** The models from the last test or sync of each provider, shared by all nodes. */
export interface ModelLists {
  get(providerId: string): Promise<ModelList>;
  remember(providerId: string, models: readonly Pick<ModelInfo, 'id' | 'kinds'>[]): Promise<void>;
}

const maxModels = 2000;
const lifetimeSeconds = 90 * 24 * 3600;
const never: ModelList = { syncedAt: null, models: [] };

export function createModelLists({
  options,
  clock,
}: {
  readonly options: Pick<OptionsApi, 'getTransient' | 'setTransient'>;
  readonly clock: Pick<Clock, 'now'>;
}): ModelLists {
  return {
    async get(providerId) {
      const stored = await options.getTransient<Partial<ModelList> | false>(modelsTransient(providerId));
      if (!stored || typeof stored.syncedAt !== 'number' || !Array.isArray(stored.models)) return never;
      return { syncedAt: stored.syncedAt, models: stored.models as ModelList['models'] };
    },
    async remember(providerId, models) {
      const byId = new Map(models.map(({ id, kinds }) => [id, { id, ...(kinds && { kinds }) }]));
      const sorted = [...byId.values()].sort((left, right) => left.id.localeCompare(right.id)).slice(0, maxModels);
      await options.setTransient(
        modelsTransient(providerId),
        { syncedAt: clock.now(), models: sorted },
        lifetimeSeconds,
      );
    },
  };
}

/** Names of the models of a kind. A model without kinds may be of any kind, unless other models of the list have that kind. */
export function modelsOfKind({ models }: Pick<ModelList, 'models'>, kind: ModelKind): string[] {
  const matching = models.filter(({ kinds }) => kinds?.includes(kind));
  const unmarked = models.filter(({ kinds }) => kinds === undefined);
  // If the provider marks embedding and image models, a model without kinds generates text.
  return (
    kind === 'text'
      ? models.filter(({ kinds }) => kinds === undefined || kinds.includes('text'))
      : matching.length > 0
        ? matching
        : unmarked
  ).map(({ id }) => id);
}
