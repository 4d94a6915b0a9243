import type { HooksApi, JsonSchema, SettingDefinition, Undo } from '#plugin-api';
import { type CheckValue, compileSchema } from './setting-schema.ts';

export interface RegisteredSetting extends SettingDefinition {
  readonly name: string;
}

export interface Settings {
  register(name: string, definition: SettingDefinition): Undo;
  /** Coerces and validates a value. Values of unregistered names are returned unchanged. */
  check(name: string, value: unknown): Promise<unknown>;
  /** undefined: the name is not registered. */
  schemaOf(name: string): JsonSchema | undefined;
  list(): RegisteredSetting[];
  /** Calls the listener after each registration and unregistration. */
  onChange(listener: () => void): Undo;
}

interface Registration {
  readonly setting: RegisteredSetting;
  readonly undoDefault: Undo;
  /** Compiled on the first write: most processes never write most settings. */
  check: Promise<CheckValue> | null;
}

/** Registered settings of this process. A later registration of a name replaces the earlier one. */
export function createSettings(hooks: HooksApi): Settings {
  const registrations = new Map<string, Registration>();
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };

  return {
    register(name, definition) {
      registrations.get(name)?.undoDefault();
      const { default: preset } = definition.schema;
      const registration: Registration = {
        setting: { ...definition, name },
        undoDefault: addDefault(hooks, name, preset),
        check: null,
      };
      registrations.set(name, registration);
      notify();
      return () => {
        registration.undoDefault();
        if (registrations.get(name) !== registration) return;
        registrations.delete(name);
        notify();
      };
    },
    async check(name, value) {
      const registration = registrations.get(name);
      if (registration === undefined) return value;
      registration.check ??= compileSchema(name, registration.setting.schema);
      return (await registration.check)(value);
    },
    schemaOf: (name) => registrations.get(name)?.setting.schema,
    list: () => [...registrations.values()].map(({ setting }) => setting),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A default is a filter, as in WordPress, so that it is ordered among other filters on `default_option_{name}`. */
function addDefault(hooks: HooksApi, name: string, preset: unknown): Undo {
  if (preset === undefined) return () => {};
  const fillIn = (value: unknown, _name: string, isGiven: boolean): unknown =>
    isGiven ? value : structuredClone(preset);
  return hooks.addFilter(`default_option_${name}`, fillIn, 10, { isSynchronous: true });
}
