import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isRunningElsewhere } from './loader/install/temp-folder.ts';

/** Which plugin was starting when starts ended: a plugin can end the process, hang it, or exhaust its memory. */
export interface UnfinishedStarts {
  /** The plugin that was starting when the last two starts on this machine ended; null if there is none. Forgets it. */
  take(): string | null;
  /** The plugin starts now, or ends the process by an error. Without effect after `end`. */
  begin(slug: string): void;
  /** Begins, and forgets the plugin when the work has ended. */
  during<Result>(slug: string, work: () => Result): Result;
  /** No plugin is starting now. */
  pause(): void;
  /** The site has started, or the start failed for another reason. */
  end(): void;
  /** The plugin that is starting. `times`: starts in a row that ended with it if this one does. */
  current(): { readonly plugin: string; readonly times: number } | null;
}

interface Stored {
  readonly plugin: string;
  readonly times: number;
  readonly pid: number;
  readonly host: string;
}

const needed = 2;

/** In `DATA_DIR/start.json`, which exists while plugins start. Where it cannot be written, starts are as without it. */
export function openUnfinishedStarts(dataDir: string): UnfinishedStarts {
  const path = join(dataDir, 'start.json');
  const former = read(path);
  let current: Stored | null = null;
  let isOver = false;
  const begin: UnfinishedStarts['begin'] = (plugin) => {
    if (isOver) return;
    const times = former?.plugin === plugin && former.times < needed ? former.times + 1 : 1;
    current = { plugin, times, pid: process.pid, host: hostname() };
    try {
      mkdirSync(dataDir, { recursive: true });
      writeFileSync(path, JSON.stringify(current));
    } catch {
      // A folder that is read-only.
    }
  };
  const pause = (): void => {
    if (current !== null) rmSync(path, { force: true });
    current = null;
  };
  return {
    take() {
      if (former === null || former.times < needed) return null;
      rmSync(path, { force: true });
      return former.plugin;
    },
    begin,
    during(slug, work) {
      begin(slug);
      let ended: Promise<unknown> | undefined;
      try {
        const result = work();
        if (result instanceof Promise) ended = result.then(pause, pause);
        return result;
      } finally {
        if (!ended) pause();
      }
    },
    pause,
    end() {
      isOver = true;
      pause();
    },
    current: () => current,
  };
}

/** Forgets the plugin that ended starts, since it is off now. */
export function forgetUnfinished(dataDir: string, slug: string): void {
  const path = join(dataDir, 'start.json');
  if (read(path)?.plugin === slug) rmSync(path, { force: true });
}

/** null also if another process that runs, or one of another machine, wrote it. */
function read(path: string): Stored | null {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as Stored;
    return stored.host === hostname() && !isRunningElsewhere(stored.pid) ? stored : null;
  } catch {
    return null;
  }
}
