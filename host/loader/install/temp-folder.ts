import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#plugin-api';

/**
 * What a folder is for that lies in the plugin folder for a moment: a plugin being checked, an old version until the new
 * one has proved itself, one that is being removed. None of them is ever looked at as a plugin.
 */
export type PassingKind = 'installing' | 'replaced' | 'removed';

/** Milliseconds after which the folder of a process that cannot be asked (one of another machine) counts as left behind. */
const patience = 15 * 60_000;

const pattern = /^\.(installing|replaced|removed)-(?:(\d+)-(.+)-(\d+)-)?[\da-f-]+$/;

/** A path no other process takes. Its name says who made it and when, so that what a crash leaves behind can be told. */
export function passingFolder({
  pluginDir,
  kind,
  clock,
}: {
  readonly pluginDir: string;
  readonly kind: PassingKind;
  readonly clock: Pick<Clock, 'now'>;
}): string {
  return join(pluginDir, `.${kind}-${clock.now()}-${machine()}-${process.pid}-${randomUUID().slice(0, 8)}`);
}

/** What a name says, or null when it is none of these. */
export function readPassing(
  name: string,
  clock: Pick<Clock, 'now'>,
): { readonly kind: PassingKind; readonly isLeftBehind: boolean } | null {
  const [, kind, madeAt, maker, pid] = pattern.exec(name) ?? [];
  if (kind === undefined) return null;
  const isLeftBehind =
    pid === undefined || (maker === machine() ? !isOther(Number(pid)) : clock.now() - Number(madeAt) > patience);
  return { kind: kind as PassingKind, isLeftBehind };
}

function machine(): string {
  return (
    hostname()
      .replace(/[^\w.-]/g, '_')
      .slice(0, 60) || 'machine'
  );
}

/** Whether the process runs and is not this one: of this one only an earlier life is meant, since it asks when it does nothing of the kind. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process, which may not be asked, runs all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
