import type { CliCommand } from '#plugin-api';
import type { FailoverPort } from '../../ports.ts';
import type { Failover } from './failover.ts';
import { uses } from './failover-store.ts';

/** `svc failover list|set|on|off`. */
export function failoverCommands({ failover }: FailoverPort): CliCommand[] {
  return [
    {
      name: 'svc failover list',
      description: 'Show whether failover is on, and the fallback providers.',
      run: () => failover.get(),
    },
    {
      name: 'svc failover set',
      description:
        'Replace the given lists: {"text": [{"provider": "claude", "model": "claude-sonnet-5-5"}], "images": ' +
        '[], "embeddings": [{"provider": "azure", "model": "text-embedding-3-small", "dimensions": 1536}]}',
      args: [{ name: 'json', description: 'An object with the lists text, images and embeddings.' }],
      run: async ({ args: [json = ''] }) => failover.save(parseLists(json)),
    },
    {
      name: 'svc failover on',
      description: 'Try the next provider if one fails. Add --rest to include REST calls.',
      flags: {
        rest: {
          type: 'boolean',
          default: false,
          description: 'Include REST calls, which choose their provider.',
        },
      },
      run: ({ flags }) => failover.save({ enabled: true, rest: flags['rest'] === true }),
    },
    {
      name: 'svc failover off',
      description: 'Turn failover off. The lists are kept.',
      run: () => failover.save({ enabled: false }),
    },
  ];
}

function parseLists(json: string): Partial<Failover> {
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
      'Pass an object with lists, such as {"text": [{"provider": "claude", "model": "claude-sonnet-5-5"}]}.',
    );
  }
  const lists = value as Record<string, unknown>;
  refuseUnknown(Object.keys(lists), { known: uses, subject: 'The object' });
  for (const use of uses)
    for (const entry of (lists[use] as readonly unknown[] | undefined) ?? [])
      if (typeof entry === 'object' && entry !== null)
        refuseUnknown(Object.keys(entry), {
          known: ['provider', 'model', ...(use === 'embeddings' ? ['dimensions'] : [])],
          subject: `An entry in the list for ${use}`,
        });
  return Object.fromEntries(
    uses.filter((use) => Object.hasOwn(value, use)).map((use) => [use, (value as Record<string, unknown>)[use]]),
  );
}

/** A misspelled member would otherwise change nothing and report success. */
function refuseUnknown(
  names: readonly string[],
  { known, subject }: { readonly known: readonly string[]; readonly subject: string },
): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new Error(
    `${subject} has unknown members: ${unknown.join(', ')}. Use ${known.join(', ')}. ` +
      'Turn failover on and off with svc failover on and off.',
  );
}
