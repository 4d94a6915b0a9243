import { modelsOfKind } from './model-lists.ts';
import type { SettingsContext } from './settings.ts';
import { missingSettings } from './configured.ts';

export interface ExampleModel {
  /** Id of a provider. */
  readonly provider: string;
  readonly model: string;
  /** Whether a call with them can succeed now. */
  readonly configured: boolean;
}

/** A provider and model for an example command: the first configured provider with a model, otherwise the first provider. */
export async function findExampleModel({ settings, providers, tester }: SettingsContext): Promise<ExampleModel> {
  const candidates: ExampleModel[] = [];
  for (const provider of await providers.all()) {
    if (!provider.text) continue;
    const effective = await settings.provider(provider.id);
    const [first] = modelsOfKind(await tester.models(provider.id), 'text');
    const model = (typeof effective.model === 'string' && effective.model) || first;
    const example = {
      provider: provider.id,
      model: model ?? 'your-model',
      configured: model !== undefined && missingSettings(provider, effective).length === 0,
    };
    if (example.configured) return example;
    candidates.push(example);
  }
  return candidates[0] ?? { provider: 'openai', model: 'your-model', configured: false };
}

/** The provider and model of a new assistant that names none. The model is empty while no provider is configured. */
export async function findFirstModel(context: SettingsContext): Promise<Pick<ExampleModel, 'provider' | 'model'>> {
  const { provider, model, configured } = await findExampleModel(context);
  return { provider, model: configured ? model : '' };
}

interface CurlExample {
  /** URL of `POST /generate`. */
  readonly url: string;
  readonly key: string;
  readonly provider: string;
  readonly model: string;
}

/** A text request as a command for a POSIX shell. It contains the key, so show it only once. */
export function curlCommand({ url, key, provider, model }: CurlExample): string {
  const body = JSON.stringify({ provider, model, messages: [{ role: 'user', content: 'Say hello in one sentence.' }] });
  return [
    `curl -sS ${quote(url)}`,
    `-H ${quote(`Authorization: Bearer ${key}`)}`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(body)}`,
  ].join(' \\\n  ');
}

/** A text as one argument of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A provider that is set up. */
interface ReadyProvider {
  readonly provider: string;
  /** Its own choice, or the first that it listed for texts. */
  readonly model: string | undefined;
  /** Names of its models of all kinds, as far as they are known. */
  readonly names: readonly string[];
}

/**
 * The providers for text that are set up, in order; all of the sandbox while it is on. A provider that works with its defaults, such
 * as Ollama, may not be running at all: it counts only once one of its settings was saved.
 *
 * @param mayUse leaves out providers
 */
export async function* readyProviders(
  { settings, providers, tester }: SettingsContext,
  mayUse: (providerId: string) => boolean = () => true,
): AsyncGenerator<ReadyProvider> {
  const isSandbox = await settings.sandbox.isOn();
  for (const provider of await providers.all()) {
    if (!provider.text || !mayUse(provider.id)) continue;
    const saved = await settings.provider(provider.id);
    if (missingSettings(provider, saved).length > 0) continue;
    if (!isSandbox && !provider.required.includes('api_key') && !(await settings.providers.isSaved(provider))) continue;
    const list = await tester.models(provider.id);
    const own = [saved.model, saved.embedding_model, saved.image_model].filter(isName);
    const model = isName(saved.model) ? saved.model : modelsOfKind(list, 'text')[0];
    yield { provider: provider.id, model, names: [...own, ...list.models.map(({ id }) => id)] };
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A provider and model that work now. */
interface ReadyModel {
  readonly provider: string;
  readonly model: string;
}

/** The first provider that is set up and has a model; null if there is none. */
export async function findReadyModel(context: SettingsContext): Promise<ReadyModel | null> {
  for await (const { provider, model } of readyProviders(context)) if (model !== undefined) return { provider, model };
  return null;
}
