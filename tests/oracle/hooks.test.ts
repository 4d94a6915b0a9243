import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { asynchronousEngine, synchronousEngine } from '../hooks/engines.ts';
import { createModel } from '../hooks/model.ts';
import { runProgram, runProgramSync } from '../hooks/program.ts';
import type { RecordedProgram } from '../hooks/program.ts';

/**
 * 500 random programs over hooks with what a real WordPress made of them (its bug 64653 corrected).
 *
 * The project departs from it by one rule: a callback that is removed while its own priority runs is not called any
 * more; WordPress still calls it once. So the traces are first matched by a plain model in WordPress's way, which
 * shows that the model is right, and the hooks are then held to that model with the one rule changed.
 */
describe('hooks against recorded WordPress', () => {
  const programs = gunzipSync(readFileSync(new URL('./hooks.jsonl.gz', import.meta.url)))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedProgram);
  const byRule = (program: RecordedProgram): unknown[] =>
    runProgramSync(program, createModel({ removedNeverRuns: true }));
  const departs = (program: RecordedProgram): boolean =>
    JSON.stringify(byRule(program)) !== JSON.stringify(program.trace);

  it('holds all 500 recorded programs', () => {
    expect(programs).to.have.length(500);
  });

  it('has a model that gives every recorded trace in the way of WordPress', () => {
    for (const program of programs) {
      expect(runProgramSync(program, createModel({ removedNeverRuns: false })), `program ${program.id}`).to.deep.equal(
        program.trace,
      );
    }
  });

  it('gives every recorded trace in which no callback is removed while its own priority runs', () => {
    const same = programs.filter((program) => !departs(program));
    expect(same).to.have.length(491);
    for (const program of same)
      expect(runProgramSync(program, synchronousEngine()), `program ${program.id}`).to.deep.equal(program.trace);
  });

  it('gives the other nine as the model does with the rule that a removed callback never runs', () => {
    const others = programs.filter(departs);
    expect(others).to.have.length(9);
    for (const program of others)
      expect(runProgramSync(program, synchronousEngine()), `program ${program.id}`).to.deep.equal(byRule(program));
  });

  it('gives the same traces when every run is asynchronous', async () => {
    for (const program of programs) {
      expect(await runProgram(program, asynchronousEngine()), `program ${program.id}`).to.deep.equal(
        departs(program) ? byRule(program) : program.trace,
      );
    }
  });
});
