import type { JsonSchema, OptionsApi, SecretsApi } from '#plugin-api';
import { readFieldValue } from './field-value.ts';
import { invalidFields } from '../kit/field-errors.ts';
import type { SecretReader } from './secret-reader.ts';

/** Something with settings that an administrator enters: a provider, a vector store. */
export interface Configurable {
  readonly id: string;
  readonly label: string;
  readonly settings: { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** Names of settings that must not be empty. */
  readonly required: readonly string[];
}

export type SavedSettings = Readonly<Record<string, unknown>>;

/** Settings by schema, one option for each item. Members marked `writeOnly` are encrypted (D3). */
export interface ConfiguredSettings<Item extends Configurable> {
  /** The saved settings with schema defaults. Secrets are in plain text. */
  saved(item: Item): Promise<SavedSettings>;
  /**
   * Changes the named settings only. An empty text removes a setting, undefined leaves it unchanged.
   *
   * @throws RestError 400 with a sentence for each invalid field; nothing is saved
   */
  save(item: Item, changes: SavedSettings): Promise<void>;
}

export interface ConfiguredParts {
  readonly options: Pick<OptionsApi, 'get' | 'update'>;
  readonly secrets: SecretsApi;
  readonly read: SecretReader;
  /** Returns the name of the option for an id. */
  readonly option: (id: string) => string;
}

export function createConfiguredSettings<Item extends Configurable>({
  options,
  secrets,
  read,
  option,
}: ConfiguredParts): ConfiguredSettings<Item> {
  async function stored(id: string): Promise<SavedSettings> {
    const value = await options.get<unknown>(option(id), {});
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  }

  return {
    async saved(item) {
      const settings: Record<string, unknown> = {};
      const values = await stored(item.id);
      for (const [name, schema] of Object.entries(item.settings.properties)) {
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        const plain = schema.writeOnly && typeof value === 'string' ? (read(value) ?? undefined) : value;
        const chosen = plain ?? schema.default;
        if (chosen !== undefined) settings[name] = chosen;
      }
      return settings;
    },
    async save(item, changes) {
      const { properties } = item.settings;
      const next: Record<string, unknown> = { ...(await stored(item.id)) };
      const errors: Record<string, string> = {};
      for (const [name, raw] of Object.entries(changes)) {
        const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (raw === undefined) continue;
        if (!schema) {
          errors[name] =
            `${item.label} has no setting named ${name}. Use one of ${Object.keys(properties).join(', ')}.`;
          continue;
        }
        const reading = readFieldValue(name, schema, raw);
        if ('error' in reading) errors[name] = reading.error;
        else if (reading.value === undefined) Reflect.deleteProperty(next, name);
        else next[name] = schema.writeOnly ? secrets.encrypt(String(reading.value)) : reading.value;
      }
      if (Object.keys(errors).length > 0) throw invalidFields(errors);
      await options.update(option(item.id), next);
    },
  };
}

/** Names of required settings that are empty. */
export function missingSettings({ required }: Pick<Configurable, 'required'>, settings: SavedSettings): string[] {
  return required.filter((name) => {
    const value = settings[name];
    return value === undefined || value === null || value === '';
  });
}
