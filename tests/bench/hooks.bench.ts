import { createHooks } from '../../host/hooks/hooks.ts';
import type { BenchRow } from './bench-row.ts';

export const title = 'Hooks';

type Step = (value: number) => number;

const callCount = 10;

/** Each subject makes `times` calls and answers the last value, so that nothing can be optimised away. */
type Subject = (times: number) => number;

/** Cost of one applyFilters, best of interleaved rounds, so that other work on the machine falls on all subjects alike. */
export async function run({ short }: { short: boolean }): Promise<BenchRow[]> {
  const best = measure(subjects(), { rounds: short ? 10 : 60, times: short ? 50_000 : 200_000 });
  const [empty, ten, loop] = [best.empty as number, best.ten as number, best.loop as number];
  return [
    { name: 'applyFilters, 0 callbacks', value: empty, unit: 'ns', target: { at: 'most', value: 15 } },
    { name: 'plain loop over 10 functions', value: loop, unit: 'ns' },
    { name: 'applyFilters, 10 callbacks', value: ten, unit: 'ns' },
    { name: 'applyFilters, 10 callbacks / plain loop', value: ten / loop, unit: 'ratio', target: { at: 'most', value: 2 } },
    { name: 'applyFilters, 10 callbacks, 3 arguments', value: best.tenOfThree as number, unit: 'ns' },
    { name: 'doAction, 10 callbacks', value: best.action as number, unit: 'ns' },
  ];
}

function subjects(): Record<string, Subject> {
  const hooks = createHooks();
  const steps = Array.from({ length: callCount }, (_, index) => distinctStep(index));
  for (const step of steps) hooks.addFilter('bench_ten', step);
  for (const step of steps) hooks.addFilter('bench_three', step);
  for (const step of steps) hooks.addAction('bench_action', step);
  return {
    loop(times) {
      let value = 0;
      for (let call = 0; call < times; call += 1) {
        for (const step of steps) value = step(value);
        value &= 1023;
      }
      return value;
    },
    empty(times) {
      let value = 0;
      for (let call = 0; call < times; call += 1) value = ((hooks.applyFilters('bench_empty', value) as number) + 1) & 1023;
      return value;
    },
    ten(times) {
      let value = 0;
      for (let call = 0; call < times; call += 1) value = (hooks.applyFilters('bench_ten', value) as number) & 1023;
      return value;
    },
    tenOfThree(times) {
      let value = 0;
      for (let call = 0; call < times; call += 1) value = (hooks.applyFilters('bench_three', value, call, times) as number) & 1023;
      return value;
    },
    action(times) {
      for (let call = 0; call < times; call += 1) hooks.doAction('bench_action', call);
      return times;
    },
  };
}

/** A function with code of its own, as callbacks of different plugins have: one closure made ten times would be inlined. */
function distinctStep(index: number): Step {
  return new Function('value', `return value + ${index + 1};`) as Step;
}

function measure(all: Record<string, Subject>, { rounds, times }: { rounds: number; times: number }): Record<string, number> {
  const best: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, subject] of Object.entries(all)) {
      const start = process.hrtime.bigint();
      subject(times);
      const nanoseconds = Number(process.hrtime.bigint() - start) / times;
      best[name] = Math.min(best[name] ?? Infinity, nanoseconds);
    }
  }
  return best;
}
