export interface AllocationLimit {
  isExceeded(): boolean;
  restore(): void;
}

/**
 * Makes the constructor `Uint8Array` of this thread refuse larger arrays, for parsers that offer no limit: what they inflate is outside
 * the heap, where the thread's limit of memory does not count it. Also hides `DecompressionStream`, which inflates elsewhere; parsers
 * then use their own code.
 *
 * @param most bytes of one array
 */
export function limitAllocations(most: number): AllocationLimit {
  const { Uint8Array: original, DecompressionStream: decompression } = globalThis;
  let isExceeded = false;
  globalThis.Uint8Array = new Proxy(original, {
    construct(target, given: readonly unknown[], created) {
      if (typeof given[0] === 'number' && given[0] > most) {
        isExceeded = true;
        throw new RangeError(`An array of ${String(given[0])} bytes exceeds the limit of ${String(most)}.`);
      }
      return Reflect.construct(target, given, created) as Uint8Array;
    },
  });
  Reflect.set(globalThis, 'DecompressionStream', undefined);
  return {
    isExceeded: () => isExceeded,
    restore() {
      globalThis.Uint8Array = original;
      Reflect.set(globalThis, 'DecompressionStream', decompression);
    },
  };
}
