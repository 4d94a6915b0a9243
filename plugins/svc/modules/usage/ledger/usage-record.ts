import type { CallKind } from '../../../ai/ports.ts';
import type { TokenDetails } from '../../../kit/token-details.ts';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';

/** One call to a provider, as the usage ledger stores it: without prompts, keys and responses. */
export interface UsageRecord extends UsageOrigin {
  readonly kind: CallKind;
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  /** 0 if none were counted. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Which of these tokens are billed at prices of their own (D32). */
  readonly tokenDetails?: TokenDetails | undefined;
  /** Images received; 0 for text and embeddings. */
  readonly images: number;
  /** Length of the videos received, for the price only. Default 0. */
  readonly seconds?: number;
  /** Of the images, for the price only: as requested, if the model supports it. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** Milliseconds from the first attempt to the end of the last. */
  readonly duration: number;
  /** `ok`, or the code of the error the caller got. */
  readonly outcome: string;
}

/** What a call costs now: `cost` in whole millionths of a US dollar, 0 in sandbox mode, null without a known price. */
export interface CallPrice {
  readonly cost: number | null;
  readonly sandbox: boolean;
}
