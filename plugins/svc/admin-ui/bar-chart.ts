/** One bar of a chart. */
export interface ChartDay {
  /** `YYYY-MM-DD`, or whatever `label` knows how to write. */
  readonly day: string;
  readonly value: number;
  /** The part of `value` at the bar's end that failed. */
  readonly failed: number;
}

export interface Chart {
  readonly width: number;
  readonly height: number;
  /** Lines across, with what they stand for. */
  readonly lines: readonly { readonly y: number; readonly text: string }[];
  readonly bars: readonly ChartBar[];
  /** Some of the days or hours, below the bars. */
  readonly labels: readonly {
    readonly x: number;
    readonly anchor: 'start' | 'middle' | 'end';
    readonly text: string;
  }[];
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
}

interface ChartBar {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
  /** The failed part, at the top; height 0 where there is none. */
  readonly failedHeight: number;
  /** The whole column, for the pointer. */
  readonly slotX: number;
  readonly slotWidth: number;
  readonly title: string;
}

const frame = { height: 220, left: 58, right: 6, top: 12, bottom: 28 } as const;

export interface ChartInit {
  /** In the picture's own units; letters are 13 units high. */
  readonly width: number;
  readonly days: readonly ChartDay[];
  /** What a line stands for. */
  readonly format: (value: number) => string;
  /** What a bar says of itself. */
  readonly title: (day: ChartDay) => string;
  /** Whether there is nothing between 1 and 2. */
  readonly whole: boolean;
  /** What stands below a bar. Default: the day, as `21 Nov`. */
  readonly label?: (day: string) => string;
}

/** Places of bars, lines and labels in a picture 220 units high. */
export function drawChart({ width, days, format, title, whole, label = shortDay }: ChartInit): Chart {
  const { height, left, right, top, bottom } = frame;
  const step = niceStep(Math.max(...days.map(({ value }) => value), whole ? 1 : 0) / 4, whole);
  const highest = step * 4;
  const base = height - bottom;
  const scale = (value: number): number => round(((base - top) * value) / highest);
  const slot = (width - left - right) / Math.max(1, days.length);
  const bar = Math.min(36, Math.max(0.6, slot * 0.72));
  return {
    width,
    height,
    left,
    right: width - right,
    bottom: base,
    lines: [0, 1, 2, 3, 4].map((count) => ({ y: round(base - scale(count * step)), text: format(count * step) })),
    bars: days.map((day, index) => {
      const slotX = left + slot * index;
      const tall = day.value === 0 ? 0 : Math.max(1, scale(day.value));
      return {
        x: round(slotX + (slot - bar) / 2),
        width: round(bar),
        y: round(base - tall),
        height: tall,
        failedHeight: day.failed === 0 || day.value === 0 ? 0 : round(Math.max(1, (tall * day.failed) / day.value)),
        slotX: round(slotX),
        slotWidth: round(slot),
        title: title(day),
      };
    }),
    labels: labelled(days, width < 500 ? 2 : 4).map((index) => ({
      x: round(left + slot * (index + 0.5)),
      anchor:
        days.length > 6 && index === 0 ? 'start' : days.length > 6 && index === days.length - 1 ? 'end' : 'middle',
      text: label(days[index]?.day ?? ''),
    })),
  };
}

/** The first day, the last, and some between, evenly. */
function labelled(days: readonly ChartDay[], spaces: number): number[] {
  const last = days.length - 1;
  const most = Math.min(spaces, last);
  if (last <= 0) return last === 0 ? [0] : [];
  return [...new Set(Array.from({ length: most + 1 }, (_, place) => Math.round((last * place) / most)))];
}

/** 1, 2 or 5 times a power of ten, not below what is asked. */
function niceStep(least: number, whole: boolean): number {
  if (least <= 0) return whole ? 1 : 0.25;
  const power = 10 ** Math.floor(Math.log10(least));
  const step =
    [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least * 0.999999) ?? power * 10;
  return whole ? Math.max(1, Math.ceil(step)) : step;
}

function shortDay(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ''}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
