import { AsyncLocalStorage } from 'node:async_hooks';
import { sep } from 'node:path';
import type { Undo } from '#plugin-api';

/** Where a stack enters the code of a plugin. */
export interface PluginFrame {
  readonly slug: string;
  /** File, line and column. */
  readonly position: string;
}

/** The folders of the plugins whose code this process has loaded, to name the plugin that an error came from. */
export interface PluginFolders {
  /** @param directory absolute, with links resolved. */
  add(slug: string, directory: string): void;
  /** The plugin has stopped in this process. */
  end(slug: string): void;
  /** Finds the first line of a stack that is in the folder of a plugin. */
  findFrame(stack: string): PluginFrame | null;
  /**
   * Slug of the plugin whose code the error, or one of its causes, came through. Of errors whose stack names no file, such as
   * those of sockets or a rejection with a text: the plugin that started the present work by `run`.
   */
  ownerOf(error: unknown): string | null;
  /** Runs code of a plugin. What it starts is known as the plugin's, also after it returns. */
  run<Result>(slug: string, work: () => Result): Result;
  /** The same for a step of its lifecycle, such as its start. */
  runStep<Result>(slug: string, work: () => Promise<Result>): Promise<Result>;
  /** The plugin whose work the calling code belongs to, by `run`. */
  current(): string | null;
  /** The plugin whose step of its lifecycle the calling code belongs to and has not ended. */
  currentStep(): string | null;
  /** Passes on an error of the plugin that nothing caught, to be named where the plugin was asked for. */
  report(slug: string, error: unknown): void;
  /** Also with those so far: a module is loaded once, for the first that asks. */
  onReport(listener: (slug: string, error: unknown) => void): Undo;
}

/** Of the process, in which several hosts may run. */
const contexts = new AsyncLocalStorage<{ readonly slug: string; inStep: boolean }>();

/** Errors that later listeners get. */
const maxReported = 100;
/** Causes of causes to look at: they may form a circle. */
const maxCauses = 5;

export function createPluginFolders({
  onAdd = () => undefined,
  onEnd = () => undefined,
}: {
  readonly onAdd?: (slug: string, directory: string) => void;
  readonly onEnd?: (slug: string) => void;
} = {}): PluginFolders {
  const folders = new Map<string, string>();
  const reported: (readonly [slug: string, error: unknown])[] = [];
  const listeners = new Set<(slug: string, error: unknown) => void>();
  const findFrame: PluginFolders['findFrame'] = (stack) => {
    for (const line of stack.split('\n')) {
      const path = line.includes('file://') ? decode(line.replace('file://', '')) : line;
      for (const [directory, slug] of folders) {
        const start = path.indexOf(directory + sep);
        if (start >= 0) return { slug, position: path.slice(start).replace(/\)$/, '') };
      }
    }
    return null;
  };
  return {
    add(slug, directory) {
      folders.set(directory, slug);
      onAdd(slug, directory);
    },
    end: onEnd,
    findFrame,
    ownerOf(error) {
      let current = error;
      let hasFile = false;
      for (let depth = 0; depth < maxCauses && current instanceof Error; depth += 1) {
        const stack = String(current.stack);
        const frame = findFrame(stack);
        if (frame !== null) return frame.slug;
        hasFile ||= /\.[cm]?[jt]s:\d/.test(stack);
        current = current.cause;
      }
      return hasFile ? null : (contexts.getStore()?.slug ?? null);
    },
    run: (slug, work) => contexts.run({ slug, inStep: false }, work),
    async runStep(slug, work) {
      const context = { slug, inStep: true };
      try {
        return await contexts.run(context, work);
      } finally {
        context.inStep = false;
      }
    },
    current: () => contexts.getStore()?.slug ?? null,
    currentStep() {
      const context = contexts.getStore();
      return context?.inStep === true ? context.slug : null;
    },
    report: (slug, error) => {
      if (reported.length < maxReported) reported.push([slug, error]);
      for (const listener of listeners) listener(slug, error);
    },
    onReport(listener) {
      for (const each of reported) listener(...each);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Addresses of modules are percent-encoded. */
function decode(line: string): string {
  try {
    return decodeURI(line);
  } catch {
    return line;
  }
}
