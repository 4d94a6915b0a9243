import type { CallKind, CallUse } from '../../../ai/ports.ts';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';

/** One call to a provider, as the usage ledger stores it: without prompts, keys and responses. */
export interface UsageRecord extends UsageOrigin, CallUse {
  readonly kind: CallKind;
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  /** Milliseconds from the first attempt to the end of the last. */
  readonly duration: number;
  /** `ok`, or the code of the error the caller got. */
  readonly outcome: string;
}

/** What a call costs now: `cost` in millionths of a US dollar with decimals, 0 in sandbox mode, null without a known price. */
export interface CallPrice {
  readonly cost: number | null;
  readonly sandbox: boolean;
}
