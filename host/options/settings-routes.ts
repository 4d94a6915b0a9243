import type {
  JsonSchema,
  OptionsApi,
  Params,
  RestApi,
  RestRequest,
  RouteArgument,
  RouteDefinition,
  Undo,
} from '#plugin-api';
import { hideSettingSecrets, keepSettingSecrets } from './setting-secrets.ts';
import type { RegisteredSetting } from './settings.ts';

export interface SettingsRoutesDependencies {
  readonly options: Pick<OptionsApi, 'get' | 'update' | 'delete'> & {
    settings(): readonly RegisteredSetting[];
    /** Calls the listener when plugins register or unregister settings. */
    onSettingsChange(listener: () => void): Undo;
  };
}

/**
 * `/wp/v2/settings`: the settings registered with `showInRest`. Requires `manage_options`. A secret (`writeOnly`, at
 * any depth) can be written and is never returned; a secret member that an object lacks is left unchanged. Null resets
 * a setting to its default.
 */
export function addSettingsRoutes(rest: RestApi, { options }: SettingsRoutesDependencies): Undo {
  const names = new Map<string, RegisteredSetting>();

  const read = async ({ name, schema }: RegisteredSetting): Promise<unknown> =>
    hideSettingSecrets(schema, await options.get(name));

  async function show(): Promise<Record<string, unknown>> {
    const shown = [...names].filter(([, { schema }]) => schema.writeOnly !== true);
    return Object.fromEntries(
      await Promise.all(shown.map(async ([name, setting]) => [name, await read(setting)] as const)),
    );
  }

  async function write({ params, json }: RestRequest): Promise<Record<string, unknown>> {
    const nulls = resets.get(json as object) ?? [];
    for (const [name, setting] of names) {
      if (nulls.includes(name)) await options.delete(setting.name);
      else if (params[name] !== undefined) {
        const saved = await options.get(setting.name);
        await options.update(setting.name, keepSettingSecrets(setting.schema, params[name], saved));
      }
    }
    return show();
  }

  const register = (): Undo => {
    names.clear();
    for (const setting of options.settings()) {
      if (setting.showInRest) names.set(setting.showInRest === true ? setting.name : setting.showInRest, setting);
    }
    return rest.registerRoute('wp/v2', '/settings', createDefinitions(names, show, write));
  };

  let undo = register();
  let isDue = false;
  const undoListening = options.onSettingsChange(() => {
    // A plugin registers several settings in a row: one new registration covers all.
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      if (!isDue) return;
      isDue = false;
      undo();
      undo = register();
    });
  });
  return () => {
    isDue = false;
    undoListening();
    undo();
  };
}

/** Names of the members that were null in a request's JSON body, by that body. */
const resets = new WeakMap<object, readonly string[]>();

/** Null means "reset to the default" for settings of any type, so it is removed before validation. */
function extractNulls({ json }: RestRequest): void {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return;
  const body = json as Record<string, unknown>;
  const nulls = Object.keys(body).filter((name) => body[name] === null);
  for (const name of nulls) Reflect.deleteProperty(body, name);
  resets.set(body, nulls);
}

type SettingsHandler = (request: RestRequest) => Promise<Record<string, unknown>>;

function createDefinitions(
  names: ReadonlyMap<string, RegisteredSetting>,
  show: SettingsHandler,
  write: SettingsHandler,
): RouteDefinition[] {
  const args = Object.fromEntries([...names].map(([name, { schema, label }]) => [name, toArgument(schema, label)]));
  const schema: JsonSchema = {
    title: 'settings',
    type: 'object',
    properties: Object.fromEntries([...names].map(([name, setting]) => [name, setting.schema])),
  };
  const permission = ({ user }: RestRequest<Params>): boolean => user.can('manage_options');
  return [
    { methods: ['GET'], permission, schema, summary: 'Returns the settings.', handler: show },
    {
      methods: ['POST', 'PUT', 'PATCH'],
      args,
      authenticate: extractNulls,
      permissionBeforeBody: permission,
      permission,
      schema,
      summary: 'Updates the given settings; others stay unchanged.',
      handler: write,
    },
  ];
}

/** Without the default, which would be written for omitted settings, and without `required`. */
function toArgument(
  { default: _default, required: _required, ...schema }: JsonSchema,
  label: string | undefined,
): RouteArgument {
  return { ...schema, ...(label !== undefined && { title: label }) };
}
