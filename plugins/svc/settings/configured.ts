import type { JsonSchema, OptionsApi, SecretsApi } from '#plugin-api';
import { readFieldValue } from './field-value.ts';
import { invalidFields } from '../kit/field-errors.ts';
import type { SecretReader } from './secret-reader.ts';

/** Something an administrator fills settings in for: a provider, a vector store. */
export interface Configurable {
  readonly id: string;
  readonly label: string;
  readonly settings: { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** Names of settings that must be filled. */
  readonly required: readonly string[];
}

export type SavedSettings = Readonly<Record<string, unknown>>;

/** Settings by schema in one option each, members marked `writeOnly` encrypted (D3). */
export interface ConfiguredSettings<Item extends Configurable> {
  /** What was saved, with schema defaults, secrets in plain text. */
  saved(item: Item): Promise<SavedSettings>;
  /**
   * Changes the named settings and leaves the others; an empty text removes one, undefined leaves it.
   * Throws invalid fields with a sentence for each; then nothing is saved.
   */
  save(item: Item, changes: SavedSettings): Promise<void>;
}

export interface ConfiguredParts {
  readonly options: Pick<OptionsApi, 'get' | 'update'>;
  readonly secrets: SecretsApi;
  readonly read: SecretReader;
  /** Name of the option of an id. */
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
          errors[name] = `${item.label} has no setting named ${name}; it has ${Object.keys(properties).join(', ')}.`;
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

/** Names of required settings that are still empty. */
export function missingSettings({ required }: Pick<Configurable, 'required'>, settings: SavedSettings): string[] {
  return required.filter((name) => {
    const value = settings[name];
    return value === undefined || value === null || value === '';
  });
}
