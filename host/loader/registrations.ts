import type { Clock, Logger, Undo } from '#plugin-api';
import type { MethodKinds } from './services.ts';
import { withinTime } from './stages.ts';

/** All that one plugin registered, so that it can be taken back as one. */
export interface Registrations {
  /** Keeps an undo; answers one that runs it once and forgets it. */
  remember(undo: Undo): Undo;
  /** Throws the sentence that refuses a plugin which is no longer active. */
  check(): void;
  onStop(callback: () => void | Promise<void>): void;
  /** Runs the stop callbacks, newest first, then refuses all further use and undoes the registrations, newest first. Never throws. */
  close(): Promise<void>;
}

/** Milliseconds that one stop callback may take. */
const stopLimit = 10_000;

export function createRegistrations({ slug, clock, log }: { slug: string; clock: Clock; log: Logger }): Registrations {
  const undos = new Set<Undo>();
  const stops: (() => void | Promise<void>)[] = [];
  let closed = false;

  const check = (): void => {
    if (closed)
      throw new Error(
        `The plugin '${slug}' is not active any more, so it cannot use the host; end its work in onStop.`,
      );
  };
  const guarded = async (what: string, work: () => void | Promise<void>): Promise<void> => {
    try {
      await withinTime(work(), {
        clock,
        limit: stopLimit,
        sentence: `It took longer than ${stopLimit / 1000} seconds.`,
      });
    } catch (error) {
      log.error(`${what} of the plugin failed; the rest of it was still stopped.`, { error });
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
      for (let stop = stops.pop(); stop; stop = stops.pop()) await guarded('A stop callback', stop);
      closed = true;
      for (const undo of [...undos].reverse()) await guarded('An undo', undo);
    },
  };
}

/**
 * A view of a service for one plugin: only the methods of the contract, refused once the plugin is stopped, with what
 * they register remembered.
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
      return kind === 'undo' ? registrations.remember(result as Undo) : result;
    };
  }
  return guarded as { [Name in keyof MethodKinds<Contract> & keyof Contract]: Contract[Name] };
}
