/** Events of a stream: pushed by callbacks, read by one response. */
export interface EventQueue<Item> {
  push(item: Item): void;
  /** Ends the events after those that wait. */
  end(): void;
  /** Calls back at the first item. */
  onFirst(listener: () => void): void;
  /** All events from the beginning, for one reader. */
  events(): AsyncGenerator<Item, void, undefined>;
}

export function createEventQueue<Item>(): EventQueue<Item> {
  const waiting: Item[] = [];
  let hasEnded = false;
  let wake: () => void = () => undefined;
  let first: (() => void) | undefined;
  return {
    push(item) {
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
    async *events() {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (hasEnded) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}
