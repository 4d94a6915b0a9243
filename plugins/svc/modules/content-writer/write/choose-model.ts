import type { ServiceContext } from '../../../wiring.ts';
import { errors } from '../../../kit/errors.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import type { PartName, TemplateSettings } from '../templates/template.ts';

/** Which provider and model write a part. */
export interface ChosenModel {
  /** Id of the provider. */
  readonly provider: string;
  /** As it is sent; '' only where the provider has none saved. */
  readonly model: string;
}

type Models = Pick<ServiceContext, 'settings' | 'providers' | 'tester' | 'host'>;

/**
 * The part's own provider and model, else the template's, else the first provider that is set up.
 *
 * @throws RestError `rest_svc_provider_not_configured` when nothing is set up
 */
export async function chooseModel(
  context: Models,
  template: Pick<TemplateSettings, 'provider' | 'model' | 'parts'>,
  part: PartName,
): Promise<ChosenModel> {
  const own = template.parts[part];
  if (part === 'image') return imageModel(context, own);
  const provider = own.provider || template.provider;
  const model = own.model || (own.provider === '' || own.provider === template.provider ? template.model : '');
  if (provider !== '') return { provider, model: model || (await savedModel(context, provider, 'model')) };
  const first = await findReadyModel(context);
  if (first === null) throw notConfigured('text');
  return { provider: first.provider, model: model || first.model };
}

async function imageModel(
  context: Models,
  { provider, model }: { readonly provider: string; readonly model: string },
): Promise<ChosenModel> {
  if (provider !== '') return { provider, model: model || (await savedModel(context, provider, 'image_model')) };
  for (const candidate of await context.providers.all()) {
    if (!candidate.images) continue;
    const saved = await context.settings.provider(candidate.id);
    const named = model || (typeof saved['image_model'] === 'string' ? saved['image_model'] : '');
    if (named !== '' && missingSettings(candidate, saved).length === 0) return { provider: candidate.id, model: named };
  }
  throw notConfigured('images');
}

async function savedModel({ settings }: Models, provider: string, name: 'model' | 'image_model'): Promise<string> {
  const saved = (await settings.provider(provider))[name];
  return typeof saved === 'string' ? saved : '';
}

function notConfigured(what: 'text' | 'images'): Error {
  return errors.provider_not_configured({
    values: { provider: `No provider for ${what}`, missing: what === 'text' ? 'key and model' : 'key and image model' },
    data: { provider: '', provider_status: null },
  });
}
