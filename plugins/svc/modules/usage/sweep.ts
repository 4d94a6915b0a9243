import type { ServiceContext } from '../../wiring.ts';
import { localDay } from '../../kit/local-day.ts';
import { sweepUsage } from './ledger/usage-store.ts';

/** The daily event that removes old calls from the ledger. */
export const sweepHook = 'svc_usage_sweep';

const day = 24 * 3600 * 1000;

/** Schedules the sweep, once for the site, and runs it when it is due on this node. */
export async function addSweep({ host, settings }: Pick<ServiceContext, 'host' | 'settings'>): Promise<void> {
  host.hooks.addAction(sweepHook, async () => {
    const { usage_days } = await settings.limits();
    const before = host.clock.now() - usage_days * day;
    const calls = await sweepUsage(host.database, { before, beforeDay: localDay(await host.site.timezone())(before) });
    if (calls > 0) host.log.info('Old calls were removed from the usage ledger.', { calls, days: usage_days });
  });
  await host.cron.schedule('daily', sweepHook);
}
