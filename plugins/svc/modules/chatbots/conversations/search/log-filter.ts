/** Which conversations; what is left out may be anything. */
export interface LogFilter {
  readonly botId?: number | undefined;
  /** Of one of these users; 0: guests. */
  readonly userIds?: ReadonlySet<number> | undefined;
  /** Part of a message, without regard to case and accents. White space at its ends does not count. */
  readonly text?: string | undefined;
  /** Seconds since the epoch of the last message, both ends included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly feedback?: 'up' | 'down' | 'any' | undefined;
  /** Of guests alone, or of users alone. */
  readonly guest?: boolean | undefined;
  /** Only these conversations. */
  readonly ids?: ReadonlySet<number> | undefined;
}

/** Which of those that match, newest first. */
export interface LogPage {
  readonly offset: number;
  readonly limit: number;
}
