import type { Clock, Logger, Undo } from '#plugin-api';
import type { MethodKinds } from './services.ts';
import { withTimeout } from './stages.ts';

/** The registrations of one plugin, which can be undone together. */
export interface Registrations {
  /** Stores an undo function. Returns one that runs it at most once. */
  remember(undo: Undo): Undo;
  /** @throws Error if the plugin is no longer active. */
  check(): void;
  onStop(callback: () => void | Promise<void>): void;
  /** Runs stop callbacks, rejects further use, then undoes the registrations, each newest first. Never throws. */
  close(): Promise<void>;
}

/** Time limit of one stop callback in milliseconds. */
const stopLimit = 10_000;

export function createRegistrations({ slug, clock, log }: { slug: string; clock: Clock; log: Logger }): Registrations {
  const undos = new Set<Undo>();
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

  return {
    check,
    remember(undo) {
      const once = (): void => {
        if (undos.delete(once)) undo();
      };
      undos.add(once);
      return once;
    },
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
      const result = target[name]?.(...args);
      if (kind === 'call') return result;
      return result instanceof Promise
        ? result.then((undo) => registrations.remember(undo as Undo))
        : registrations.remember(result as Undo);
    };
  }
  return guarded as { [Name in keyof MethodKinds<Contract> & keyof Contract]: Contract[Name] };
}
