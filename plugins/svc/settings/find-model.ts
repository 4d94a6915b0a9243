import type { RestError } from '#plugin-api';
import { mayUseProvider, type Caller } from '../kit/caller.ts';
import { errors } from '../kit/errors.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import { readyProviders } from './example-model.ts';
import { familyOf } from './model-families.ts';
import type { SettingsContext } from './settings.ts';

/** What the parameter `model` names. */
export type ChosenModel =
  | { readonly kind: 'provider'; readonly provider: string; readonly model: string }
  | { readonly kind: 'bot'; readonly id: number };

/** The registry, whose providers are known without waiting. */
type ModelPorts = Omit<SettingsContext, 'providers'> & { readonly providers: ProviderRegistry };

/**
 * `provider/model`, `bot:<id>`, or a name without a slash: of the provider that is set up, that the key may use and that has a model
 * of this name, else that its vendor calls so. A name of no known vendor goes to the first of these providers. A prefix that is no
 * provider goes nowhere, as a name of a vendor that is not set up: the request would reach one that its sender did not mean.
 *
 * @throws RestError 404 `rest_svc_model_not_found`, or `rest_svc_model_prefix_unknown` or `rest_svc_model_vendor_missing`, which name
 * the spellings
 */
export async function findModel(name: string, ports: ModelPorts, caller: Caller | undefined): Promise<ChosenModel> {
  if (/^bot:\d{1,15}$/.test(name)) return { kind: 'bot', id: Number(name.slice('bot:'.length)) };
  const [, provider = '', model = ''] = /^([^/]*)\/(.*)$/s.exec(name) ?? [];
  if (model !== '' && ports.providers.get(provider) !== undefined) return { kind: 'provider', provider, model };
  if (name.includes('/')) throw unknownPrefix(provider, name, ports);
  if (name.trim() === '' || name.startsWith('bot:')) throw unknownModel(name, ports);
  return { kind: 'provider', provider: await providerOf(name, ports, caller), model: name };
}

async function providerOf(name: string, ports: ModelPorts, caller: Caller | undefined): Promise<string> {
  const family = familyOf(name);
  const owners: readonly string[] = family?.providers ?? [];
  let [first, owner, lister]: (string | undefined)[] = [];
  for await (const { provider, model, names } of readyProviders(ports, (id) => mayUseProvider(caller, id))) {
    const isOwner = owners.includes(provider);
    const isLister = names.includes(name);
    if (isOwner && isLister) return provider;
    if (isOwner) owner ??= provider;
    if (isLister) lister ??= provider;
    if (model !== undefined) first ??= provider;
  }
  const chosen = lister ?? owner ?? (family === undefined ? first : undefined);
  if (chosen !== undefined) return chosen;
  throw family === undefined ? unknownModel(name, ports) : missingVendor(name, family, ports);
}

/** A name of a vendor whose provider is not set up, or not allowed for the key. */
function missingVendor(
  name: string,
  { providers: [owner], vendor }: NonNullable<ReturnType<typeof familyOf>>,
  { providers }: ModelPorts,
): RestError {
  const model = name.slice(0, 200);
  const gateways = providers.get('openrouter') === undefined ? [] : [`openrouter/${vendor}/${model}`];
  return errors.model_vendor_missing({
    values: {
      model,
      provider: providers.get(owner)?.label ?? owner,
      spellings: [`${owner}/${model}`, ...gateways].join(', '),
    },
    data: { param: 'model' },
  });
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
