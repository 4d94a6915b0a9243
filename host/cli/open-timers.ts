import type { PluginFolders } from '../log/plugin-folders.ts';

export interface TimerWatch {
  /**
   * Names the plugins that started a timer which still keeps the process alive.
   *
   * @returns sentences for the operator.
   */
  describe(folders: Pick<PluginFolders, 'findFrame'>): string[];
}

interface OpenTimer {
  readonly timer: NodeJS.Timeout & { readonly _destroyed?: boolean };
  /** Where it was started. */
  readonly origin: Error;
}

/** Timers to remember before those that ended are forgotten. */
const manyTimers = 1_000;

/** Remembers where timers are started. For a process that runs one command; call it before plugins are loaded. */
export function watchTimers(): TimerWatch {
  let open: OpenTimer[] = [];
  const forgetEnded = (): void => {
    open = open.filter(({ timer }) => timer._destroyed !== true);
  };
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const original = globalThis[name] as (...given: unknown[]) => NodeJS.Timeout;
    const watched = (...given: unknown[]): NodeJS.Timeout => {
      const timer = original(...given);
      if (open.length >= manyTimers) forgetEnded();
      open.push({ timer, origin: new Error('Timer started') });
      return timer;
    };
    // With what Node adds to it, such as its form for promises.
    Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
    Object.assign(globalThis, { [name]: watched });
  }
  return {
    describe(folders) {
      forgetEnded();
      const frames = open
        .filter(({ timer }) => timer.hasRef())
        .map(({ origin }) => folders.findFrame(origin.stack ?? ''));
      const sentences = frames.flatMap((frame) =>
        frame === null
          ? []
          : `The plugin '${frame.slug}' still has a timer (${frame.position}), which the command did not wait for. ` +
            `Start timers with host.clock, which ends them with the plugin.`,
      );
      return [...new Set(sentences)];
    },
  };
}
