import type {
  AdminActionResult,
  AdminPageBody,
  AdminRequest,
  HooksApi,
  JsonSchema,
  OptionsApi,
  SettingDefinition,
} from '#plugin-api';
import { readFieldErrors, success, readText, type FieldErrors } from './forms.ts';

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
type Values = Readonly<Record<string, unknown>>;

interface Showing {
  readonly group?: string;
  readonly typed?: Values;
  readonly errors?: FieldErrors;
}

/** Forms generated from the registered settings, one card per group. Secrets belong on pages of their plugins. */
export function createSettingsPage({ options, transaction, hooks }: SettingsPageDependencies): AdminPageBody {
  const settingsIn = (group: string): Setting[] =>
    options
      .settings()
      .filter((setting) => setting.group === group && setting.schema.writeOnly !== true && isFormField(setting.schema));
  const groups = async (): Promise<readonly SettingsGroup[]> =>
    (await hooks.applyFiltersAsync('admin_settings_groups', ownGroups)).filter(({ id }) => settingsIn(id).length > 0);

  async function page(showing: Showing = {}): Promise<NonNullable<AdminActionResult['page']>> {
    const shown = await Promise.all(
      (await groups()).map(async (group) => {
        const isTyped = group.id === showing.group;
        const fields = await Promise.all(
          settingsIn(group.id).map(async (setting) =>
            toField(setting, {
              value: (isTyped ? showing.typed?.[setting.name] : undefined) ?? (await options.get(setting.name)),
              error: isTyped ? showing.errors?.[setting.name] : undefined,
            }),
          ),
        );
        return { ...group, fields };
      }),
    );
    return { template: 'admin/pages/settings', data: { groups: shown, timezones: Intl.supportedValuesOf('timeZone') } };
  }

  async function save(request: AdminRequest): Promise<AdminActionResult> {
    const group = (await groups()).find(({ id }) => id === readText(request, 'group'));
    if (!group) return { notice: { kind: 'error', text: 'This group of settings does not exist.' } };
    if (group.id === 'security') request.requireFreshSignIn();
    const typed = (request.form['settings'] ?? {}) as Values;
    const errors: Record<string, string> = {};
    try {
      await transaction(async () => {
        for (const { name, schema } of settingsIn(group.id)) {
          if (typed[name] === undefined) continue;
          try {
            await options.update(name, parseValue(schema, typed[name]));
          } catch (error) {
            Object.assign(errors, toFieldError(error, name));
          }
        }
        if (Object.keys(errors).length > 0) throw new Error('A value is invalid, so no setting is stored.');
      });
    } catch (error) {
      if (Object.keys(errors).length === 0) throw error;
      const byField = Object.fromEntries(
        Object.entries(errors).map(([name, sentence]) => [`settings[${name}]`, sentence]),
      );
      return {
        notice: { kind: 'error', text: 'Nothing was saved. Correct the marked fields.' },
        page: await page({ group: group.id, typed, errors }),
        data: { errors: byField },
        status: 400,
      };
    }
    return success(`${group.title} settings saved.`);
  }

  return { render: () => page(), actions: { save } };
}

/** Whether the generic form supports the type: text, number, switch, choice or list of texts. */
function isFormField({ type, items, enum: choices }: JsonSchema): boolean {
  if (type === 'array') return items?.type === 'string';
  return choices !== undefined || type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}

function toField(
  { name, label, schema }: Setting,
  { value, error }: { readonly value: unknown; readonly error: string | undefined },
): Record<string, unknown> {
  return {
    name: `settings[${name}]`,
    id: `setting-${name.replace(/_/g, '-')}`,
    label: label ?? schema.title ?? name,
    schema,
    value,
    ...(error !== undefined && { error }),
    isTimezone: name === 'timezone_string',
  };
}

/** Converts form text to the type of the schema, which then validates it. */
function parseValue(schema: JsonSchema, given: unknown): unknown {
  // Checkboxes. The form sends an empty text too, so that all of them can be cleared.
  if (Array.isArray(given)) return given.filter((choice) => choice !== '');
  const text = String(given);
  if (schema.type === 'array')
    return text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
  if (schema.type === 'boolean') return text === '1';
  if ((schema.type === 'integer' || schema.type === 'number') && text.trim() === '') return schema.default ?? text;
  return schema.type === 'string' ? text.trim() : text;
}

/** Rethrows an error that is not about a value. */
function toFieldError(error: unknown, name: string): FieldErrors {
  const found = readFieldErrors(error);
  if (found === null) throw error;
  const sentence = found[name] ?? Object.values(found)[0] ?? '';
  // Schema errors name the option, but the form already shows its label.
  return { [name]: sentence.startsWith(`${name} must`) ? `This${sentence.slice(name.length)}` : sentence };
}
