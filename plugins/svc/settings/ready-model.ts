import { missingSettings } from './configured.ts';
import { exampleModel } from './example-model.ts';
import { modelsOfKind } from './models/model-lists.ts';
import { providerOption } from './names.ts';
import type { SettingsContext } from './settings-context.ts';

/** What answers at once. Null: nothing is set up. */
export interface ReadyModel {
  readonly provider: string;
  readonly model: string;
}

/**
 * The sandbox, or the first provider that somebody set up. One that needs no more than its defaults, as Ollama does, may
 * not be there at all: it counts once something of it was saved.
 */
export async function readyModel(context: SettingsContext): Promise<ReadyModel | null> {
  if (await context.settings.sandbox.isOn()) {
    const { provider, model, configured } = await exampleModel(context);
    if (configured) return { provider, model };
  }
  for (const provider of await context.providers.all()) {
    if (!provider.text) continue;
    const settings = await context.settings.provider(provider.id);
    if (missingSettings(provider, settings).length > 0) continue;
    if (!provider.required.includes('api_key') && !(await wasSaved(context, provider.id))) continue;
    const [first] = modelsOfKind(await context.tester.models(provider.id), 'text');
    const model = typeof settings.model === 'string' && settings.model !== '' ? settings.model : first;
    if (model !== undefined) return { provider: provider.id, model };
  }
  return null;
}

async function wasSaved({ host }: SettingsContext, id: string): Promise<boolean> {
  const saved = await host.options.get<unknown>(providerOption(id), {});
  return typeof saved === 'object' && saved !== null && Object.keys(saved).length > 0;
}
