import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#plugin-api';

/**
 * Purpose of a temporary folder in the plugin folder: a plugin being checked, an old version until the new one has started,
 * or a plugin being removed. Discovery ignores these folders.
 */
export type TempFolderKind = 'installing' | 'replaced' | 'removed';

/** Milliseconds after which the folder of a process on another machine counts as stale. */
const staleAfter = 15 * 60_000;

const pattern = /^\.(installing|replaced|removed)-(?:(\d+)-(.+)-(\d+)-)?[\da-f-]+$/;

/** Returns a unique path. Its name contains creator and time, so that folders of crashed processes can be recognized. */
export function tempFolderPath({
  pluginDir,
  kind,
  clock,
}: {
  readonly pluginDir: string;
  readonly kind: TempFolderKind;
  readonly clock: Pick<Clock, 'now'>;
}): string {
  return join(pluginDir, `.${kind}-${clock.now()}-${hostLabel()}-${process.pid}-${randomUUID().slice(0, 8)}`);
}

/** Parses the name of a temporary folder; null for other names. */
export function parseTempFolderName(
  name: string,
  clock: Pick<Clock, 'now'>,
): { readonly kind: TempFolderKind; readonly isStale: boolean } | null {
  const [, kind, createdAt, host, pid] = pattern.exec(name) ?? [];
  if (kind === undefined) return null;
  const isStale =
    pid === undefined ||
    (host === hostLabel() ? !isRunningElsewhere(Number(pid)) : clock.now() - Number(createdAt) > staleAfter);
  return { kind: kind as TempFolderKind, isStale };
}

function hostLabel(): string {
  return (
    hostname()
      .replace(/[^\w.-]/g, '_')
      .slice(0, 60) || 'machine'
  );
}

/** Whether another process of this machine with this id is running. */
export function isRunningElsewhere(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
