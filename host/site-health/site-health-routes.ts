import type { HooksApi, JsonSchema, RestApi } from '#plugin-api';
import type { SiteHealth } from './site-health.ts';
import { maySeeSiteHealth } from './site-tests.ts';

const readOnly = true;

const schema: JsonSchema = {
  title: 'wp-site-health-test',
  type: 'object',
  properties: {
    test: { type: 'string', description: 'The name of the test being run.', readOnly },
    label: { type: 'string', description: 'A label describing the test.', readOnly },
    status: {
      type: 'string',
      description: 'The status of the test.',
      enum: ['good', 'recommended', 'critical'],
      readOnly,
    },
    badge: {
      type: 'object',
      description: 'The category this test is grouped in.',
      properties: {
        label: { type: 'string', readOnly },
        color: { type: 'string', enum: ['blue', 'orange', 'red', 'green', 'purple', 'gray'], readOnly },
      },
      readOnly,
    },
    description: {
      type: 'string',
      description: 'A more descriptive explanation of what the test looks for, and why it is important for the user.',
      readOnly,
    },
    actions: {
      type: 'string',
      description: 'HTML containing an action to direct the user to where they can resolve the issue.',
      readOnly,
    },
  },
};

const names = [
  'background-updates',
  'loopback-requests',
  'https-status',
  'dotorg-communication',
  'authorization-header',
] as const;

export interface SiteHealthRoutesDependencies {
  readonly siteHealth: SiteHealth;
  readonly hooks: Pick<HooksApi, 'addFilter'>;
  readonly directorySizes: () => Promise<Readonly<Record<string, unknown>>>;
}

/** `wp-site-health/v1` for administrators, under WordPress's names and in its shapes. */
export function addSiteHealthRoutes(rest: RestApi, given: SiteHealthRoutesDependencies): void {
  const { siteHealth, hooks, directorySizes } = given;
  hooks.addFilter('map_meta_cap', (required, capability) =>
    capability === 'view_site_health_checks' ? ['manage_options'] : required,
  );
  const add = (name: string, hasSchema: boolean): void =>
    void rest.registerRoute('wp-site-health/v1', `/tests/${name}`, {
      ...(hasSchema && { schema }),
      summary: `Runs the Site Health test ${name}.`,
      permission: ({ user }) => maySeeSiteHealth(user),
      handler: ({ headers }) => siteHealth.run(name.replaceAll('-', '_'), { headers }),
    });
  for (const name of names) add(name, true);
  rest.registerRoute('wp-site-health/v1', '/directory-sizes', {
    summary: 'Returns the sizes of the folders and of the database.',
    permission: ({ user }) => maySeeSiteHealth(user),
    handler: directorySizes,
  });
  add('page-cache', false);
}
