import type { Clock, Logger, Undo } from '#plugin-api';
import type { HostServices, MethodKinds } from './services.ts';
import { withTimeout } from './stages.ts';

/** The registrations of one plugin, which can be undone together. */
export interface Registrations {
  /** Checks and runs a registration. If the name is taken, the error says which plugin has it. */
  register(method: string, args: readonly unknown[], register: () => Undo | Promise<Undo>): Undo | Promise<Undo>;
  /** Stores an undo function. Returns one that runs it at most once. */
  remember(undo: Undo): Undo;
  /** Names registered with a method. */
  names(method: string): readonly string[];
  /** @throws Error if the plugin is no longer active. */
  check(): void;
  onStop(callback: () => void | Promise<void>): void;
  /** Runs stop callbacks, rejects further use, then undoes the registrations, each newest first. Never throws. */
  close(): Promise<void>;
}

/** Time limit of one stop callback in milliseconds. */
const stopLimit = 10_000;

export function createRegistrations({
  slug,
  owners,
  clock,
  log,
  checkDefinition,
  onWarning,
}: {
  readonly slug: string;
  /** Which plugin registered what, of all plugins. */
  readonly owners: Map<string, string>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly checkDefinition: HostServices['checkDefinition'];
  /** Called for each sentence about something that was registered nevertheless. */
  readonly onWarning: (sentence: string) => void;
}): Registrations {
  const undos = new Set<Undo>();
  const registered = new Set<{ readonly method: string; readonly name: string }>();
  const stops: (() => void | Promise<void>)[] = [];
  let closed = false;

  const check = (): void => {
    if (closed)
      throw new Error(`The plugin '${slug}' is no longer active and cannot use the host; stop its work in onStop.`);
  };
  const guarded = async (what: string, work: () => void | Promise<void>): Promise<void> => {
    try {
      await withTimeout(work(), {
        clock,
        limit: stopLimit,
        message: `It took longer than ${stopLimit / 1000} seconds.`,
      });
    } catch (error) {
      log.error('Plugin cleanup failed', { event: 'plugin_stop_failed', step: what, error });
    }
  };

  const remember = (undo: Undo): Undo => {
    const once = (): void => {
      if (undos.delete(once)) undo();
    };
    undos.add(once);
    return once;
  };

  return {
    check,
    remember,
    register(method, args, register) {
      const found = checkDefinition(method, args);
      const key = [method, ...nameOf(args)].join(' ');
      const finish = (undo: Undo): Undo => {
        for (const sentence of found) onWarning(sentence);
        if (key !== method) owners.set(key, slug);
        const own = { method, name: nameOf(args)[0] ?? '' };
        registered.add(own);
        return remember(() => {
          registered.delete(own);
          undo();
          if (owners.get(key) === slug) owners.delete(key);
        });
      };
      const added = withOwner(() => withReason(register, found), owners.get(key));
      return added instanceof Promise ? added.then(finish) : finish(added);
    },
    names: (method) => [...registered].filter((each) => each.method === method).map(({ name }) => name),
    onStop(callback) {
      check();
      stops.push(callback);
    },
    async close() {
      for (let stop = stops.pop(); stop; stop = stops.pop()) await guarded('stop callback', stop);
      closed = true;
      for (const undo of [...undos].reverse()) await guarded('undo', undo);
    },
  };
}

/** Under which name something is registered, in one or two parts; empty if it has none. */
function nameOf([first, second]: readonly unknown[]): string[] {
  const { name, slug, id } = (first ?? {}) as Readonly<Record<string, unknown>>;
  const parts = typeof first === 'string' ? [first, second] : [name ?? slug ?? id];
  return parts.filter((part) => typeof part === 'string');
}

/** @throws what `register` throws, with the owner of the name in the message if another plugin has it. */
function withOwner<Result>(register: () => Result, owner: string | undefined): Result {
  try {
    return register();
  } catch (error) {
    if (owner === undefined || !(error instanceof Error)) throw error;
    throw new Error(`${error.message} The plugin '${owner}' has registered it.`, { cause: error });
  }
}

/** @throws what `register` throws. Errors of types, which the engine words, begin with what was found. */
function withReason<Result>(
  register: () => Result | Promise<Result>,
  found: readonly string[],
): Result | Promise<Result> {
  const explain = (error: unknown): never => {
    if (found.length === 0 || !(error instanceof TypeError)) throw error;
    throw new Error([...found, error.message].join(' '), { cause: error });
  };
  try {
    const added = register();
    return added instanceof Promise ? added.catch(explain) : added;
  } catch (error) {
    return explain(error);
  }
}

/**
 * Creates the view of a service for one plugin. It has only the methods of the contract, rejects calls after the plugin
 * stops, and stores undo functions.
 */
export function guardService<Contract extends object>(
  registrations: Registrations,
  service: Contract,
  methods: MethodKinds<Contract>,
): { [Name in keyof MethodKinds<Contract> & keyof Contract]: Contract[Name] } {
  const target = service as Record<string, (...args: unknown[]) => unknown>;
  const guarded: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(methods)) {
    guarded[name] = (...args: unknown[]): unknown => {
      registrations.check();
      const call = (): unknown => target[name]?.(...args);
      return kind === 'call' ? call() : registrations.register(name, args, call as () => Undo | Promise<Undo>);
    };
  }
  return guarded as { [Name in keyof MethodKinds<Contract> & keyof Contract]: Contract[Name] };
}
