import { Transform } from 'node:stream';

/** The reason for rejecting a folder or zip file, for the administrator. Nothing was changed. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
}

export interface InstallLimits {
  /** Files and folders. */
  readonly entries: number;
  /** Total bytes of all unpacked files. */
  readonly bytes: number;
}

export const installLimits: InstallLimits = { entries: 2_000, bytes: 20 * 1_048_576 };

/** Counts what is actually written, because the sizes in a zip file may be wrong. */
export interface Allowance {
  /** @throws InstallError above the number of entries. */
  entry(): void;
  /** Passes data through. Fails with an InstallError at the byte limit before writing more. */
  meter(): Transform;
}

export function createAllowance({ entries, bytes }: InstallLimits = installLimits): Allowance {
  let countedEntries = 0;
  let countedBytes = 0;
  return {
    entry() {
      countedEntries += 1;
      if (countedEntries > entries)
        throw new InstallError(
          `The plugin has more than ${entries} files and folders; remove what it does not need to run.`,
        );
    },
    meter: () =>
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          countedBytes += chunk.length;
          if (countedBytes <= bytes) done(null, chunk);
          else
            done(
              new InstallError(
                `The plugin is larger than ${Math.floor(bytes / 1_048_576)} MB unpacked; remove what it does not need to run.`,
              ),
            );
        },
      }),
  };
}
