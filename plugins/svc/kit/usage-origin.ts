/** Where a call came from, for the usage ledger. */
export interface UsageOrigin {
  /** `rest`, or the id of the module that made the call. */
  readonly module: string;
  /** For example `/generate`; null outside REST. */
  readonly route: string | null;
  readonly botId: number | null;
  /** What the call was for, at most 100 characters, for example `automation:5:230`. Costs are summed by reference. */
  readonly reference?: string | null;
}
