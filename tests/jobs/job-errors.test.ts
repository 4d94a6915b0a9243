import { expect } from 'chai';
import type { Logger } from '#plugin-api';
import { logJobFailure } from '../../host/jobs/job-errors.ts';

describe('the end of a job in the log', () => {
  const levelOf = (error: unknown): unknown => {
    const lines: unknown[] = [];
    const write = (level: string) => (_text: string, fields?: object) =>
      void lines.push([level, (fields as { event: string }).event]);
    logJobFailure({ warn: write('warn'), error: write('error') } as unknown as Logger, error, { job: 1 });
    return lines[0];
  };

  it('is a warning if the job refused what it was given, and an error otherwise', () => {
    const refusal = Object.assign(new Error('The file is empty.'), { retryable: false });
    expect(levelOf(refusal)).to.deep.equal(['warn', 'job_refused']);
    expect(levelOf(Object.assign(new Error('Not found'), { status: 404 }))).to.deep.equal(['warn', 'job_refused']);
    expect(levelOf(new Error('Unexpected'))).to.deep.equal(['error', 'job_failed']);
    expect(levelOf(Object.assign(new Error('Busy'), { status: 503 }))).to.deep.equal(['error', 'job_failed']);
    expect(levelOf(undefined), 'a process that ended').to.deep.equal(['error', 'job_failed']);
  });
});
