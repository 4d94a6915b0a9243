import { formatDate } from './format.ts';

/** One bar of a chart. */
export interface ChartDay {
  /** `YYYY-MM-DD`, or any text that `label` can format. */
  readonly day: string;
  readonly value: number;
  /** The failed part of `value`, at the end of the bar. */
  readonly failed: number;
}

/** Positions in an image, in its units. */
export interface Chart {
  readonly width: number;
  readonly height: number;
  /** Horizontal lines with their labels. */
  readonly lines: readonly { readonly y: number; readonly text: string }[];
  readonly bars: readonly ChartBar[];
  /** Labels of some days or hours, below the bars. */
  readonly labels: readonly { readonly x: number; readonly text: string }[];
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
}

interface ChartBar {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
  /** Height of the failed part, at the top; 0 if nothing failed. */
  readonly failedHeight: number;
  /** The whole column, for hovering. */
  readonly slotX: number;
  readonly slotWidth: number;
  readonly title: string;
}

const frame = { height: 220, left: 58, right: 6, top: 12, bottom: 28 } as const;
/** Width of a letter, and what is between a label and the lines. */
const [letter, gap] = [7.5, 10];

export interface ChartInit {
  /** In units of the image; text is 13 units high. */
  readonly width: number;
  readonly days: readonly ChartDay[];
  /** Label of a line. */
  readonly format: (value: number) => string;
  /** Tooltip of a bar. */
  readonly title: (day: ChartDay) => string;
  /** Whether values are whole numbers. */
  readonly whole: boolean;
  /** The highest line of a chart without any value. Default 1. */
  readonly unit?: number;
  /** Label below a bar. Default: the day, as `21 Nov`. */
  readonly label?: (day: string) => string;
}

/** A chart for the partial `admin/chart`, one for each width of its card. The page links `admin/chart.css`. */
export function drawCharts(init: Omit<ChartInit, 'width'>): readonly (Chart & { readonly name: string })[] {
  return [
    { name: 'full', ...drawChart({ ...init, width: 1200 }) },
    { name: 'wide', ...drawChart({ ...init, width: 900 }) },
    { name: 'medium', ...drawChart({ ...init, width: 620 }) },
    { name: 'narrow', ...drawChart({ ...init, width: 340 }) },
  ];
}

/** Positions of bars, lines and labels in an image 220 units high. */
export function drawChart({ width, days, format, title, whole, unit = 1, label = shortDay }: ChartInit): Chart {
  const { height, top, bottom } = frame;
  const most = Math.max(0, ...days.map(({ value }) => value));
  const step = niceStep((most === 0 ? unit : most) / 4, whole);
  const highest = step * 4;
  const base = height - bottom;
  const values = [0, 1, 2, 3, 4].map((count) => ({ value: count * step, text: format(count * step) }));
  const left = Math.max(frame.left, Math.ceil(Math.max(...values.map(({ text }) => text.length)) * letter + gap));
  const scale = (value: number): number => round(((base - top) * value) / highest);
  const count = Math.max(1, days.length);
  // Room for the last label, which is centered below its bar as the others are.
  const ending = (label(days.at(-1)?.day ?? '').length * letter) / 2 - (width - left - frame.right) / count / 2;
  const right = Math.max(frame.right, Math.ceil(ending));
  const slot = (width - left - right) / count;
  const bar = Math.min(36, slot, Math.max(0.6, slot * 0.72));
  return {
    width,
    height,
    left,
    right: width - right,
    bottom: base,
    lines: values.map(({ value, text }) => ({ y: round(base - scale(value)), text })),
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
    labels: labeledIndexes(days, width < 500 ? 2 : 4).map((index) => ({
      x: round(left + slot * (index + 0.5)),
      text: label(days[index]?.day ?? ''),
    })),
  };
}

/** Indexes of the last day and of others before it, all as far from each other. */
function labeledIndexes(days: readonly ChartDay[], spaces: number): number[] {
  const last = days.length - 1;
  const step = Math.max(1, Math.ceil(last / spaces));
  return days.map((_, index) => index).filter((index) => (last - index) % step === 0);
}

/** The smallest 1, 2, 2.5 or 5 times a power of ten that is not below `least`. */
function niceStep(least: number, whole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const step =
    [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least * 0.999999) ?? power * 10;
  return whole ? Math.max(1, Math.ceil(step)) : step;
}

function shortDay(day: string): string {
  return formatDate(day, 'shortDay', 'UTC');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
