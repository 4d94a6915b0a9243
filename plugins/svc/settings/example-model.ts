import { modelsOfKind } from './models/model-lists.ts';
import type { SettingsContext } from './settings-context.ts';
import { missingSettings } from './configured.ts';

export interface ExampleModel {
  /** Id of a provider. */
  readonly provider: string;
  readonly model: string;
  /** Whether a call with them can be answered as things are. */
  readonly configured: boolean;
}

/** A provider and model for a ready-made command: the first that is configured and has a model, else the first there is. */
export async function exampleModel({ settings, providers, tester }: SettingsContext): Promise<ExampleModel> {
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

/** What something new is answered by where nobody names a provider: the example, without its model while nothing is configured. */
export async function firstModel(context: SettingsContext): Promise<Pick<ExampleModel, 'provider' | 'model'>> {
  const { provider, model, configured } = await exampleModel(context);
  return { provider, model: configured ? model : '' };
}
