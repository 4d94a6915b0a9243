import type { HostApi } from '#plugin-api';
import { clientNetwork } from '../../../kit/visitors/address.ts';
import { createLimitCounters, type CountedLimit, type LimitCounters } from '../../../kit/visitors/limit-counters.ts';
import { periodOf } from '../../../kit/visitors/period.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import '../hooks.ts';
import { imageTables } from '../image-tables.ts';
import type { Visitor } from './visitor.ts';
import type { VisitorSettings } from './visitor-settings.ts';

export interface VisitorLimits {
  readonly counters: LimitCounters;
  /** The limit of a visitor in the day that runs; null: there is none. */
  of(visitor: Visitor, settings: VisitorSettings): Promise<CountedLimit | null>;
}

export interface VisitorLimitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}

/** Images a day: guests by session and by address, users by id; one count for all nodes. */
export function createVisitorLimits({ host, signer }: VisitorLimitParts): VisitorLimits {
  const counters = createLimitCounters({ database: host.database, table: imageTables.counters, scopeColumn: 'scope' });
  return {
    counters,
    async of({ user, session, ip }, settings) {
      const set = user.id > 0 ? settings.user_per_day : settings.guest_per_day;
      const amount = await host.hooks.applyFiltersAsync('svc_image_visitor_limit', set, {
        user,
        session: session.id,
        ip,
      });
      if (amount === null) return null;
      const network = clientNetwork(ip);
      const address =
        network === '' ? [] : [`a:${(await signer.sign('address', [network])).toString('base64url').slice(0, 22)}`];
      // In one order, so that two transactions never wait for each other.
      const subjects = user.id > 0 ? [`u:${String(user.id)}`] : [...address, `s:${session.id}`];
      return {
        ...periodOf('day', host.clock.now(), await host.site.timezone()),
        scope: 0,
        subjects,
        unit: 'images',
        per: 'day',
        amount,
      };
    },
  };
}
