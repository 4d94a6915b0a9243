/** One figure of a benchmark. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  /** For example `ns`, `ratio`, `requests/s`, `MB`. */
  readonly unit: string;
  /** What it is held to; without one it is only shown. */
  readonly target?: { readonly at: 'least' | 'most'; readonly value: number };
  /** One line shown below the table. */
  readonly note?: string;
}

/** What every `*.bench.ts` exports. */
export interface Bench {
  readonly title: string;
  run(options: { readonly short: boolean }): Promise<BenchRow[]>;
}
