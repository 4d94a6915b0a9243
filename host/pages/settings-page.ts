import { formFields, readForm, withNotice, fieldErrorsOf } from '#plugin-api';
import type {
  AdminActionResult,
  AdminPageBody,
  AdminRequest,
  Choice,
  FormField,
  HooksApi,
  JsonSchema,
  OptionsApi,
  SettingDefinition,
  FieldErrors,
} from '#plugin-api';
import { storedLanguage } from './forms.ts';

/** A form on the Settings page: the registered settings of one group. */
export interface SettingsGroup {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The groups on the Settings page, in display order. A plugin adds its own group here. */
    admin_settings_groups: (groups: readonly SettingsGroup[]) => readonly SettingsGroup[];
  }
}

export interface SettingsPageDependencies {
  readonly options: Pick<OptionsApi, 'get' | 'update'> & {
    settings(): readonly (SettingDefinition & { readonly name: string })[];
  };
  /** Runs several writes in one transaction. */
  readonly transaction: <Value>(work: () => Promise<Value>) => Promise<Value>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  /** Languages to choose from, English as `en`. */
  readonly locales: () => readonly Choice[];
  /** The categories of posts, by id. */
  readonly categories: () => Promise<readonly Choice[]>;
}

const ownGroups: readonly SettingsGroup[] = [
  { id: 'general', title: 'General' },
  { id: 'reading', title: 'Reading' },
  { id: 'writing', title: 'Writing' },
  { id: 'media', title: 'Media' },
  { id: 'security', title: 'Security' },
  { id: 'rest', title: 'REST API', help: 'Only needed for browser apps.' },
];

type Setting = SettingDefinition & { readonly name: string };

interface Showing {
  readonly typed?: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

/** Forms generated from the registered settings, one card per group. Secrets belong on pages of their plugins. */
export function createSettingsPage({
  options,
  transaction,
  hooks,
  locales,
  categories,
}: SettingsPageDependencies): AdminPageBody {
  const settingsIn = (group: string): Setting[] =>
    options.settings().filter((setting) => setting.group === group && isFormField(setting.schema));
  const groups = async (): Promise<readonly SettingsGroup[]> =>
    (await hooks.applyFiltersAsync('admin_settings_groups', ownGroups)).filter(({ id }) => settingsIn(id).length > 0);

  async function fieldsOf(group: string, { typed, errors }: Showing = {}): Promise<FormField[]> {
    const settings = settingsIn(group);
    const saved = await Promise.all(settings.map(async ({ name }) => [name, await options.get(name)] as const));
    const values = { ...Object.fromEntries(saved), ...typed };
    const hints = {
      default_category: { label: 'Default category', choices: await categories() },
      timezone_string: { choices: timezoneChoices(), help: 'Pages show dates and times in this time zone.' },
      WPLANG: {
        choices: storedLanguage(locales(), String(values['WPLANG'] ?? '')).map(({ value, label }) => ({
          value: value === 'en' ? '' : value,
          label,
        })),
      },
    };
    const init = { values, ...(errors && { errors }), group: 'settings', id: 'setting', hints };
    return formFields(groupSchema(settings), init).map((field) => ({
      ...field,
      ...(field.type === 'number' && { short: true }),
      id: field.id.replaceAll('_', '-'),
    }));
  }

  async function page(showing: Showing = {}) {
    const shown = (await groups()).map(async (group) => ({ ...group, fields: await fieldsOf(group.id, showing) }));
    return { template: 'admin/pages/settings', data: { groups: await Promise.all(shown) } };
  }

  /** The posted settings that differ from the stored ones, by name. */
  async function readChanges({ form }: AdminRequest): Promise<Readonly<Record<string, unknown>>> {
    const settings = (await groups()).flatMap(({ id }) => settingsIn(id));
    const typed = Object.entries(readForm(groupSchema(settings), form, { group: 'settings' }));
    const stored = await Promise.all(typed.map(([name]) => options.get(name)));
    return Object.fromEntries(
      typed.filter(([, value], index) => JSON.stringify(value) !== JSON.stringify(stored[index])),
    );
  }

  async function save(request: AdminRequest): Promise<AdminActionResult> {
    const changed = await readChanges(request);
    if (settingsIn('security').some(({ name }) => name in changed)) request.requireFreshSignIn();
    const errors: Record<string, string> = {};
    try {
      await transaction(async () => {
        for (const [name, value] of Object.entries(changed)) {
          try {
            await options.update(name, value);
          } catch (error) {
            Object.assign(errors, toFieldErrors(error, name));
          }
        }
        if (Object.keys(errors).length > 0) throw new Error('A value is invalid, so no setting is stored.');
      });
    } catch (error) {
      if (Object.keys(errors).length === 0) throw error;
      const shown = await page({ typed: changed, errors });
      const wrong = shown.data.groups.flatMap(({ fields }) => fields).filter((field) => field.error !== undefined);
      return withNotice('error', 'Nothing was saved. Correct the marked fields.', {
        page: shown,
        data: { errors: Object.fromEntries(wrong.map((field) => [field.name, field.error])) },
        status: 400,
      });
    }
    return withNotice('success', 'Settings saved.');
  }

  return { render: () => page(), actions: { save } };
}

/** UTC, and the cities of each continent: `Berlin` for `Europe/Berlin`. */
function timezoneChoices(): readonly Choice[] {
  const zones = Intl.supportedValuesOf('timeZone')
    .filter((zone) => zone.includes('/'))
    .map((zone) => {
      const [group = '', ...names] = zone.replaceAll('_', ' ').split('/');
      return { value: zone, label: names.join(', '), group };
    });
  return [{ value: '', label: 'UTC' }, ...zones];
}

/** One schema for the settings of a group. */
function groupSchema(settings: readonly Setting[]): JsonSchema {
  const properties = settings.map(({ name, label, schema }): [string, JsonSchema] => [
    name,
    label === undefined ? schema : { ...schema, title: label },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** Whether a form shows the setting: text, number, switch, choice, list of texts, or an object of these. */
function isFormField({ type, items, enum: choices, writeOnly, properties }: JsonSchema): boolean {
  if (writeOnly === true) return false;
  if (properties) return Object.values(properties).every(isFormField);
  if (type === 'array') return items?.type === 'string' && items.writeOnly !== true;
  return choices !== undefined || type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}

/** Errors by the path of the member. Rethrows an error that is not about a value. */
function toFieldErrors(error: unknown, name: string): FieldErrors {
  const found = fieldErrorsOf(error);
  if (found === null) throw error;
  const { errors } = (error as { readonly data: { readonly errors?: FieldErrors } }).data;
  return errors ?? { [name]: found[name] ?? Object.values(found)[0] ?? '' };
}
