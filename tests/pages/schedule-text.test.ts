import { expect } from 'chai';
import { scheduleText } from '../../host/pages/schedule-text.ts';

describe('cron expressions in words', () => {
  const words = {
    '* * * * *': 'Every minute',
    '*/5 * * * *': 'Every 5 minutes',
    '17 * * * *': 'Once an hour',
    '0 */6 * * *': 'Every 6 hours',
    '30 4 * * *': 'Every day at 04:30 UTC',
    '0 9 * * 1-5': 'Monday to Friday at 09:00 UTC',
    '0 9 * * 1,4': 'On Monday and Thursday at 09:00 UTC',
    'CRON_TZ=Europe/Berlin 30 4 * * *': 'Every day at 04:30 Europe/Berlin',
    'CRON_TZ=Europe/Berlin */5 * * * *': 'Every 5 minutes',
    '0 0 1 * *': 'On day 1 of each month at 00:00 UTC',
  };
  for (const [expression, text] of Object.entries(words))
    it(`${expression} is: ${text}`, () => expect(scheduleText(expression)).to.equal(text));

  it('stay as they are if they say more', () => {
    for (const rare of ['*/7 * * * *', '0 0 1 1 *', '5 4 1 * 1', '1,2 * * * *', '0 1-3 * * *', '10 0 0 * * *'])
      expect(scheduleText(rare)).to.equal(rare);
  });
});
