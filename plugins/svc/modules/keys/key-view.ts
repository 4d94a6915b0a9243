import { localDay } from '../../kit/local-day.ts';
import type { NamedKey } from './named-key.ts';

/** The last day on which a key works, `YYYY-MM-DD` in the site's time zone; '' if it never expires. */
export function dayOfExpiry({ expiresAt }: Pick<NamedKey, 'expiresAt'>, timezone: string): string {
  return expiresAt === null ? '' : localDay(timezone)(expiresAt - 1);
}
