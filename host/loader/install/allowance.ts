import { Transform } from 'node:stream';

/** Why a folder or zip was refused, in a sentence for whoever brought it. Nothing was changed. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
}

/** How much one plugin may bring. */
export interface InstallLimits {
  /** Files and folders. */
  readonly entries: number;
  /** Bytes of all files together, as they lie on the disk. */
  readonly bytes: number;
}

export const installLimits: InstallLimits = { entries: 2_000, bytes: 20 * 1_048_576 };

/** Counts what is really written: what a zip says of its own sizes is no more than a claim. */
export interface Allowance {
  /** @throws InstallError above the number of entries. */
  entry(): void;
  /** Passes data on. Fails with an InstallError above the number of bytes, before more is written. */
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
          `The plugin has more than ${entries} files and folders; leave out what it does not need to run.`,
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
                `The plugin is larger than ${Math.floor(bytes / 1_048_576)} MB unpacked; leave out what it does not need to run.`,
              ),
            );
        },
      }),
  };
}
