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

/** A provider and model that work now. */
interface ReadyModel {
  readonly provider: string;
  readonly model: string;
}

/**
 * The sandbox, or the first provider that is set up; null if there is none. A provider that works with its defaults, such
 * as Ollama, may not be running at all: it counts only once one of its settings was saved.
 *
 * @param mayUse leaves out providers
 */
export async function findReadyModel(
  context: SettingsContext,
  mayUse: (providerId: string) => boolean = () => true,
): Promise<ReadyModel | null> {
  if (await context.settings.sandbox.isOn()) {
    const { provider, model, configured } = await findExampleModel(context);
    if (configured && mayUse(provider)) return { provider, model };
  }
  for (const provider of await context.providers.all()) {
    if (!provider.text || !mayUse(provider.id)) continue;
    const settings = await context.settings.provider(provider.id);
    if (missingSettings(provider, settings).length > 0) continue;
    if (!provider.required.includes('api_key') && !(await context.settings.providers.isSaved(provider))) continue;
    const [first] = modelsOfKind(await context.tester.models(provider.id), 'text');
    const model = typeof settings.model === 'string' && settings.model !== '' ? settings.model : first;
    if (model !== undefined) return { provider: provider.id, model };
  }
  return null;
}
