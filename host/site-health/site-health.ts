import { escapeHtml } from '#plugin-api';
import type {
  Clock,
  DebugSection,
  HealthResult,
  HooksApi,
  Logger,
  SiteHealthRequest,
  SiteHealthResult,
  SiteHealthTest,
} from '#plugin-api';

declare module '#plugin-api' {
  interface FilterMap {
    /** Tests of Site Health by name. Plugins add their own, or remove those of the host. */
    site_status_tests: (tests: Readonly<Record<string, SiteHealthTest>>) => Readonly<Record<string, SiteHealthTest>>;
    /** The result of each test. */
    site_status_test_result: (result: SiteHealthResult) => SiteHealthResult;
    /** Information about the site for administrators, by section. Add no secrets: people send it to others. */
    debug_information: (sections: Readonly<Record<string, DebugSection>>) => Readonly<Record<string, DebugSection>>;
  }
}

export interface SiteHealth {
  /** One test of the host by name; null if there is none. */
  run(name: string, request: SiteHealthRequest): Promise<SiteHealthResult | null>;
  /** All tests, the worst results first. A test that throws or takes longer than ten seconds is critical. */
  runAll(request: SiteHealthRequest): Promise<SiteHealthResult[]>;
  information(): Promise<Readonly<Record<string, DebugSection>>>;
}

export interface SiteHealthDependencies {
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'after'>;
  readonly tests: Readonly<Record<string, SiteHealthTest>>;
  /** Findings of the running plugins, by slug. */
  readonly pluginHealth: () => Promise<readonly { readonly slug: string; readonly results: readonly HealthResult[] }[]>;
  readonly sections: () => Promise<Readonly<Record<string, DebugSection>>>;
}

/** Milliseconds that one test may take. */
const timeLimit = 10_000;
const rank = { critical: 0, recommended: 1, good: 2 } as const;

export function createSiteHealth({
  hooks,
  log,
  clock,
  tests,
  pluginHealth,
  sections,
}: SiteHealthDependencies): SiteHealth {
  const check = async (name: string, test: SiteHealthTest, request: SiteHealthRequest): Promise<SiteHealthResult> => {
    let stopTimer = (): void => undefined;
    try {
      const late = new Promise<never>((_resolve, reject) => {
        stopTimer = clock.after(timeLimit, () => reject(new Error('It took longer than ten seconds.')));
      });
      const result = await Promise.race([Promise.resolve(test.test(request)), late]);
      return await hooks.applyFiltersAsync('site_status_test_result', result);
    } catch (error) {
      log.error('Site Health test failed', { event: 'site_health_test_failed', test: name, error });
      return failed(name, test.label);
    } finally {
      stopTimer();
    }
  };
  return {
    async run(name, request) {
      const test = tests[name];
      return test === undefined ? null : check(name, test, request);
    },
    async runAll(request) {
      const all = await hooks.applyFiltersAsync('site_status_tests', tests);
      const results = await Promise.all(Object.entries(all).map(([name, test]) => check(name, test, request)));
      const found = (await pluginHealth()).flatMap(({ slug, results: own }) => own.map((each) => ofPlugin(slug, each)));
      return [...results, ...found].sort((a, b) => rank[a.status] - rank[b.status]);
    },
    information: async () => hooks.applyFiltersAsync('debug_information', await sections()),
  };
}

function failed(name: string, label: string): SiteHealthResult {
  return {
    label,
    status: 'critical',
    badge: { label: 'Error', color: 'red' },
    description: '<p>This test did not finish. The log has the reason.</p>',
    actions: '',
    test: name,
  };
}

function ofPlugin(slug: string, { label, status, description }: HealthResult): SiteHealthResult {
  return {
    label,
    status,
    badge: { label: slug, color: 'gray' },
    description: `<p>${escapeHtml(description)}</p>`,
    actions: '',
    test: `plugin_${slug}`,
  };
}
