/** A seeded source of choices: the same seed makes the same requests. */
export interface Random {
  /** 0 to `end` - 1. */
  below(end: number): number;
  pick<T>(list: readonly T[]): T;
  /** True once in `times` calls on average. */
  once(times: number): boolean;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (end: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
  return {
    below,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
    once: (times) => below(times) === 0,
  };
}
