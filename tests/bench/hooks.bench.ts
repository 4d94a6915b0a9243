import type { BenchRow } from './bench-row.ts';
import { otherSubjects, subjectsOf } from './helpers/hook-subjects.ts';
import type { Subject, Subjects } from './helpers/hook-subjects.ts';
import { median } from './helpers/statistics.ts';

export const title = 'Hooks: one applyFilters, beside a plain loop, tapable and @wordpress/hooks';

const counts = [0, 1, 10] as const;
type Times = Readonly<Record<string, readonly number[]>>;

/** Nothing that is measured may be left unused. */
let consumed = 0;

/**
 * Nanoseconds of one call. All subjects run in one process and take turns within each round, so that other work on the
 * machine falls on all of them alike; ratios are taken within a round, and their median counts.
 */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const all: Record<string, Subject> = {};
  for (const count of counts)
    for (const [name, subject] of Object.entries(subjectsOf(count)))
      all[keyOf(count, name as keyof Subjects)] = subject;
  Object.assign(all, otherSubjects());
  const times = measure(all, { rounds: short ? 3 : 150, warmUp: short ? 1 : 20, calls: short ? 20_000 : 100_000 });
  if (!Number.isFinite(consumed)) throw new Error('A subject answered no number.');
  return [
    ...counts.flatMap((count) => rowsOf(count, times)),
    cost('3 arguments, 10 callbacks', times['threeArguments']),
    cost('doAction, 10 callbacks', times['action']),
  ];
}

function rowsOf(count: (typeof counts)[number], times: Times): BenchRow[] {
  const of = (name: keyof Subjects): readonly number[] => times[keyOf(count, name)] ?? [];
  const ratio = (left: keyof Subjects, right: keyof Subjects): number =>
    median(of(left).map((value, round) => value / (of(right)[round] ?? Number.NaN)));
  const callbacks = `${String(count)} callback${count === 1 ? '' : 's'}`;
  return [
    { ...cost(callbacks, of('ours')), ...(count === 0 && { target: { at: 'most', value: 15 } as const }) },
    cost(`${callbacks}: plain loop`, of('loop')),
    cost(`${callbacks}: tapable, hook by name`, of('tapableByName')),
    cost(`${callbacks}: tapable, hook held`, of('tapableHeld')),
    cost(`${callbacks}: @wordpress/hooks`, of('wordpress')),
    ...(count === 10
      ? [
          {
            name: `${callbacks}, ours : loop`,
            value: ratio('ours', 'loop'),
            unit: 'ratio',
            target: { at: 'most', value: 2 } as const,
          },
        ]
      : []),
    ...(count === 1
      ? [
          {
            name: `${callbacks}, tapable by name : ours`,
            value: ratio('tapableByName', 'ours'),
            unit: 'ratio',
            target: { at: 'least', value: 1 } as const,
          },
        ]
      : []),
    ...(count === 1
      ? [
          {
            name: `${callbacks}, tapable held : ours`,
            value: ratio('tapableHeld', 'ours'),
            unit: 'ratio',
            target: { at: 'least', value: 1 } as const,
          },
        ]
      : []),
    {
      name: `${callbacks}, @wordpress/hooks : ours`,
      value: ratio('wordpress', 'ours'),
      unit: 'ratio',
      target: { at: 'least', value: 10 },
    },
  ];
}

function keyOf(count: number, name: keyof Subjects): string {
  return `${name} ${String(count)}`;
}

/** The median of the calmest half: a machine that does other things adds to a figure, and never takes away. */
function cost(name: string, rounds: readonly number[] = []): BenchRow {
  const calm = [...rounds].sort((left, right) => left - right).slice(0, Math.ceil(rounds.length / 2));
  return { name, value: median(calm), unit: 'ns' };
}

function measure(
  all: Readonly<Record<string, Subject>>,
  { rounds, warmUp, calls }: { readonly rounds: number; readonly warmUp: number; readonly calls: number },
): Times {
  const times: Record<string, number[]> = {};
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, subject] of Object.entries(all)) {
      const start = process.hrtime.bigint();
      consumed += subject(calls);
      const each = Number(process.hrtime.bigint() - start) / calls;
      if (round >= 0) (times[name] ??= []).push(each);
    }
  }
  return times;
}
