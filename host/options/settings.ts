import type { HooksApi, SettingDefinition, Undo } from '#plugin-api';
import { type CheckValue, compileSchema } from './setting-schema.ts';

export interface RegisteredSetting extends SettingDefinition {
  readonly name: string;
}

export interface Settings {
  register(name: string, definition: SettingDefinition): Undo;
  /** Coerces and validates a value; one that is not registered is answered as it is. */
  check(name: string, value: unknown): Promise<unknown>;
  list(): RegisteredSetting[];
  /** Tells of registrations and their undoing. */
  onChange(listener: () => void): Undo;
}

interface Registration {
  readonly setting: RegisteredSetting;
  readonly undoDefault: Undo;
  /** Compiled at the first write: most processes never write most settings. */
  check: Promise<CheckValue> | null;
}

/** Registered settings of this process. A second registration of a name takes the place of the first. */
export function createSettings(hooks: HooksApi): Settings {
  const registrations = new Map<string, Registration>();
  const listeners = new Set<() => void>();
  const tell = (): void => {
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
      tell();
      return () => {
        registration.undoDefault();
        if (registrations.get(name) !== registration) return;
        registrations.delete(name);
        tell();
      };
    },
    async check(name, value) {
      const registration = registrations.get(name);
      if (registration === undefined) return value;
      registration.check ??= compileSchema(name, registration.setting.schema);
      return (await registration.check)(value);
    },
    list: () => [...registrations.values()].map(({ setting }) => setting),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A default is a filter, as in WordPress, so that other filters on `default_option_{name}` see it in their order. */
function addDefault(hooks: HooksApi, name: string, preset: unknown): Undo {
  if (preset === undefined) return () => {};
  return hooks.addFilter(`default_option_${name}`, (value: unknown, _name: string, isGiven: boolean) =>
    isGiven ? value : structuredClone(preset),
  );
}
