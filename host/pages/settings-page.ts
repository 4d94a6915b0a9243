import type {
  AdminActionResult,
  AdminPageBody,
  AdminRequest,
  HooksApi,
  JsonSchema,
  OptionsApi,
  SettingDefinition,
} from '#plugin-api';
import { faultsOf, success, textOf, type Faults } from './forms.ts';

/** A form of the page Settings: the registered settings of one group. */
export interface SettingsGroup {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The groups of settings that the page Settings shows, in their order. A plugin adds its own group here. */
    admin_settings_groups: (groups: readonly SettingsGroup[]) => readonly SettingsGroup[];
  }
}

export interface SettingsPageDependencies {
  readonly options: Pick<OptionsApi, 'get' | 'update'> & {
    settings(): readonly (SettingDefinition & { readonly name: string })[];
  };
  /** All or nothing of several writes. */
  readonly transaction: <Value>(work: () => Promise<Value>) => Promise<Value>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
}

const ownGroups: readonly SettingsGroup[] = [
  { id: 'general', title: 'General' },
  { id: 'reading', title: 'Reading' },
  { id: 'writing', title: 'Writing' },
  { id: 'media', title: 'Media' },
  { id: 'rest', title: 'REST interface', help: 'Programs outside browsers need no entry here.' },
];

type Setting = SettingDefinition & { readonly name: string };
type Values = Readonly<Record<string, unknown>>;

interface Showing {
  readonly group?: string;
  readonly typed?: Values;
  readonly faults?: Faults;
}

/** Forms made from the registered settings, a card for each group. Secrets are left to the pages of their plugins. */
export function createSettingsPage({ options, transaction, hooks }: SettingsPageDependencies): AdminPageBody {
  const settingsOf = (group: string): Setting[] =>
    options
      .settings()
      .filter((setting) => setting.group === group && setting.schema.writeOnly !== true && isFormField(setting.schema));
  const groups = async (): Promise<readonly SettingsGroup[]> =>
    (await hooks.applyFiltersAsync('admin_settings_groups', ownGroups)).filter(({ id }) => settingsOf(id).length > 0);

  async function page(showing: Showing = {}): Promise<NonNullable<AdminActionResult['page']>> {
    const shown = await Promise.all(
      (await groups()).map(async (group) => {
        const isTyped = group.id === showing.group;
        const fields = await Promise.all(
          settingsOf(group.id).map(async (setting) =>
            fieldOf(setting, {
              value: (isTyped ? showing.typed?.[setting.name] : undefined) ?? (await options.get(setting.name)),
              error: isTyped ? showing.faults?.[setting.name] : undefined,
            }),
          ),
        );
        return { ...group, fields };
      }),
    );
    return { template: 'admin/pages/settings', data: { groups: shown, timezones: Intl.supportedValuesOf('timeZone') } };
  }

  async function save(request: AdminRequest): Promise<AdminActionResult> {
    const group = (await groups()).find(({ id }) => id === textOf(request, 'group'));
    if (!group) return { notice: { kind: 'error', text: 'There is no such group of settings.' } };
    const typed = (request.form['settings'] ?? {}) as Values;
    const faults: Record<string, string> = {};
    try {
      await transaction(async () => {
        for (const { name, schema } of settingsOf(group.id)) {
          if (typed[name] === undefined) continue;
          try {
            await options.update(name, valueOf(schema, String(typed[name])));
          } catch (error) {
            Object.assign(faults, sentenceOf(error, name));
          }
        }
        if (Object.keys(faults).length > 0) throw new Error('Nothing is stored when one value is refused.');
      });
    } catch (error) {
      if (Object.keys(faults).length === 0) throw error;
      const named = Object.fromEntries(
        Object.entries(faults).map(([name, sentence]) => [`settings[${name}]`, sentence]),
      );
      return {
        notice: { kind: 'error', text: 'Nothing was saved. Correct the marked fields.' },
        page: await page({ group: group.id, typed, faults }),
        data: { faults: named },
        status: 400,
      };
    }
    return success(`The settings of ${group.title} are saved.`);
  }

  return { render: () => page(), actions: { save } };
}

/** Texts, numbers, switches, choices and lists of texts; anything else has a page of its own. */
function isFormField({ type, items, enum: choices }: JsonSchema): boolean {
  if (type === 'array') return items?.type === 'string';
  return choices !== undefined || type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}

function fieldOf(
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

/** What a form can say in the type of the schema; the schema itself checks it. */
function valueOf(schema: JsonSchema, text: string): unknown {
  if (schema.type === 'array')
    return text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
  if (schema.type === 'boolean') return text === '1';
  if ((schema.type === 'integer' || schema.type === 'number') && text.trim() === '') return schema.default ?? text;
  return schema.type === 'string' ? text.trim() : text;
}

/** @throws what is no refusal of a value. */
function sentenceOf(error: unknown, name: string): Faults {
  const found = faultsOf(error);
  if (found === null) throw error;
  const sentence = found[name] ?? Object.values(found)[0] ?? '';
  // The checks of schemas name the option; people see its label beside the field.
  return { [name]: sentence.startsWith(`${name} must`) ? `This${sentence.slice(name.length)}` : sentence };
}
