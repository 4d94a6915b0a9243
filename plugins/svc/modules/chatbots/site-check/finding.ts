/** The result of one check of a site. */
export interface Finding {
  readonly id:
    'address' | 'reached' | 'redirect' | 'html' | 'bot' | 'origin' | 'cors' | 'script' | 'mixed' | 'snippet' | 'csp';
  readonly title: string;
  readonly verdict: 'passed' | 'warning' | 'failed';
  /** What was found. If the check did not pass, also how to fix it. */
  readonly text: string;
  /** A line to copy that fixes the problem. */
  readonly copy?: { readonly label: string; readonly value: string };
}

export interface SiteReport {
  /** The requested URL. */
  readonly url: string;
  /** The URL of the page after redirects. */
  readonly landed: string;
  /** No check failed. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** Creates findings of one check. */
export const createFinding =
  (id: Finding['id'], title: string) =>
  (verdict: Finding['verdict'], text: string): Finding => ({ id, title, verdict, text });
