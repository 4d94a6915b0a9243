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

/** What a call costs at this moment: `cost` in whole millionths of a US dollar, 0 where the sandbox answers, null where no price is known. */
export interface CallPrice {
  readonly cost: number | null;
  readonly sandbox: boolean;
}

/** Takes note of finished calls, failed ones too. Never throws and never makes the caller wait. */
export interface UsageLedger {
  /** @param price what `price` said of the call. Default: it is asked now. */
  record(usage: UsageRecord, price?: CallPrice): void;
  /** Stored before it resolves, where the database takes it; what was reserved for the call is given back with it. @param call id of the reservation. */
  settle(usage: UsageRecord, price: CallPrice, call: string): Promise<void>;
  /** By the price table of this moment. Never rejects: what cannot be found out has no price. */
  price(usage: Pick<UsageRecord, 'provider' | 'model' | 'inputTokens' | 'outputTokens' | 'images'>): Promise<CallPrice>;
}
