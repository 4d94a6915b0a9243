/** Events of a stream: pushed by callbacks, read by one response. */
export interface EventQueue<Item> {
  /** Ignored after the end. */
  push(item: Item): void;
  /** Ends the events after those that wait. */
  end(): void;
  /** Calls back at the first item. */
  onFirst(listener: () => void): void;
  /** All events from the beginning, for one reader. */
  events(): AsyncIterable<Item>;
}

export function createEventQueue<Item>(): EventQueue<Item> {
  const waiting: Item[] = [];
  let hasEnded = false;
  /** Resolves what the reader waits for. */
  let deliver: ((step: IteratorResult<Item>) => void) | undefined;
  let first: (() => void) | undefined;
  const nextStep = (): IteratorResult<Item> | undefined => {
    const value = waiting.shift();
    if (value !== undefined) return { done: false, value };
    return hasEnded ? { done: true, value: undefined } : undefined;
  };
  const wake = (): void => {
    const step = deliver === undefined ? undefined : nextStep();
    if (step === undefined) return;
    deliver?.(step);
    deliver = undefined;
  };
  return {
    push(item) {
      if (hasEnded) return;
      waiting.push(item);
      first?.();
      first = undefined;
      wake();
    },
    end() {
      hasEnded = true;
      wake();
    },
    onFirst(listener) {
      first = listener;
    },
    events: () => ({
      [Symbol.asyncIterator]: () => ({
        next() {
          const step = nextStep();
          if (step !== undefined) return Promise.resolve(step);
          return new Promise((resolve) => {
            deliver = resolve;
          });
        },
        return() {
          hasEnded = true;
          waiting.length = 0;
          wake();
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    }),
  };
}
