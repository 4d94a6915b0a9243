const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `23 hours`, `5 minutes`: as much as a person wants to know, rounded up. @param milliseconds above 0 */
export function timeLeft(milliseconds: number): string {
  const [unit, name] =
    milliseconds >= 2 * day ? [day, 'day'] : milliseconds >= 2 * hour ? [hour, 'hour'] : [minute, 'minute'];
  const count = Math.max(1, Math.ceil(milliseconds / unit));
  return `${String(count)} ${name}${count === 1 ? '' : 's'}`;
}
