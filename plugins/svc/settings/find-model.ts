import type { RestError } from '#plugin-api';
import { mayUseProvider, type Caller } from '../kit/caller.ts';
import { errors } from '../kit/errors.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import { findReadyModel } from './example-model.ts';
import type { SettingsContext } from './settings.ts';

/** What the parameter `model` names. */
export type ChosenModel =
  | { readonly kind: 'provider'; readonly provider: string; readonly model: string }
  | { readonly kind: 'bot'; readonly id: number };

/** The registry, whose providers are known without waiting. */
type ModelPorts = Omit<SettingsContext, 'providers'> & { readonly providers: ProviderRegistry };

/**
 * `provider/model`, `bot:<id>`, or without a slash a model of the default provider: the first that is set up and that
 * the key may use. A prefix that is
 * no provider goes nowhere: the request would reach a vendor that its sender did not name.
 *
 * @throws RestError 404 `rest_svc_model_not_found`, or `rest_svc_model_prefix_unknown` that names the spellings
 */
export async function findModel(name: string, ports: ModelPorts, caller: Caller | undefined): Promise<ChosenModel> {
  if (/^bot:\d{1,15}$/.test(name)) return { kind: 'bot', id: Number(name.slice('bot:'.length)) };
  const [, provider = '', model = ''] = /^([^/]*)\/(.*)$/s.exec(name) ?? [];
  if (model !== '' && ports.providers.get(provider) !== undefined) return { kind: 'provider', provider, model };
  if (name.includes('/')) throw unknownPrefix(provider, name, ports);
  const ready = await findReadyModel(ports, (id) => mayUseProvider(caller, id));
  if (ready === null || name.trim() === '' || name.startsWith('bot:')) throw unknownModel(name, ports);
  return { kind: 'provider', provider: ready.provider, model: name };
}

/** @returns 404 `rest_svc_model_not_found` */
export function unknownModel(model: string, { host }: Pick<SettingsContext, 'host'>): RestError {
  return errors.model_not_found({
    values: { model: model.slice(0, 200), url: host.rest.url('/svc-openai/v1/models') },
    data: { param: 'model' },
  });
}

/** Providers by the names that other gateways give their vendors. */
const vendors: Readonly<Record<string, string>> = {
  anthropic: 'claude',
  gemini: 'google',
  'google-ai-studio': 'google',
  'x-ai': 'xai',
  azure_openai: 'azure',
};

function unknownPrefix(prefix: string, name: string, { providers }: ModelPorts): RestError {
  const ids = providers
    .all()
    .filter(({ text }) => text !== undefined)
    .map(({ id }) => id);
  const own = vendors[prefix.toLowerCase()];
  const meant = own !== undefined && ids.includes(own) ? [own] : ids.filter((id) => id !== 'openrouter');
  const gateways = ids.includes('openrouter') ? [`openrouter/${name.slice(0, 200)}`] : [];
  const spellings = [...meant.map((id) => `${id}/<model>`), ...gateways];
  return errors.model_prefix_unknown({
    values: { prefix: prefix.slice(0, 60), spellings: spellings.join(', ') },
    data: { param: 'model' },
  });
}
