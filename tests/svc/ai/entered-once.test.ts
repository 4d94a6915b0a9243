import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

interface Counts {
  readonly once: {
    readonly entries: Record<string, number>;
    readonly reserved: readonly string[];
    readonly attempts: readonly string[];
  };
  readonly twice: Record<string, number>;
}

describe('generate-text.ts', () => {
  let counts: Counts;

  before(async () => {
    const script = fileURLToPath(new URL('./count-entries.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script], {
      env: { ...process.env, NODE_V8_COVERAGE: '' },
    });
    counts = JSON.parse(stdout) as Counts;
  });

  it('is entered once, however often a call is retried, fails over or falls back', () => {
    const { entries, reserved, attempts } = counts.once;
    expect(Object.values(entries)).to.deep.equal([1]);
    expect(reserved).to.deep.equal(['first/a', 'second/expensive', 'second/cheap']);
    expect(attempts).to.deep.equal(['first', 'first', 'first', 'second']);
  });

  it('would be caught if it were entered again', () => {
    expect(Object.values(counts.twice)).to.deep.equal([2]);
  });
});
