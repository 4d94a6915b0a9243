import { expect } from 'chai';
import { localIso, momentOf, utcIso } from '#plugin-api';

describe('dates of posts', () => {
  it('go from the clock of the site to moments and back, through summer and winter', () => {
    const rows: [text: string, zone: string, utc: string][] = [
      ['2026-01-15T12:00:00', 'Europe/Berlin', '2026-01-15T11:00:00'],
      ['2026-07-15T12:00:00', 'Europe/Berlin', '2026-07-15T10:00:00'],
      ['2026-07-15T00:30:00', 'America/St_Johns', '2026-07-15T03:00:00'],
      ['2026-01-15T12:00:00', 'Asia/Kathmandu', '2026-01-15T06:15:00'],
      ['2026-01-15T12:00:00', 'Nowhere/AtAll', '2026-01-15T12:00:00'],
    ];
    for (const [text, zone, utc] of rows) {
      const moment = momentOf(text, zone);
      expect(moment === null ? null : utcIso(moment), text + zone).to.equal(utc);
      expect(localIso(moment ?? 0, zone), text + zone).to.equal(text);
    }
  });

  it('go on through an hour that is skipped, and take the first of two hours that have one name', () => {
    const rows: [text: string, zone: string, utc: string][] = [
      ['2026-03-29T02:30:00', 'Europe/Berlin', '2026-03-29T01:30:00'],
      ['2026-10-25T02:00:00', 'Europe/Berlin', '2026-10-25T00:00:00'],
      ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00'],
      ['2026-10-25T03:00:00', 'Europe/Berlin', '2026-10-25T02:00:00'],
      ['2026-11-01T01:30:00', 'America/New_York', '2026-11-01T05:30:00'],
      ['2026-04-05T02:30:00', 'Australia/Sydney', '2026-04-04T15:30:00'],
    ];
    for (const [text, zone, utc] of rows) expect(utcIso(momentOf(text, zone) ?? 0), text + zone).to.equal(utc);
  });

  it('take offsets, days alone and minutes, and nothing that is no date', () => {
    expect(utcIso(momentOf('2026-01-15T12:00:00+02:00', 'Asia/Tokyo') ?? 0)).to.equal('2026-01-15T10:00:00');
    expect(utcIso(momentOf('2026-01-15T12:00:00-0330', 'UTC') ?? 0)).to.equal('2026-01-15T15:30:00');
    expect(utcIso(momentOf('2026-01-15T12:00:00+02', 'UTC') ?? 0)).to.equal('2026-01-15T10:00:00');
    expect(utcIso(momentOf('2026-01-15 12:30', 'UTC') ?? 0)).to.equal('2026-01-15T12:30:00');
    expect(utcIso(momentOf('2026-01-15', 'UTC') ?? 0)).to.equal('2026-01-15T00:00:00');
    for (const text of ['', 'soon', '2026-13-01', '2026-01-15T25:00', '15.1.2026', '2026-01-15T12:00:00 Berlin'])
      expect(momentOf(text, 'UTC'), text).to.equal(null);
  });
});
