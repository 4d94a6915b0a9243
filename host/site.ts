import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Migration, OptionsApi, SiteApi } from '#plugin-api';
import type { Config } from './start/config.ts';

/** Version of the host; plugins name ranges of it in their manifests. */
export const hostVersion = '1.0.0';

/** Option with the address that the site last ran at, for commands, which may lack its environment. */
const addressOption = 'siteurl';
/** Option with the id of the site. */
const siteIdOption = 'site_id';

/** Makes the id once, for new sites and those of earlier versions. */
export const migrations: readonly Migration[] = [
  {
    id: '0031_site_id',
    async up(knex) {
      const row = { name: siteIdOption, value: JSON.stringify(randomUUID()), autoload: true };
      await knex('options').insert(row).onConflict('name').ignore();
    },
  },
];

export interface Site extends SiteApi {
  /** Absolute URL of the REST root, with a trailing slash. */
  restRoot(): string;
  /** The option `blogdescription`. */
  description(): Promise<string>;
  /** Sets the URL once the port is known, and stores it for commands. `SITE_URL` takes precedence. */
  setAddress(url: string): Promise<void>;
  /** Uses the address that the site last ran at, whatever the environment of this process says. */
  useStoredAddress(): Promise<void>;
}

export function createSite({
  config,
  options,
}: {
  readonly config: Config;
  readonly options: Pick<OptionsApi, 'get' | 'computed' | 'add' | 'update'>;
}): Site {
  let address = config.siteUrl ?? `http://${config.host}:${config.port}`;
  const textOr =
    (fallback: string) =>
    (value: unknown): string =>
      typeof value === 'string' && value !== '' ? value : fallback;
  const text = async (name: string, fallback: string): Promise<string> => textOr(fallback)(await options.get(name));
  return {
    get url() {
      return address;
    },
    role: config.role,
    version: hostVersion,
    dataDir: config.dataDir === ':memory:' ? null : resolve(config.dataDir),
    async id() {
      const id = await text(siteIdOption, '');
      if (id !== '') return id;
      // Deleted by hand: of several nodes, all use the first new one.
      await options.add(siteIdOption, randomUUID());
      return text(siteIdOption, '');
    },
    name: () => text('blogname', 'My site'),
    description: () => text('blogdescription', ''),
    timezone: options.computed(['timezone_string'], textOr('UTC')),
    restRoot: () => `${address}/${config.restPrefix}/`,
    async setAddress(url) {
      if (config.siteUrl === null) address = url;
      // The address of a worker without SITE_URL is not that of the site.
      if (config.siteUrl !== null || config.role !== 'worker') await options.update(addressOption, address);
    },
    async useStoredAddress() {
      address = await text(addressOption, address);
    },
  };
}
