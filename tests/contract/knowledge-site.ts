import type { TestHost } from '#testing';
import type { Clock } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { createMigratedHost } from '../helpers/migrated.ts';
import { until } from '../helpers/until.ts';

export interface KnowledgeSite {
  readonly host: TestHost;
  /** What a command prints with `--json`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are compared, not typed.
  run(...words: string[]): Promise<any>;
  /** A knowledge base in the sandbox's Qdrant; answers its id. */
  base(name?: string, ...flags: string[]): Promise<number>;
  /** Works on what is due until nothing is. */
  settled(base: number): Promise<void>;
  stop(): Promise<void>;
}

/** A site with the service and the sandbox, whose stand-ins embed and keep vectors. */
export async function startKnowledgeSite({
  database,
  clock = createSystemClock(),
  env,
}: {
  readonly database?: string;
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string>>;
} = {}): Promise<KnowledgeSite> {
  const host = await createMigratedHost({
    plugins: ['svc', 'sandbox'],
    clock,
    ...(database !== undefined && { database }),
    ...(env !== undefined && { env }),
  });
  const run = async (...words: string[]): Promise<unknown> => {
    const { code, out, err } = await host.cli('svc', ...words, '--json');
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as unknown;
  };
  await host.cli('svc', 'sandbox', 'on');
  return {
    host,
    run,
    async base(name = 'Help', ...flags) {
      const { id } = (await run(
        'knowledge',
        'create',
        name,
        '--store=qdrant',
        `--target=${name.toLowerCase()}`,
        '--provider=openai',
        '--model=text-embedding-3-small',
        ...flags,
      )) as { id: number };
      return id;
    },
    async settled(base) {
      await until('sources that are all indexed', async () => {
        const [one] = ((await run('knowledge', 'list')) as { id: number; waiting: number; state: string }[]).filter(
          ({ id }) => id === base,
        );
        const deleting = (await run('knowledge', 'sources', String(base), '--state=deleting')) as unknown[];
        return one?.waiting === 0 && deleting.length === 0;
      });
    },
    stop: () => host.stop(),
  };
}
