import type { ItemInput } from '../queue/item.ts';

/** An entry of a source, as it would be queued. */
export interface Candidate {
  /** The same at every run, of no other entry of the task. */
  readonly identity: string;
  /** Topic, address, row's first cell or post id (contract 6.5). */
  readonly target: string;
  readonly input: ItemInput;
  /** Where the entry is a post: which, and when it was last changed, in milliseconds since the epoch. */
  readonly post?: { readonly id: number; readonly modified: number };
}
