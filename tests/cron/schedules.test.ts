import { expect } from 'chai';
import { expressionError, nextMatch } from '../../host/cron/schedules.ts';

const next = (expression: string, after: string): string | null => {
  const time = nextMatch(expression, Date.parse(after));
  return time === null ? null : new Date(time).toISOString();
};

describe('the next match of a cron expression', () => {
  it('lies strictly after the time given', () => {
    expect(next('*/5 * * * *', '2026-01-01T00:00:00Z')).to.equal('2026-01-01T00:05:00.000Z');
    expect(next('*/5 * * * *', '2026-01-01T00:04:59.999Z')).to.equal('2026-01-01T00:05:00.000Z');
    expect(next('0 0 * * *', '2025-12-31T23:59:59Z')).to.equal('2026-01-01T00:00:00.000Z');
  });

  it('knows seconds, weekdays, months and leap years', () => {
    expect(next('15 30 4 * * *', '2026-01-01T04:30:15Z')).to.equal('2026-01-02T04:30:15.000Z');
    expect(next('0 9 * * mon', '2026-11-20T10:00:00Z')).to.equal('2026-11-23T09:00:00.000Z');
    expect(next('0 0 1 jul *', '2026-11-20T10:00:00Z')).to.equal('2027-07-01T00:00:00.000Z');
    expect(next('0 0 29 2 *', '2026-11-20T10:00:00Z')).to.equal('2028-02-29T00:00:00.000Z');
  });

  it('is refused for what is no expression, in a sentence', () => {
    expect(expressionError('*/5 * * * *')).to.equal(null);
    expect(expressionError('61 * * * *')).to.include("'61 * * * *' is not a cron expression");
    expect(expressionError('0 0 30 2 *')).to.include('impossible day');
    expect(expressionError('soon')).to.include('is not a cron expression');
  });
});
