/** What one question about a site came to. */
export interface Finding {
  readonly id:
    'address' | 'reached' | 'redirect' | 'html' | 'bot' | 'origin' | 'cors' | 'script' | 'mixed' | 'snippet' | 'csp';
  readonly title: string;
  readonly verdict: 'passed' | 'warning' | 'failed';
  /** What was found and, unless it passed, what to do about it. */
  readonly text: string;
  /** A line to copy that mends it. */
  readonly copy?: { readonly label: string; readonly value: string };
}

export interface SiteReport {
  /** The address that was asked for. */
  readonly url: string;
  /** Where the page was found in the end. */
  readonly landed: string;
  /** Nothing failed. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}
