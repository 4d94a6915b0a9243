import { expect } from 'chai';
import { localHour, findPeriod } from '../../../../plugins/svc/kit/visitors/period.ts';

const iso = ({ startsAt, endsAt }: { startsAt: number; endsAt: number }): string[] =>
  [startsAt, endsAt].map((time) => new Date(time).toISOString().slice(0, 16));
const at = (text: string): number => Date.parse(text);

describe('periods of limits', () => {
  it('are days, weeks from Monday and months in the time zone of the site', () => {
    const now = at('2026-11-20T23:30:00Z');
    expect(iso(findPeriod('day', now, 'UTC'))).to.deep.equal(['2026-11-20T00:00', '2026-11-21T00:00']);
    expect(iso(findPeriod('day', now, 'Europe/Berlin'))).to.deep.equal(['2026-11-20T23:00', '2026-11-21T23:00']);
    expect(iso(findPeriod('day', now, 'Pacific/Kiritimati'))).to.deep.equal(['2026-11-20T10:00', '2026-11-21T10:00']);
    expect(iso(findPeriod('week', now, 'America/New_York'))).to.deep.equal(['2026-11-16T05:00', '2026-11-23T05:00']);
    expect(iso(findPeriod('month', now, 'Asia/Kolkata'))).to.deep.equal(['2026-10-31T18:30', '2026-11-30T18:30']);
    expect(iso(findPeriod('month', at('2026-12-31T23:59:59Z'), 'UTC'))).to.deep.equal([
      '2026-12-01T00:00',
      '2027-01-01T00:00',
    ]);
  });

  it('follow clock changes', () => {
    expect(iso(findPeriod('day', at('2026-03-29T12:00:00Z'), 'Europe/Berlin'))).to.deep.equal([
      '2026-03-28T23:00',
      '2026-03-29T22:00',
    ]);
    expect(iso(findPeriod('week', at('2026-10-25T12:00:00Z'), 'Europe/Berlin'))).to.deep.equal([
      '2026-10-18T22:00',
      '2026-10-25T23:00',
    ]);
    // In Santiago the clocks skip midnight: that day begins at one.
    expect(iso(findPeriod('day', at('2026-09-06T12:00:00Z'), 'America/Santiago'))).to.deep.equal([
      '2026-09-06T04:00',
      '2026-09-07T03:00',
    ]);
  });

  it('follow each other without a gap or an overlap, and contain the given time', () => {
    for (const zone of [
      'UTC',
      'Europe/Berlin',
      'America/Santiago',
      'Australia/Lord_Howe',
      'Africa/Cairo',
      'nowhere/at all',
    ]) {
      for (const per of ['day', 'week', 'month'] as const) {
        let now = at('2026-01-01T00:00:00Z');
        for (let count = 0; count < 60; count += 1) {
          const { startsAt, endsAt } = findPeriod(per, now, zone);
          expect(startsAt, `${zone} ${per}`).to.be.at.most(now);
          expect(endsAt, `${zone} ${per}`).to.be.above(now);
          expect(findPeriod(per, endsAt - 1, zone)).to.deep.equal({ startsAt, endsAt });
          expect(findPeriod(per, endsAt, zone).startsAt).to.equal(endsAt);
          now = endsAt;
        }
      }
    }
  });

  it('have an hour and a weekday', () => {
    expect(localHour(at('2026-11-22T23:30:00Z'), 'UTC')).to.deep.equal({ hour: 23, weekday: 7 });
    expect(localHour(at('2026-11-22T23:30:00Z'), 'Europe/Berlin')).to.deep.equal({ hour: 0, weekday: 1 });
  });
});
