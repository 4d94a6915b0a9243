export interface ClockJumpsInit {
  /** Milliseconds since the epoch, by the clock that may jump. */
  readonly wall: () => number;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
}

/** Milliseconds by which clocks are corrected all the time. */
const correction = 2_000;

/** Returns how far the wall clock has jumped since the last call, in milliseconds: forward, or back if negative; 0: not at all. */
export function createClockJumps({ wall, elapsed }: ClockJumpsInit): () => number {
  let offset = wall() - elapsed();
  return () => {
    const jump = wall() - elapsed() - offset;
    offset += jump;
    return Math.abs(jump) > correction ? jump : 0;
  };
}
