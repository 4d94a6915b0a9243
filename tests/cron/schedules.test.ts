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

  it('is on a day of the month or a weekday where both are given, as in crontab', () => {
    const days = (expression: string, count: number): string[] => {
      const found: string[] = [];
      for (let time: string | null = '2026-11-01T00:00:00Z'; found.length < count && time !== null;) {
        time = next(expression, time);
        found.push(String(time).slice(0, 10));
      }
      return found;
    };
    expect(days('30 4 1,15 * 5', 6)).to.deep.equal(['01', '06', '13', '15', '20', '27'].map((day) => `2026-11-${day}`));
    expect(days('0 30 4 13 nov fri', 4)).to.deep.equal(['06', '13', '20', '27'].map((day) => `2026-11-${day}`));
    expect(days('30 4 */2 * 5', 2), 'a field with * restricts the other').to.deep.equal(['2026-11-13', '2026-11-27']);
    expect(days('30 4 30 2 mon', 1)).to.deep.equal(['2027-02-01']);
  });

  it('follows the clock on the wall of its time zone, which skips times and repeats others', () => {
    const runs = (fields: string, after: string, count = 3): string[] => {
      const found: string[] = [];
      for (let time: string | null = after; found.length < count && time !== null;) {
        time = next(`CRON_TZ=Europe/Berlin ${fields}`, time);
        found.push(String(time).slice(5, 16));
      }
      return found;
    };
    expect(runs('0 9 * * *', '2026-03-27T12:00:00Z')).to.deep.equal(['03-28T08:00', '03-29T07:00', '03-30T07:00']);
    expect(runs('30 2 * * *', '2026-03-27T12:00:00Z')).to.deep.equal(['03-28T01:30', '03-29T01:00', '03-30T00:30']);
    expect(runs('30 2 * * *', '2026-10-24T12:00:00Z')).to.deep.equal(['10-25T00:30', '10-26T01:30', '10-27T01:30']);
    expect(runs('*/20 * * * *', '2026-03-29T00:30:00Z')).to.deep.equal(['03-29T00:40', '03-29T01:00', '03-29T01:20']);
    expect(runs('0 0 1 * *', '2026-11-15T00:00:00Z', 2)).to.deep.equal(['11-30T23:00', '12-31T23:00']);
    expect(expressionError('CRON_TZ=Europe/Berlin 0 9 * * *')).to.equal(null);
    expect(expressionError('CRON_TZ=Mars/Base 0 9 * * *')).to.include("'Mars/Base' is not a time zone");
    expect(expressionError('CRON_TZ=Europe/Berlin soon')).to.include('is not a cron expression');
  });

  it('is refused for what is no expression, in a sentence', () => {
    expect(expressionError('*/5 * * * *')).to.equal(null);
    expect(expressionError('61 * * * *')).to.include("'61 * * * *' is not a cron expression");
    expect(expressionError('0 0 30 2 *')).to.include('impossible day');
    expect(expressionError('soon')).to.include('is not a cron expression');
  });
});
