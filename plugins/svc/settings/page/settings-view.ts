import { connectedProviders } from '../provider-users.ts';
import { type FormField, type JsonSchema, type FieldErrors } from '#plugin-api';
import { aiParamSchemas } from '../../kit/ai-params.ts';
import { imageParamSchemas } from '../../kit/image-params.ts';
import type { ModelKind, Provider } from '../../providers/provider.ts';
import { limitSchemas } from '../limits.ts';
import { configurationState, type ConfigurationState } from '../configured.ts';
import { modelsOfKind, type ModelList } from '../model-lists.ts';
import type { SettingsContext } from '../settings.ts';
import { settingFields } from '../../admin-ui/setting-fields.ts';

/** A form with errors: which one, the entered values, and the errors. */
export interface RejectedForm {
  /** `key`, `params`, `images`, `limits`, or `provider-<id>`. */
  readonly form: string;
  readonly typed: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
}

/** Names of models to choose from, by kind. */
export interface OfferedModels extends Readonly<Record<ModelKind, readonly string[]>> {
  /** Number of all models. */
  readonly count: number;
  /** Milliseconds since the epoch; null: never. */
  readonly syncedAt: number | null;
}

interface ProviderCard {
  readonly id: string;
  readonly label: string;
  readonly badge: ConfigurationState['badge'];
  readonly open: boolean;
  readonly missing: string;
  /** The models that it uses by default, such as `gpt-5.6-terra, text-embedding-3-small`. Empty while settings are missing. */
  readonly glance: string;
  readonly fields: readonly FormField[];
  readonly models: OfferedModels;
}

/** In the order of the page, for `admin/tabs`. */
const pageSections = [
  { id: 'providers', label: 'Providers' },
  { id: 'params', label: 'AI parameters' },
  { id: 'images', label: 'Images' },
  { id: 'limits', label: 'Limits' },
  { id: 'rest-key', label: 'REST API key' },
  { id: 'sandbox', label: 'Sandbox' },
].map((section) => ({ ...section, href: `#${section.id}` }));

/** The data of `svc/settings`. Contains no secret, only its last characters. */
export async function settingsView(
  context: SettingsContext,
  rejected?: RejectedForm,
): Promise<Record<string, unknown>> {
  const { settings, providers, host } = context;
  const rejectedForm = (form: string): RejectedForm | undefined => (rejected?.form === form ? rejected : undefined);
  const [masked, keyWarning, sandboxOn, sandboxAvailable] = await Promise.all([
    settings.restKey.masked(),
    settings.restKey.warning(),
    settings.sandbox.isOn(),
    settings.sandbox.isAvailable(),
  ]);
  const cards = await Promise.all(
    (await providers.all()).map((provider) => providerCard(provider, context, rejectedForm(`provider-${provider.id}`))),
  );
  const connected = await connectedProviders(context);
  const isConnected = ({ id }: ProviderCard): boolean => connected.has(id);
  const sandboxShown = sandboxAvailable || sandboxOn;
  return {
    sections: pageSections.filter(({ id }) => id !== 'sandbox' || sandboxShown),
    connected: connected.size,
    generateUrl: host.rest.url('/svc/v1/generate'),
    key: { masked, warning: keyWarning, error: rejectedForm('key')?.errors['key'] },
    sandbox: { on: sandboxOn, shown: sandboxShown },
    // Those that are connected come first.
    providers: [...cards.filter(isConnected), ...cards.filter((card) => !isConnected(card))],
    params: groupFields({
      form: 'params',
      schemas: aiParamSchemas,
      saved: await settings.aiParams(),
      state: rejectedForm('params'),
    }),
    images: groupFields({
      form: 'images',
      schemas: imageParamSchemas,
      saved: await settings.imageDefaults(),
      state: rejectedForm('images'),
    }),
    limits: groupFields({
      form: 'limits',
      schemas: limitSchemas,
      saved: await settings.limits(),
      state: rejectedForm('limits'),
    }),
  };
}

/** The data of one provider: its fields, whether it is configured, and its models. */
export async function providerCard(
  provider: Provider,
  context: SettingsContext,
  rejected?: RejectedForm,
): Promise<ProviderCard> {
  const saved = await context.settings.providers.saved(provider);
  const { providers } = context.settings;
  const { badge, missing } = configurationState(provider, saved, {
    unreadable: await providers.unreadable(provider),
    isSaved: await providers.isSaved(provider),
  });
  return {
    id: provider.id,
    label: provider.label,
    badge,
    open: rejected !== undefined,
    missing,
    glance: missing === '' ? defaultModels(saved) : '',
    fields: settingFields({
      schemas: provider.settings.properties,
      group: 'settings',
      id: provider.id,
      saved,
      ...(rejected && { typed: rejected.typed, errors: rejected.errors }),
    }),
    models: groupModels(await context.tester.models(provider.id)),
  };
}

function defaultModels(saved: Readonly<Record<string, unknown>>): string {
  const names = Object.entries(saved).flatMap(([name, value]) => (/(^|_)model$/.test(name) ? [value] : []));
  return [...new Set(names)].filter((model) => typeof model === 'string' && model !== '').join(', ');
}

function groupModels(list: ModelList): OfferedModels {
  const { models, syncedAt } = list;
  return {
    text: modelsOfKind(list, 'text'),
    embedding: modelsOfKind(list, 'embedding'),
    image: modelsOfKind(list, 'image'),
    video: modelsOfKind(list, 'video'),
    count: models.length,
    syncedAt,
  };
}

interface RowsInit {
  readonly form: string;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly saved: object;
  readonly state: RejectedForm | undefined;
}

function groupFields({ form, schemas, saved, state }: RowsInit): FormField[] {
  return settingFields({
    schemas,
    group: form,
    id: form,
    saved: saved as Readonly<Record<string, unknown>>,
    ...(state && { typed: state.typed, errors: state.errors }),
  });
}
