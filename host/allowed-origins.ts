import type { HooksApi, OptionsApi, Undo } from '#plugin-api';
import type { Database } from './database/database.ts';
import { allowedOriginsOption } from './site-settings.ts';

export interface AllowedOrigins {
  /** Asked at every REST request that names an origin: a look into a set, nothing more. */
  isAllowed(origin: string): boolean;
  /** Reads the setting, and hears of changes from now on: those of this process at once, those of others within a second. */
  follow(): Promise<Undo>;
}

export interface AllowedOriginsDependencies {
  readonly options: Pick<OptionsApi, 'get'>;
  readonly hooks: Pick<HooksApi, 'addAction'>;
  readonly database: Pick<Database, 'listen'>;
}

/** The setting `rest_allowed_origins`, kept where it can be asked without waiting. */
export function createAllowedOrigins({ options, hooks, database }: AllowedOriginsDependencies): AllowedOrigins {
  let allowed: ReadonlySet<string> = new Set();
  const read = async (): Promise<void> => {
    const origins = await options.get<unknown>(allowedOriginsOption);
    allowed = new Set(Array.isArray(origins) ? origins.map(String) : []);
  };
  const readIfChanged = (name: string): Promise<void> | undefined =>
    name === allowedOriginsOption ? read() : undefined;
  return {
    isAllowed: (origin) => allowed.has(origin),
    async follow() {
      const undos = [
        ...['added_option', 'updated_option', 'deleted_option'].map((action) => hooks.addAction(action, readIfChanged)),
        // The options' own listener came first: by now the changed value is asked for anew.
        await database.listen(
          'options',
          (payload) => void readIfChanged(nameIn(payload))?.catch(() => undefined),
          () => void read().catch(() => undefined),
        ),
      ];
      await read();
      return () => {
        for (const undo of undos) undo();
      };
    },
  };
}

function nameIn(payload: string): string {
  try {
    return String((JSON.parse(payload) as { name?: unknown }).name);
  } catch {
    return '';
  }
}
