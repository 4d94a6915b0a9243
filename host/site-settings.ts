import { RestError, isUrl } from '#plugin-api';
import type { HooksApi, OptionsApi } from '#plugin-api';

export interface SiteSettingsDependencies {
  readonly options: Pick<OptionsApi, 'registerSetting'>;
  readonly hooks: Pick<HooksApi, 'addFilter'>;
}

/** Origins whose scripts may read REST answers. */
export const allowedOriginsOption = 'rest_allowed_origins';

/** How often one address may call the REST interface in a minute without signing in. */
export const requestLimitOption = 'rest_requests_per_minute';

/** The settings of the site itself: what the page Settings and `/wp/v2/settings` show. */
export function registerSiteSettings({ options, hooks }: SiteSettingsDependencies): void {
  options.registerSetting('blogname', {
    group: 'general',
    label: 'Site name',
    showInRest: 'title',
    schema: { type: 'string', maxLength: 200, default: 'My site' },
  });
  options.registerSetting('blogdescription', {
    group: 'general',
    label: 'Tagline',
    showInRest: 'description',
    schema: { type: 'string', maxLength: 500, default: '', description: 'In a few words, what the site is about.' },
  });
  options.registerSetting('timezone_string', {
    group: 'general',
    label: 'Time zone',
    showInRest: 'timezone',
    schema: {
      type: 'string',
      maxLength: 64,
      default: '',
      description: 'Name of a city in the same time zone, such as Europe/Berlin. Empty: UTC.',
    },
  });
  options.registerSetting(allowedOriginsOption, {
    group: 'rest',
    label: 'Allowed origins',
    schema: {
      type: 'array',
      items: { type: 'string', maxLength: 300 },
      maxItems: 200,
      default: [],
      description:
        'Other sites whose scripts may call the REST interface, such as https://shop.example.com. One a line.',
    },
  });
  options.registerSetting(requestLimitOption, {
    group: 'rest',
    label: 'Requests per minute',
    schema: {
      type: 'integer',
      minimum: 0,
      maximum: 100_000,
      default: 0,
      // Behind a proxy that TRUST_PROXY does not name all callers have one address: nobody should be refused by default.
      description:
        'Of one address without signing in, counted on each node; more are answered 429. 0: no limit. Behind a proxy, set TRUST_PROXY first, or all callers count as one.',
    },
  });
  hooks.addFilter('sanitize_option_timezone_string', (value: unknown) =>
    typeof value === 'string' ? checkTimezone(value.trim()) : value,
  );
  hooks.addFilter(`sanitize_option_${allowedOriginsOption}`, (value: unknown) =>
    Array.isArray(value) ? [...new Set(value.map(checkOrigin))] : value,
  );
}

function checkTimezone(name: string): string {
  if (name === '' || isTimezone(name)) return name;
  throw invalid(
    'timezone_string',
    `There is no time zone '${name}'. Enter a name such as Europe/Berlin, or nothing for UTC.`,
  );
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** @returns the origin as browsers send it: lower case, without a slash at its end. */
function checkOrigin(given: unknown): string {
  const text = String(given).trim();
  const url = /^https?:\/\//i.test(text) && isUrl(text) ? new URL(text) : null;
  if (
    url !== null &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    !url.hostname.includes('*')
  )
    return url.origin;
  throw invalid(
    allowedOriginsOption,
    `'${text}' is no origin. Write scheme and host, and the port if there is one, such as https://shop.example.com:8443.`,
  );
}

function invalid(name: string, sentence: string): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${name}`,
    status: 400,
    data: {
      params: { [name]: sentence },
      details: { [name]: { code: 'rest_invalid_param', message: sentence, data: null } },
    },
  });
}
