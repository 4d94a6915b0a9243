import type { OptionsApi, SiteApi } from '#plugin-api';
import type { Config } from './config.ts';

/** Version of the host; plugins name ranges of it in their manifests. */
export const hostVersion = '1.0.0';

export interface Site extends SiteApi {
  /** Absolute URL of the REST root, with a trailing slash. */
  restRoot(): string;
  /** The option `blogdescription`. */
  description(): Promise<string>;
  /** Sets the URL once the port is known. `SITE_URL` takes precedence. */
  setAddress(url: string): void;
}

export function createSite({
  config,
  options,
}: {
  readonly config: Config;
  readonly options: Pick<OptionsApi, 'get'>;
}): Site {
  let address = config.siteUrl ?? `http://${config.host}:${config.port}`;
  const text = async (name: string, fallback: string): Promise<string> => {
    const value = await options.get<unknown>(name);
    return typeof value === 'string' && value !== '' ? value : fallback;
  };
  return {
    get url() {
      return address;
    },
    role: config.role,
    version: hostVersion,
    name: () => text('blogname', 'My site'),
    description: () => text('blogdescription', ''),
    timezone: () => text('timezone_string', 'UTC'),
    restRoot: () => `${address}/${config.restPrefix}/`,
    setAddress(url) {
      if (config.siteUrl === null) address = url;
    },
  };
}
