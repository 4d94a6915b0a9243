import type { FileTime } from './helpers/file-times.ts';

/**
 * `slow`: `*.slow.test.ts`. `quick`: neither these nor `*.long.test.ts`. `usual`: all but the slow ones, which is what
 * coverage is measured with. `gate`: `quick` and the long ones that guard accounts, data and deliveries, for every commit.
 */
export type Selection = 'quick' | 'gate' | 'usual' | 'slow' | 'all';

/** Long files of the gate. The others take a quarter of an hour of two processors more. */
const guarding =
  /^tests\/(?:mail|oracle|security(?!\/ids))\/|^tests\/loader\/(?:install|upgrade)|^tests\/(?:contract|host|users)\/(?:cross-site|late-database|outages|password|webhooks|widget-outages)/;

/** Suites with a runner of their own. */
const ownRunner = /^tests\/(quality|e2e)\//;

/** Files that take less are not recorded: their place does not matter. */
const leastSeconds = 1.5;

export function selectFiles(files: readonly string[], selection: Selection): readonly string[] {
  return files.filter((file) => file.endsWith('.test.ts') && !ownRunner.test(file) && isSelected(file, selection));
}

function isSelected(file: string, selection: Selection): boolean {
  const isSlow = file.endsWith('.slow.test.ts');
  const isLong = file.endsWith('.long.test.ts');
  if (selection === 'quick' || selection === 'gate')
    return !isSlow && (!isLong || (selection === 'gate' && guarding.test(file)));
  return selection === 'all' || isSlow === (selection === 'slow');
}

/** The longest first, then the others by name. */
export function inOrder(files: readonly string[], seconds: Readonly<Record<string, number>>): readonly string[] {
  const of = (file: string): number => seconds[file] ?? 0;
  return [...files].sort((one, other) => of(other) - of(one) || (one < other ? -1 : 1));
}

/** Seconds by file, longest first: what was measured now, else what was before, for the files that are there. */
export function recordTimes(
  before: Readonly<Record<string, number>>,
  times: readonly FileTime[],
  files: readonly string[],
): Readonly<Record<string, number>> {
  const all = {
    ...before,
    ...Object.fromEntries(times.map(({ file, seconds }) => [file, Number(seconds.toFixed(1))])),
  };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([file, seconds]) => seconds >= leastSeconds && files.includes(file))
      .sort(([, one], [, other]) => other - one),
  );
}

/** Lines about the ten longest files and the sum. */
export function tellLongest(times: readonly FileTime[]): string {
  const line = ({ seconds, processorSeconds, file }: FileTime): string =>
    `${seconds.toFixed(1).padStart(8)} ${processorSeconds.toFixed(1).padStart(8)}  ${file}\n`;
  const sum = (name: 'seconds' | 'processorSeconds'): number => times.reduce((total, time) => total + time[name], 0);
  const longest = [...times].sort((one, other) => other.seconds - one.seconds).slice(0, 10);
  return [
    'Longest files: seconds, processor seconds of their own process\n',
    ...longest.map(line),
    line({
      file: `all ${String(times.length)} files`,
      seconds: sum('seconds'),
      processorSeconds: sum('processorSeconds'),
    }),
  ].join('');
}
