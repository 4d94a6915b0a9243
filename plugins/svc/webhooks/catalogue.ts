import type { EventDefinition } from '../kit/define-event.ts';

/** One event as pages, `GET {base}/events` and OpenAPI show it. */
export interface CatalogueEntry {
  readonly name: string;
  /** Title of the module, for example `Chatbots` (contract 6.2). */
  readonly module: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: Readonly<Record<string, unknown>>;
  /** Whether it waits in the queue by default (D17). */
  readonly queued: boolean;
}

export interface Catalogue {
  /** In the order of contract 6.2, then those of plugins. */
  list(): readonly CatalogueEntry[];
  find(name: string): EventDefinition | undefined;
  /** Name as stored in a subscription (D26), or null when there is no such event. */
  normalise(name: string): string | null;
  /** Sentences about what is wrong with the data; empty when they are right. */
  faults(name: string, data: unknown): readonly string[];
}
