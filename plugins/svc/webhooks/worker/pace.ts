import type { Clock } from '#plugin-api';

/** Milliseconds that outcomes wait for company before they are written: many at once cost the database half of what few do. */
const gather = { quiet: 4, busy: 25 } as const;
/** Attempts under way from which on company is sure to come. */
const busy = 32;
/** Outcomes that wait for no more company. */
export const fullBatch = 256;

/** When turns are taken. A turn that is asked for several times is taken once. */
export class Pace {
  private readonly clock: Pick<Clock, 'after'>;
  private readonly turn: () => void;
  private asked: 'no' | 'soon' | 'now' = 'no';

  constructor({ clock, turn }: { readonly clock: Pick<Clock, 'after'>; readonly turn: () => void }) {
    this.clock = clock;
    this.turn = turn;
  }

  now(): void {
    if (this.asked === 'now') return;
    this.asked = 'now';
    setImmediate(this.turn);
  }

  /** @param underWay attempts whose outcomes may come along. */
  soon(underWay: number): void {
    if (this.asked !== 'no') return;
    this.asked = 'soon';
    this.clock.after(underWay < busy ? gather.quiet : gather.busy, () => {
      if (this.asked === 'soon') this.turn();
    });
  }

  /** Whoever begins a turn says so. */
  begun(): void {
    this.asked = 'no';
  }
}

/** The work, once for however many times it is asked for in one turn of the event loop, and not before that is over. */
export function together(work: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      work();
    });
  };
}
