import type { CliCommand } from '#plugin-api';
import type { SecurityLog } from '../security-log/security-log.ts';

export function securityLogCommands(securityLog: Pick<SecurityLog, 'list' | 'verify'>): CliCommand[] {
  return [
    {
      name: 'security-log list',
      description: 'Lists the newest entries of the security log.',
      flags: {
        event: { type: 'string', description: 'Only entries of this event, such as sign_in_failed.' },
        limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 50, description: 'Maximum number of entries.' },
      },
      async run({ flags }) {
        const limit = Number(flags['limit']);
        const event = typeof flags['event'] === 'string' ? { event: flags['event'] } : {};
        return (await securityLog.list({ limit, ...event })).map(({ at, userId, hash: _hash, ...entry }) => ({
          ...entry,
          at: new Date(at).toISOString(),
          user: userId,
        }));
      },
    },
    {
      name: 'security-log verify',
      description: 'Checks that no entry of the security log was changed or removed.',
      async run() {
        const { entries, brokenAt } = await securityLog.verify();
        if (brokenAt !== null) throw new Error(`Entry ${brokenAt} was changed or removed.`);
        return { entries, unchanged: true };
      },
    },
  ];
}
