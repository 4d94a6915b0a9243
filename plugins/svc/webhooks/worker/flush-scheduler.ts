import type { Clock } from '#plugin-api';

/** Milliseconds that results are gathered before they are written: large batches cost the database half as much per result. */
const flushDelay = { quiet: 4, busy: 25 } as const;
/** In-flight attempts from which on more results are sure to follow. */
const busy = 32;
/** Results that are written without further waiting. */
export const fullBatch = 256;

/** Decides when results are written and jobs are claimed. Several requests lead to one flush. */
export class FlushScheduler {
  private readonly clock: Pick<Clock, 'after'>;
  private readonly flush: () => void;
  private requested: 'no' | 'soon' | 'now' = 'no';

  constructor({ clock, flush }: { readonly clock: Pick<Clock, 'after'>; readonly flush: () => void }) {
    this.clock = clock;
    this.flush = flush;
  }

  now(): void {
    if (this.requested === 'now') return;
    this.requested = 'now';
    setImmediate(this.flush);
  }

  /** @param inFlight attempts whose results may join the batch. */
  soon(inFlight: number): void {
    if (this.requested !== 'no') return;
    this.requested = 'soon';
    this.clock.after(inFlight < busy ? flushDelay.quiet : flushDelay.busy, () => {
      if (this.requested === 'soon') this.flush();
    });
  }

  /** Call when a flush begins. */
  begun(): void {
    this.requested = 'no';
  }
}

/** Runs the work once per tick of the event loop, at its end, however often the returned function is called. */
export function oncePerTick(work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      work();
    });
  };
}
