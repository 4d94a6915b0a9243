import { localDay } from '#plugin-api';
import type { HostApi } from '#plugin-api';
import type { NamedKey } from './named-key.ts';

/** The last day on which a key works, `YYYY-MM-DD` in the site's time zone; '' if it never expires. */
export function dayOfExpiry({ expiresAt }: Pick<NamedKey, 'expiresAt'>, timezone: string): string {
  return expiresAt === null ? '' : localDay(expiresAt - 1, timezone);
}

/** A key as the values of its fields. */
export async function valuesOf(key: NamedKey, { site }: Pick<HostApi, 'site'>): Promise<Record<string, unknown>> {
  return {
    name: key.name,
    ...key.scopes,
    requests_per_minute: key.requestsPerMinute,
    lenient: key.isLenient,
    expires: dayOfExpiry(key, await site.timezone()),
  };
}
