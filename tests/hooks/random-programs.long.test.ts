import { expect } from 'chai';
import fc from 'fast-check';
import { asynchronousEngine, synchronousEngine } from './engines.ts';
import { createModel } from './model.ts';
import { runProgram, runProgramSync } from './program.ts';
import type { HookProgram, Operation } from './program.ts';

const synchronousPrograms = 10_000;
const asynchronousPrograms = 1_000;

const names = ['a', 'b', 'c', 'd'] as const;
const hook = fc.constantFrom('h', 'g', 'act');
const filter = fc.constantFrom('h', 'g');
const callback = fc.constantFrom(...names);
const priority = fc.constantFrom(-1, 0, 5, 10, 20);
const value = fc.constantFrom<unknown>('v', 7, null);
/** Mostly with arguments: a hook where every callback takes some runs another way. */
const acceptedArgs = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 3 }) },
);
const add = fc.tuple(fc.constant('add'), hook, callback, priority, acceptedArgs);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: add },
  { weight: 3, arbitrary: fc.tuple(fc.constant('remove'), hook, callback, priority) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('removeAll'), hook, fc.option(priority, { nil: false as const })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('apply'), filter, value, fc.constant('x1')) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('apply'), filter, value) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('do'), fc.constant('act'), value, fc.constant('x1')) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('has'), hook, fc.option(callback), fc.option(priority)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('did', 'state', 'prio'), hook) },
);
const body = fc.array(fc.array(operation, { maxLength: 4 }), { maxLength: 3 });
const program: fc.Arbitrary<HookProgram> = fc.record({
  body: fc.record({ a: body, b: body, c: body, d: body }),
  top: fc
    .tuple(fc.array(add, { minLength: 3, maxLength: 10 }), fc.array(operation, { maxLength: 12 }))
    .map(([additions, rest]): Operation[] => [
      ...additions,
      ...rest,
      ['apply', 'h', 'v'],
      ['apply', 'h', 'v', 'x1'],
      ['do', 'act', 'v', 'x1'],
      ['state', 'h'],
    ]),
});
const expected = (each: HookProgram): unknown[] => runProgramSync(each, createModel({ removedNeverRuns: true }));

describe('hooks under random programs', () => {
  it('do what the model does', () => {
    fc.assert(
      fc.property(program, (each) => {
        expect(runProgramSync(each, synchronousEngine())).to.deep.equal(expected(each));
      }),
      { numRuns: synchronousPrograms },
    );
  }).timeout(120_000);

  it('do what the model does when every run is asynchronous', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (each) => {
        expect(await runProgram(each, asynchronousEngine())).to.deep.equal(expected(each));
      }),
      { numRuns: asynchronousPrograms },
    );
  }).timeout(60_000);
});
