import { currentLocale, translateText } from '#plugin-api';

const step = /^\*\/(\d{1,2})$/;
const number = /^\d{1,2}$/;

/** A cron expression in the words of the page's language, such as `Every 5 minutes`. Rare kinds stay as they are. */
export function scheduleText(expression: string): string {
  const [, timeZone, fields = ''] = /^CRON_TZ=(\S+) (.*)$/s.exec(expression) ?? [];
  if (timeZone !== undefined) return inWords(fields).replace(/ UTC$/, ` ${timeZone}`);
  return inWords(expression);
}

function inWords(expression: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = expression.trim().split(/\s+/);
  if (more.length > 0 || month !== '*') return expression;
  const isEveryDay = day === '*' && weekday === '*';
  if (isEveryDay && hour === '*') return minutesText(minute) ?? expression;
  const hours = Number(step.exec(hour)?.[1]);
  if (isEveryDay && number.test(minute) && hours > 1 && 24 % hours === 0)
    return translateText(`Every ${String(hours)} hours`);
  if (!number.test(minute) || !number.test(hour)) return expression;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (isEveryDay) return translateText(`Every day at ${time} UTC`);
  if (weekday === '*' && number.test(day)) return translateText(`On day ${day} of each month at ${time} UTC`);
  if (day !== '*') return expression;
  if (weekday === '1-5') return translateText(`Monday to Friday at ${time} UTC`);
  if (!/^[0-7](,[0-7])*$/.test(weekday)) return expression;
  return translateText(`On ${weekdays(weekday.split(',').map(Number))} at ${time} UTC`);
}

function minutesText(minute: string): string | null {
  const minutes = Number(step.exec(minute)?.[1]);
  if (minute === '*' || minutes === 1) return translateText('Every minute');
  if (minutes > 1 && 60 % minutes === 0) return translateText(`Every ${String(minutes)} minutes`);
  return number.test(minute) ? translateText('Once an hour') : null;
}

/** Names of days, 0 and 7 for Sunday. */
function weekdays(days: readonly number[]): string {
  const name = new Intl.DateTimeFormat(currentLocale(), { weekday: 'long', timeZone: 'UTC' });
  // The first of January 2023 was a Sunday.
  const names = days.map((day) => name.format(Date.UTC(2023, 0, 1 + day)));
  return new Intl.ListFormat(currentLocale(), { type: 'conjunction' }).format(names);
}
