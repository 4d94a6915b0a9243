import type { HostApi } from '#plugin-api';
import type { AiParams } from '../kit/ai-params.ts';
import type { ImageParams } from '../kit/image-params.ts';
import type { ProviderSettings } from '../providers/provider.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import type { Failover } from '../modules/failover/failover.ts';
import type { PriceTable } from '../modules/usage/prices/price.ts';
import type { SpendFuse } from '../modules/budgets/guard/fuse.ts';
import type { UsageLedger } from './usage-record.ts';

/** The settings a call needs. Changes made on any node count from the next call on. */
export interface AiSettings {
  /** Saved settings of a provider, secrets in plain text; empty when nothing was saved. */
  provider(id: string): Promise<ProviderSettings>;
  /** Global AI parameters, used where a call names none. */
  aiParams(): Promise<AiParams>;
  /** Milliseconds a whole call may take, further tries included. */
  timeouts(): Promise<{ readonly text: number; readonly embeddings: number; readonly images: number }>;
  /** Taken where a request for images names none. */
  imageDefaults(): Promise<ImageParams>;
  /** For estimates before a call. Default: no prices. */
  readonly prices?: { table(): Promise<PriceTable> };
  /** Who answers in place of a provider that fails. Default: nobody. */
  readonly failover?: { get(): Promise<Failover> };
}

/** What calls to providers are made with. */
export interface AiServices {
  readonly registry: ProviderRegistry;
  readonly settings: AiSettings;
  readonly host: Pick<HostApi, 'clock' | 'log' | 'site'> & { readonly hooks?: HostApi['hooks'] };
  /** Default: undici's, one pool of kept connections per process. */
  readonly fetch?: typeof globalThis.fetch;
  /** 0 up to 1, for the jitter of waits. Default Math.random. */
  readonly random?: () => number;
  /** Takes note of every call. Default: nothing does. */
  readonly ledger?: UsageLedger;
  /** The budgets in front of every call. Default: nothing holds calls back. */
  readonly fuse?: SpendFuse;
}
