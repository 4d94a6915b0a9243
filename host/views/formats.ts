type Moment = number | string | Date;

const styles = {
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  dateTime: { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * @param moment milliseconds since the epoch, ISO text or a Date; anything else gives an empty text.
 * @param timeZone IANA name; an unknown one counts as UTC.
 */
export function formatMoment(moment: unknown, style: keyof typeof styles, timeZone: string): string {
  if (typeof moment !== 'number' && typeof moment !== 'string' && !(moment instanceof Date)) return '';
  const date = new Date(moment satisfies Moment);
  return Number.isNaN(date.getTime()) ? '' : formatter(style, timeZone).format(date);
}

function formatter(style: keyof typeof styles, timeZone: string): Intl.DateTimeFormat {
  const key = `${style} ${timeZone}`;
  let made = formatters.get(key);
  if (!made) {
    try {
      made = new Intl.DateTimeFormat('en-GB', { ...styles[style], timeZone });
    } catch {
      made = new Intl.DateTimeFormat('en-GB', { ...styles[style], timeZone: 'UTC' });
    }
    formatters.set(key, made);
  }
  return made;
}

/** Made by its first use: it costs some 30 ms, which start should not pay. */
let numbers: Intl.NumberFormat | undefined;

/** `12345.5` -> `12,345.5`; what is no number comes out as the text it is. */
export function formatNumber(value: unknown): string {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)))
    ? (numbers ??= new Intl.NumberFormat('en-GB', { maximumFractionDigits: 3 })).format(Number(value))
    : String(value ?? '');
}

/** @param milliseconds 0 or more: `340 ms`, `2.4 s`, `3 min`, `5 h`, `2 d`. */
export function formatDuration(milliseconds: unknown): string {
  const value = Number(milliseconds);
  if (!Number.isFinite(value)) return '';
  if (value < 1_000) return `${String(Math.round(value))} ms`;
  if (value < 60_000) return `${String(Math.round(value / 100) / 10)} s`;
  if (value < 3_600_000) return `${String(Math.round(value / 60_000))} min`;
  return value < 48 * 3_600_000 ? `${String(Math.round(value / 3_600_000))} h` : `${String(Math.round(value / 86_400_000))} d`;
}
