import { checkValue, readValue, type CliCommand } from '#plugin-api';
import type { FailoverPort } from '../../ports.ts';
import { listsSchema, type Failover } from './failover.ts';

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

/** A misspelled member would otherwise change nothing and report success. */
function parseLists(json: string): Partial<Failover> {
  const lists = readValue(listsSchema, json);
  const [sentence] = Object.values(checkValue(listsSchema, lists).errors);
  if (sentence === undefined) return lists as Partial<Failover>;
  throw new Error(
    `${sentence} Pass an object with lists, such as {"text": [{"provider": "claude", "model": "claude-sonnet-5-5"}]}. ` +
      'Turn failover on and off with svc failover on and off.',
  );
}
