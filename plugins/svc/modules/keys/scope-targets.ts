import type { BotsPort, HostPort, ProvidersPort, SettingsPort } from '../../ports.ts';
import type { KeyScopes } from '../../kit/caller.ts';
import { matchesName } from '../../kit/matches-name.ts';
import { missingSettings } from '../../settings/configured.ts';

/** Returns a sentence for each list of scopes that names something unknown. @param stored what the key has already: it stays */
export type FindUnknownScopes = (
  scopes: KeyScopes,
  stored: KeyScopes | undefined,
) => Promise<Partial<Record<keyof KeyScopes, string>>>;

type Ports = HostPort & ProvidersPort & SettingsPort & BotsPort;

/** Names in one sentence; of long lists the first ones. */
const shown = 20;

/** A typing error would create a key that allows less than was meant, and fails only when it is used. */
export function createFindUnknownScopes(ports: Ports): FindUnknownScopes {
  const { host, providers, botReplies } = ports;
  return async (scopes, stored) => {
    const added = <Name extends keyof KeyScopes>(name: Name): readonly (string | number)[] =>
      (scopes[name] as readonly (string | number)[]).filter(
        (item) => !(stored?.[name] as readonly (string | number)[] | undefined)?.includes(item),
      );
    const errors: Partial<Record<keyof KeyScopes, string>> = {};
    const ids = providers.all().map(({ id }) => id);
    const provider = added('providers').find((id) => !ids.includes(String(id)));
    if (provider !== undefined)
      errors.providers = `No provider has the id ${String(provider)}. The providers are: ${listed(ids)}.`;
    const [bots] = added('chatbots').length === 0 ? [[]] : [await botReplies.list()];
    const bot = added('chatbots').find((id) => !bots.some((known) => known.id === id));
    if (bot !== undefined)
      errors.chatbots =
        bots.length === 0
          ? `No chatbot has the id ${String(bot)}. There is no chatbot yet.`
          : `No chatbot has the id ${String(bot)}. The chatbots are: ${listed(bots.map(({ id, name }) => `${String(id)} (${name})`))}.`;
    const names = added('abilities').length === 0 ? [] : (await host.abilities.list()).map(({ name }) => name);
    const ability = added('abilities').find((pattern) => !names.some((name) => matchesName(String(pattern), name)));
    if (ability !== undefined)
      errors.abilities = `No ability has the name ${String(ability)}. The abilities are: ${listed(names)}.`;
    const models = added('models').length === 0 ? null : await listedModels(scopes.providers, ports);
    const model = added('models').find((pattern) => models?.every((name) => !matchesName(String(pattern), name)));
    if (model !== undefined) errors.models = unlisted(String(model), models ?? []);
    return errors;
  };
}

function unlisted(model: string, models: readonly string[]): string {
  return `No provider lists the model ${model}. If it is new, test its provider. The models are: ${listed(models)}.`;
}

/** The models that providers listed when they were last tested. Null if one that may be meant has listed none. */
async function listedModels(
  chosen: readonly string[],
  { providers, settings, tester }: Ports,
): Promise<readonly string[] | null> {
  const models = new Set<string>();
  for (const provider of providers.all()) {
    const saved = await settings.provider(provider.id);
    // One that needs no key, such as Ollama, counts once one of its settings was saved.
    const isSetUp = async (): Promise<boolean> =>
      missingSettings(provider, saved).length === 0 &&
      (provider.required.includes('api_key') || (await settings.providers.isSaved(provider)));
    if (chosen.length > 0 ? !chosen.includes(provider.id) : !(await isSetUp())) continue;
    const list = await tester.models(provider.id);
    if (list.syncedAt === null) return null;
    for (const { id } of list.models) models.add(id);
    for (const model of [saved.model, saved.embedding_model, saved.image_model])
      if (typeof model === 'string' && model !== '') models.add(model);
  }
  return models.size === 0 ? null : [...models];
}

function listed(names: readonly string[]): string {
  const more = names.length - shown;
  return names.slice(0, shown).join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}
