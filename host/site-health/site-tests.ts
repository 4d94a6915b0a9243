import { escapeHtml } from '#plugin-api';
import type { UndeclaredProxy } from '../http/undeclared-proxy.ts';
import type { Clock, SiteHealthRequest, SiteHealthResult, SiteHealthTest, User } from '#plugin-api';

export interface SiteTestsDependencies {
  /** URL of the site without a trailing slash. */
  readonly siteUrl: () => string;
  /** Whether administrators may install and update plugins. */
  readonly mayChangeFiles: () => boolean;
  readonly ping: () => Promise<void>;
  readonly undeclaredProxy: () => Promise<UndeclaredProxy | null>;
  readonly clock: Pick<Clock, 'now'>;
  /** Default: the `fetch` of the process, which reaches the own address. */
  readonly fetch?: typeof fetch;
}

const badges = {
  security: { label: 'Security', color: 'blue' },
  performance: { label: 'Performance', color: 'blue' },
} as const;

type Finding = Pick<SiteHealthResult, 'label' | 'status' | 'description'> & { readonly actions?: string };

function define(
  test: string,
  badge: SiteHealthResult['badge'],
  find: (request: SiteHealthRequest) => Finding | Promise<Finding>,
): SiteHealthTest['test'] {
  return async (request) => ({ actions: '', badge, test, ...(await find(request)) });
}

/** Response headers by which a cache or a browser keeps a page. */
const cacheHeaders = ['cache-control', 'expires', 'age', 'last-modified', 'etag', 'x-cache', 'via'];
/** Milliseconds for requests to the own address. */
const limit = 5_000;
/** Milliseconds in which a page should be sent. */
const fast = 600;

/** The tests of WordPress that mean something for this host, under their names, and one of the database. */
export function siteTests(given: SiteTestsDependencies): Record<string, SiteHealthTest> {
  return {
    background_updates: { label: 'Updates', test: define('background_updates', badges.security, () => updates(given)) },
    loopback_requests: {
      label: 'Requests to the site itself',
      test: define('loopback_requests', badges.performance, () => loopback(given)),
    },
    https_status: { label: 'HTTPS', test: define('https_status', badges.security, () => https(given)) },
    dotorg_communication: {
      label: 'Update servers',
      test: define('dotorg_communication', badges.security, () => ({
        label: 'This site needs no update server',
        status: 'good',
        description: '<p>The host contacts no server for updates. Plugins are installed from files.</p>',
      })),
    },
    authorization_header: {
      label: 'Authorization header',
      test: define('authorization_header', badges.security, ({ headers }) => authorization(headers['authorization'])),
    },
    page_cache: { label: 'Page cache', test: define('page_cache', badges.performance, () => pageCache(given)) },
    proxy: { label: 'Proxy', test: define('proxy', badges.security, () => proxy(given)) },
    database: { label: 'Database', test: define('database', badges.performance, () => database(given)) },
  };
}

function updates({ mayChangeFiles }: SiteTestsDependencies): Finding {
  return mayChangeFiles()
    ? {
        label: 'Administrators can install and update plugins',
        status: 'good',
        description: '<p>An update starts with a backup. If it fails, the previous version and its data return.</p>',
      }
    : {
        label: 'Plugins are updated with the deployment only',
        status: 'good',
        description: '<p><code>DISALLOW_FILE_MODS</code> keeps everyone from changing the code of this site.</p>',
      };
}

function https({ siteUrl }: SiteTestsDependencies): Finding {
  const { protocol, hostname } = new URL(siteUrl());
  if (protocol === 'https:')
    return {
      label: 'Your website uses an active HTTPS connection',
      status: 'good',
      description: '<p>Passwords and keys are encrypted on their way.</p>',
    };
  const isLocal = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  return {
    label: 'Your website does not use HTTPS',
    status: isLocal ? 'recommended' : 'critical',
    description: '<p>Others on the network can read passwords and keys.</p>',
    actions:
      '<p>Put a proxy with a certificate in front of the site, and set <code>SITE_URL</code> to its https address.</p>',
  };
}

async function loopback({ siteUrl, fetch: get = fetch }: SiteTestsDependencies): Promise<Finding> {
  try {
    const response = await get(`${siteUrl()}/healthz`, { signal: AbortSignal.timeout(limit) });
    await response.body?.cancel();
    if (response.ok)
      return {
        label: 'Your site can perform loopback requests',
        status: 'good',
        description: '<p>The site reaches itself at its address.</p>',
      };
  } catch {
    // Reported below.
  }
  return {
    label: 'Your site could not complete a loopback request',
    status: 'recommended',
    description: '<p>The site does not reach itself at its address. Webhooks and plugins that call it fail.</p>',
    actions: '<p>Check <code>SITE_URL</code>, the name resolution of the server, and the proxy.</p>',
  };
}

async function proxy({ undeclaredProxy }: SiteTestsDependencies): Promise<Finding> {
  const found = await undeclaredProxy();
  if (found === null)
    return {
      label: 'Visitors are seen with their own addresses',
      status: 'good',
      description: '<p>No request came through a proxy that the site does not know.</p>',
    };
  return {
    label: 'Requests come through a proxy that the site does not know',
    status: 'critical',
    description:
      `<p>The proxy <code>${escapeHtml(found.address)}</code> adds <code>${escapeHtml(found.header)}</code>. ` +
      'All visitors share its address, and with it the limits of each.</p>',
    actions: '<p>Set <code>TRUST_PROXY</code> to the number of proxies in front, or to their addresses.</p>',
  };
}

function authorization(header: string | undefined): Finding {
  if (header === undefined)
    return {
      label: 'The authorization header is missing',
      status: 'recommended',
      description:
        '<p>Other programs send their password in this header. Your browser does not, so this is normal here.</p>',
      actions: '<p>If programs cannot sign in, check that the proxy passes the header on.</p>',
    };
  return /^(Basic|Bearer) \S+$/i.test(header)
    ? {
        label: 'The Authorization header is working as expected',
        status: 'good',
        description: '<p>Other programs can sign in.</p>',
      }
    : {
        label: 'The authorization header is invalid',
        status: 'recommended',
        description: '<p>The header arrives changed.</p>',
        actions: '<p>Check the configuration of the proxy.</p>',
      };
}

async function pageCache({ siteUrl, clock, fetch: get = fetch }: SiteTestsDependencies): Promise<Finding> {
  const times: number[] = [];
  const found = new Set<string>();
  try {
    for (let round = 0; round < 3; round += 1) {
      const start = clock.now();
      const response = await get(`${siteUrl()}/`, { signal: AbortSignal.timeout(limit), redirect: 'manual' });
      await response.arrayBuffer();
      times.push(clock.now() - start);
      for (const name of cacheHeaders) if (response.headers.has(name)) found.add(name);
    }
  } catch {
    return {
      label: 'The home page could not be measured',
      status: 'recommended',
      description: '<p>The site does not reach itself at its address.</p>',
    };
  }
  const median = times.sort((a, b) => a - b)[1] ?? 0;
  const isFast = median <= fast;
  const names = [...found].map((name) => `<code>${name}</code>`).join(', ');
  return {
    label: isFast ? 'The home page is sent quickly' : 'The home page is slow',
    status: isFast ? 'good' : 'recommended',
    description:
      `<p>The median of three requests was ${median} milliseconds; up to ${fast} is good.</p>` +
      `<p>${names === '' ? 'There are no headers for caches.' : `Headers for caches: ${names}.`}</p>`,
  };
}

async function database({ ping }: SiteTestsDependencies): Promise<Finding> {
  await ping();
  return { label: 'The database responds', status: 'good', description: '<p>It answered within three seconds.</p>' };
}

/** Whether the user may see Site Health. */
export function maySeeSiteHealth(user: Pick<User, 'can'>): boolean {
  return user.can('view_site_health_checks');
}
