import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#plugin-api';
import { NotReadyError, type ReadinessCheck } from './http/readiness.ts';

/** More than what is left in blocks that are in use already. */
const probe = Buffer.alloc(65_536);

/** Milliseconds that a result counts: load balancers ask every few seconds. */
const validFor = 10_000;

const full = /^(ENOSPC|EDQUOT|EIO)$/;

interface WriteProbeInit {
  /** `DATA_DIR`; null for a site in memory, which writes nothing. */
  readonly folder: string | null;
  /** Whether the database is in the folder. Otherwise it may be missing or read-only. */
  readonly hasDatabase: boolean;
  readonly clock: Pick<Clock, 'after'>;
}

/** A check that fails while nothing can be written to `DATA_DIR`, as on a full disk. It writes at most once in ten seconds. */
export function createWriteProbe({ folder, hasDatabase, clock }: WriteProbeInit): ReadinessCheck {
  let result: Promise<void> | null = null;

  async function write(file: string): Promise<void> {
    try {
      await writeFile(file, probe, { mode: 0o600, flush: true });
      await rm(file, { force: true });
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (!hasDatabase && !full.test(code)) return;
      throw new NotReadyError(`Files in DATA_DIR cannot be written (${code}). Free some space, or check the disk.`, {
        cause: error,
      });
    } finally {
      clock.after(validFor, () => (result = null));
    }
  }

  return async () => {
    if (folder !== null) await (result ??= write(join(folder, 'write-probe')));
  };
}
