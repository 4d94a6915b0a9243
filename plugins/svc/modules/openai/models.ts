import { RestResponse } from '#plugin-api';
import { callerOf, isInScope, type Caller } from '../../kit/caller.ts';
import { invalid } from '../../kit/read-members.ts';
import { missingSettings } from '../../settings/configured.ts';
import { findModel, unknownModel, type ChosenModel } from '../../settings/find-model.ts';
import type { OpenAiPorts, OpenAiRequest } from './openai-ports.ts';

interface ListedModel {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since the epoch: when the provider listed it; 0 if unknown. */
  readonly created: number;
  readonly owned_by: string;
}

/** A model for a use that chatbots do not have. */
export async function findProviderModel(
  name: string,
  ports: OpenAiPorts,
  caller: Caller | undefined,
): Promise<Extract<ChosenModel, { kind: 'provider' }>> {
  const chosen = await findModel(name, ports, caller);
  if (chosen.kind === 'provider') return chosen;
  throw invalid('model', 'must be a model of a provider. Chatbots only answer chat completions.');
}

/** Handlers of `GET models` and `GET models/{id}`: what providers listed last, their default models, and chatbots. */
export function createModels(ports: OpenAiPorts) {
  /** Those that the key of the request may call. */
  const all = async (request: OpenAiRequest): Promise<readonly ListedModel[]> => {
    const caller = callerOf(request);
    const listed = await Promise.all(
      ports.providers
        .all()
        .map(async ({ id }) =>
          (await modelsOf(id, ports))
            .filter((model) => isInScope(caller, { provider: id, model: model.name }))
            .map((model) => listedModel(`${id}/${model.name}`, id, model.created)),
        ),
    );
    const bots = (await ports.botReplies.list()).filter(
      ({ id, status }) => status === 'active' && isInScope(caller, { chatbot: id }),
    );
    return [...listed.flat(), ...bots.map(({ id }) => listedModel(`bot:${String(id)}`, 'chatbot', 0))];
  };
  return {
    async list(request: OpenAiRequest): Promise<RestResponse> {
      const { limit, after } = request.params;
      const models = await all(request);
      // Past a model that is there no more the list is empty, and does not begin again.
      const last = after === undefined ? -1 : models.findIndex(({ id }) => id === after);
      const from = after !== undefined && last < 0 ? models.length : last + 1;
      const data = models.slice(from, from + Number(limit));
      return new RestResponse({ body: { object: 'list', data, has_more: from + data.length < models.length } });
    },
    async one(request: OpenAiRequest): Promise<RestResponse> {
      const id = decoded(String(request.params['id']));
      const models = await all(request);
      const found = models.find((model) => model.id === id) ?? models.find((model) => model.id.endsWith(`/${id}`));
      if (found === undefined) throw unknownModel(id, ports);
      return new RestResponse({ body: found });
    },
  };
}

interface KnownModel {
  readonly name: string;
  readonly created: number;
}

async function modelsOf(id: string, { providers, settings, tester }: OpenAiPorts): Promise<KnownModel[]> {
  const provider = providers.get(id);
  const saved = await settings.provider(id);
  if (provider === undefined || missingSettings(provider, saved).length > 0) return [];
  const { models, syncedAt } = await tester.models(id);
  const own = [
    ...(provider.text ? [saved.model] : []),
    ...(provider.embeddings ? [saved.embedding_model] : []),
    ...(provider.images ? [saved.image_model] : []),
  ].filter((model): model is string => typeof model === 'string' && model !== '');
  const created = Math.floor((syncedAt ?? 0) / 1000);
  const names = [...new Set([...own, ...models.map((model) => model.id)])];
  return names.map((name) => ({ name, created }));
}

function listedModel(id: string, owner: string, created: number): ListedModel {
  return { id, object: 'model', created, owned_by: owner };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
