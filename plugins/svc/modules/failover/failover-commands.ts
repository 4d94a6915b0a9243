import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import type { Failover } from './failover.ts';
import { uses } from './failover-store.ts';

/** `svc failover list|set|on|off`. */
export function failoverCommands({ settings }: Pick<ServiceContext, 'settings'>): CliCommand[] {
  const { failover } = settings;
  return [
    {
      name: 'svc failover list',
      description: 'Tell whether failover is on, and who is asked where a provider fails.',
      run: () => failover.get(),
    },
    {
      name: 'svc failover set',
      description:
        'Replace the lists that are given: {"text": [{"provider": "claude", "model": "claude-sonnet-5-5"}], "images": [], "embeddings": [{"provider": "azure", "model": "text-embedding-3-small", "dimensions": 1536}]}',
      args: [{ name: 'json', description: 'An object with the lists text, images and embeddings.' }],
      run: async ({ args: [json = ''] }) => failover.save(listsOf(json)),
    },
    {
      name: 'svc failover on',
      description: 'Ask the next provider where one fails; with --rest for REST calls as well.',
      flags: {
        rest: {
          type: 'boolean',
          default: false,
          description: 'REST calls, which name a provider, may be answered by another.',
        },
      },
      run: ({ flags }) => failover.save({ enabled: true, rest: flags['rest'] === true }),
    },
    {
      name: 'svc failover off',
      description: 'Ask nobody else; the lists stay.',
      run: () => failover.save({ enabled: false }),
    },
  ];
}

function listsOf(json: string): Partial<Failover> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = null;
  }
  if (
    typeof value !== 'object' ||
    value === null ||
    uses.some((use) => Object.hasOwn(value, use) && !Array.isArray((value as Record<string, unknown>)[use]))
  ) {
    throw new Error(
      'Give an object with lists, such as {"text": [{"provider": "claude", "model": "claude-sonnet-5-5"}]}.',
    );
  }
  return Object.fromEntries(
    uses.filter((use) => Object.hasOwn(value, use)).map((use) => [use, (value as Record<string, unknown>)[use]]),
  );
}
