/** One finding in the shape of WordPress's Site Health. Description and actions are HTML. */
export interface SiteHealthResult {
  readonly label: string;
  readonly status: 'good' | 'recommended' | 'critical';
  readonly badge: { readonly label: string; readonly color: string };
  readonly description: string;
  readonly actions: string;
  /** Name of the test. */
  readonly test: string;
}

/** What a test may look at. */
export interface SiteHealthRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface SiteHealthTest {
  readonly label: string;
  readonly test: (request: SiteHealthRequest) => SiteHealthResult | Promise<SiteHealthResult>;
}

/** A section of the information about the site. */
export interface DebugSection {
  readonly label: string;
  readonly fields: Readonly<Record<string, { readonly label: string; readonly value: string | number | boolean }>>;
}
