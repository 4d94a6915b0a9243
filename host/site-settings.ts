import { RestError, isUrl } from '#plugin-api';
import type { HooksApi, OptionsApi } from '#plugin-api';
import { localePattern } from './users/profile.ts';
import { roleNames } from './users/roles.ts';
import { twoFactorRolesOption } from './users/two-factor/two-factor.ts';

export interface SiteSettingsDependencies {
  readonly options: Pick<OptionsApi, 'registerSetting'>;
  readonly hooks: Pick<HooksApi, 'addFilter'>;
}

/** Origins whose scripts may read REST responses. */
export const allowedOriginsOption = 'rest_allowed_origins';

/** Anonymous REST requests per minute and address. */
export const requestLimitOption = 'rest_requests_per_minute';

/** Locale of the site, under WordPress's name. */
export const languageOption = 'WPLANG';

/** How people who cannot sign in reach an administrator. */
export const contactOption = 'account_contact';

/** The settings of the site itself: shown on the Settings page and in `/wp/v2/settings`. */
export function registerSiteSettings(dependencies: SiteSettingsDependencies): void {
  registerGeneralSettings(dependencies);
  registerTwoFactorRoles(dependencies.options);
  registerProgramRoles(dependencies.options);
  registerRestSettings(dependencies);
}

function registerGeneralSettings({ options, hooks }: SiteSettingsDependencies): void {
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
    schema: {
      type: 'string',
      maxLength: 500,
      default: '',
      description: 'In a few words, explain what this site is about.',
    },
  });
  options.registerSetting('timezone_string', {
    group: 'general',
    label: 'Time zone',
    showInRest: 'timezone',
    schema: {
      type: 'string',
      maxLength: 64,
      default: '',
      description: 'An IANA time zone name, such as Europe/Berlin. Leave empty for UTC.',
    },
  });
  options.registerSetting(languageOption, {
    group: 'general',
    label: 'Language',
    showInRest: 'language',
    schema: {
      type: 'string',
      maxLength: 20,
      pattern: localePattern,
      default: '',
      description: 'Of the admin, mails and public pages. Users can choose another one for themselves.',
    },
  });
  options.registerSetting(contactOption, {
    group: 'general',
    label: 'Contact for lost passwords',
    schema: {
      type: 'string',
      maxLength: 200,
      default: '',
      description:
        'Shown to people who forgot their password while the site cannot send mail, such as an email address. ' +
        'Leave empty to show none.',
    },
  });
  hooks.addFilter('sanitize_option_timezone_string', (value: unknown) =>
    typeof value === 'string' ? checkTimezone(value.trim()) : value,
  );
}

function registerRestSettings({ options, hooks }: SiteSettingsDependencies): void {
  options.registerSetting(allowedOriginsOption, {
    group: 'rest',
    label: 'Allowed origins',
    schema: {
      type: 'array',
      items: { type: 'string', maxLength: 300 },
      maxItems: 200,
      default: [],
      description:
        'Websites whose scripts may call the REST interface, such as https://shop.example.com. One per line.',
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
      // Off by default: behind a proxy that TRUST_PROXY does not list, all callers share one address.
      description:
        'Limit per IP address for anonymous requests (per node). Extra requests get 429. Set to 0 for no limit. ' +
        'Behind a proxy, set TRUST_PROXY first; otherwise all callers count as one.',
    },
  });
  hooks.addFilter(`sanitize_option_${allowedOriginsOption}`, (value: unknown) =>
    Array.isArray(value) ? [...new Set(value.map(checkOrigin))] : value,
  );
}

function registerTwoFactorRoles(options: Pick<OptionsApi, 'registerSetting'>): void {
  options.registerSetting(twoFactorRolesOption, {
    group: 'security',
    label: 'Require two-step sign-in',
    schema: {
      type: 'array',
      items: {
        type: 'string',
        enum: roleNames,
        oneOf: roleNames.map((role) => ({ const: role, title: role.charAt(0).toUpperCase() + role.slice(1) })),
      },
      maxItems: 20,
      default: [],
      description:
        'Users with these roles set up an authenticator app or a passkey at their next sign-in, before anything else. ' +
        'Application passwords keep working.',
    },
  });
}

/** Whether application passwords may assign roles over REST. */
export const programRolesOption = 'application_passwords_assign_roles';

function registerProgramRoles(options: Pick<OptionsApi, 'registerSetting'>): void {
  options.registerSetting(programRolesOption, {
    group: 'security',
    label: 'Application passwords may assign roles',
    schema: {
      type: 'boolean',
      default: false,
      description:
        'Lets programs of administrators create users with a role above subscriber and change roles over REST. Leave off ' +
        'unless a program needs it: a leaked application password could then add an administrator.',
    },
  });
}

function checkTimezone(name: string): string {
  if (name === '' || isTimezone(name)) return name;
  throw invalid(
    'timezone_string',
    `Unknown time zone '${name}'. Enter a name such as Europe/Berlin, or leave it empty for UTC.`,
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

/** @returns the origin as browsers send it: lower case, without a trailing slash. */
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
    `'${text}' is not an origin. Enter scheme and host, with a port if needed, such as https://shop.example.com:8443.`,
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
