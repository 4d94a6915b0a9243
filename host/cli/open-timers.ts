import { sep } from 'node:path';

export interface TimerWatch {
  /**
   * Names the plugins that started a timer which still keeps the process alive.
   *
   * @param pluginDirs absolute paths of the folders of plugins.
   * @returns sentences for the operator.
   */
  describe(pluginDirs: readonly string[]): string[];
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
    describe(pluginDirs) {
      forgetEnded();
      return [
        ...new Set(
          open
            .filter(({ timer }) => timer.hasRef())
            .flatMap(({ origin }) => findPlugin(origin.stack ?? '', pluginDirs)),
        ),
      ];
    },
  };
}

/** The first line of a stack that is in the folder of a plugin. */
function findPlugin(stack: string, pluginDirs: readonly string[]): string[] {
  for (const line of stack.split('\n')) {
    const path = line.replace('file://', '');
    for (const directory of pluginDirs) {
      const start = path.indexOf(directory + sep);
      if (start < 0) continue;
      const [slug = ''] = path.slice(start + directory.length + 1).split(sep);
      const position = path.slice(start).replace(/\)$/, '');
      return [
        `The plugin '${slug}' still has a timer (${position}), which the command did not wait for. ` +
          `Start timers with host.clock, which ends them with the plugin.`,
      ];
    }
  }
  return [];
}
