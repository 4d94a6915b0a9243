/** Where a call came from, for the ledger. */
export interface UsageOrigin {
  /** `rest`, or the id of the module that made the call. */
  readonly module: string;
  /** For example `/generate`; null outside REST. */
  readonly route: string | null;
  readonly botId: number | null;
  /** What the call was made for, at most 100 characters, for example `automation:5:230`: the costs of one piece of work are those of its reference. */
  readonly reference?: string | null;
}

/** One call to a provider, as the usage ledger keeps it. No prompts, no keys, no answers. */
export interface UsageRecord extends UsageOrigin {
  readonly kind: 'text' | 'image' | 'embedding';
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  /** 0 where none were counted. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Images received; 0 for text and embeddings. */
  readonly images: number;
  /** Milliseconds from the first try to the end of the last. */
  readonly duration: number;
  /** `ok`, or the code of the error the caller got. */
  readonly outcome: string;
}

/** Takes note of finished calls, failed ones too. Never throws and never makes the caller wait; the cost is worked out from the price table. */
export interface UsageLedger {
  record(usage: UsageRecord): void;
}
