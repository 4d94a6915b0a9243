import { BroadcastChannel, threadId } from 'node:worker_threads';
import type { RowReducer } from '#plugin-api';

/** The thread, the number of rows, and the bytes of their first column. */
export function sumLengths({ factor }: { readonly factor: number }): RowReducer {
  let [rows, bytes] = [0, 0];
  return {
    add([value]) {
      rows += 1;
      bytes += (value as Uint8Array).byteLength * factor;
    },
    end: () => [threadId, rows, bytes],
  };
}

/** Announces its first row on a channel, and never ends. */
export function hang({ channel }: { readonly channel: string }): RowReducer {
  return {
    add() {
      new BroadcastChannel(channel).postMessage('begun');
      for (;;);
    },
    end: () => [],
  };
}

export function refuse(): RowReducer {
  return {
    add() {
      throw new Error('This row is not wanted.');
    },
    end: () => [],
  };
}
