import type { DatabaseApi, PostgresqlConnection } from '#plugin-api';
import { joinJson, numberArray, sql, textArray } from './postgresql-statements.ts';
import { batchSize, temporaryEvents, toJob } from './store-contract.ts';
import type { ClaimRequest, Job, JobResult, Store } from './store-contract.ts';

/** Jobs per statement. PostgreSQL scans a text array for each element; beyond some hundreds another statement is faster. */
const maxPerStatement = 256;

/** Delivered by a scheduled attempt, not by a probe. */
const isCommon = ({ state, attempted, exempt, log }: JobResult): boolean =>
  state === 'delivered' && attempted && !exempt && log !== null;

type Lease = Pick<Job, 'id' | 'token'>;

/** Ids and tokens in the order of the ids, in which statements search. */
function leaseArrays(leases: readonly Lease[]): [string, string] {
  const sorted = byId(leases);
  return [numberArray(sorted.map(({ id }) => id)), numberArray(sorted.map(({ token }) => token))];
}

const leaseValues = (results: readonly Pick<JobResult, 'job'>[]): [string, string] =>
  leaseArrays(results.map(({ job }) => job));

function resultValues(results: readonly JobResult[]): string[] {
  const numbers = (pickValue: (result: JobResult) => number | null): string => numberArray(results.map(pickValue));
  const texts = (pickValue: (result: JobResult) => string | null): string => textArray(results.map(pickValue));
  return [
    ...leaseValues(results),
    texts(({ state }) => state),
    numbers(({ delay }) => Math.round(delay)),
    numbers(({ attempted }) => Number(attempted)),
    numbers(({ exempt, attempted }) => Number(exempt && attempted)),
    numbers(({ status }) => status),
    texts(({ failure }) => failure),
    texts(({ error }) => error),
    numbers(({ duration }) => duration),
    joinJson(results.map(({ log }) => log)),
  ];
}

/** Milliseconds after which a claim looks at all jobs of an endpoint again. */
const floorDuration = 1_000;

/**
 * Where the claims of an endpoint begin. The index keeps the entries of finished jobs until PostgreSQL cleans it up, and a
 * claim that begins with the first one reads them all. Below the floor are jobs that were stored late or released: they are
 * claimed when there is room left, or when the floor ends.
 */
class ClaimFloors {
  private readonly floors = new Map<string, { readonly id: number; readonly since: number }>();

  /** 0: all jobs. */
  at(endpointId: string): number {
    const floor = this.floors.get(endpointId);
    if (floor === undefined) return 0;
    if (performance.now() - floor.since < floorDuration) return floor.id;
    this.floors.delete(endpointId);
    return 0;
  }

  /** @param job claimed and due at once. Of jobs that are sent in order, an earlier one may have become claimable. */
  raise({ id, endpointId, orderKey }: Job): void {
    const floor = this.floors.get(endpointId) ?? { id: 0, since: performance.now() };
    if (orderKey !== null) this.floors.delete(endpointId);
    else if (id > floor.id) this.floors.set(endpointId, { ...floor, id });
  }
}

function byId<Item extends Lease>(items: readonly Item[]): Item[] {
  return [...items].sort((left, right) => left.id - right.id);
}

/**
 * PostgreSQL: a lease is a row of `leases` with the job as its key and the number of the claim in this process as token.
 * The table is unlogged and its rows are short: a lease inside the job would rewrite the job's row, its indexes and the
 * server's log at every claim. When a process dies, the next heartbeat of any node releases its expired leases.
 */
class PostgresqlStore implements Store {
  readonly isRemote = true;
  private readonly database: DatabaseApi;
  private readonly owner: string;
  /** Token of the lease, by job id. */
  private readonly held = new Map<number, number>();
  private readonly floors = new ClaimFloors();
  private claims = 0;

  constructor(database: DatabaseApi, owner: string) {
    this.database = database;
    this.owner = owner;
  }

  readonly add: Store['add'] = async (added, { transaction, again }) => {
    const first = added[0]?.deliveries[0];
    if (again && first && (await this.query(sql.stored, [first.uuid])).rows.length > 0) return;
    const flat = added.flatMap((event) => event.deliveries.map((delivery) => ({ event: event.uuid, ...delivery })));
    const values = [
      textArray(added.map(({ uuid }) => uuid)),
      textArray(added.map(({ name }) => name)),
      textArray(added.map(({ key }) => key)),
      joinJson(added.map(({ body }) => body.toString())),
      numberArray(added.map(({ needsEnvelopeFilter }) => (needsEnvelopeFilter ? 1 : 0))),
      textArray(flat.map(({ event }) => event)),
      textArray(flat.map(({ uuid }) => uuid)),
      textArray(flat.map(({ endpointId }) => endpointId)),
      textArray(flat.map(({ orderKey }) => orderKey)),
      textArray(flat.map(({ target }) => target)),
      textArray(flat.map(({ failed }) => failed?.failure ?? null)),
      textArray(flat.map(({ failed }) => failed?.error ?? null)),
      numberArray(flat.map(({ wait }) => wait)),
      textArray(added.map(({ context }) => context)),
      numberArray(added.map(({ bodyState }) => bodyState)),
      numberArray(added.map(({ userId }) => userId)),
      textArray(added.map(({ sessionId }) => sessionId)),
    ];
    await this.run((connection) => connection.rows(sql.add, values), { ...(transaction && { transaction }) });
  };

  readonly exchange: Store['exchange'] = async ({ finished, released, claims }) => {
    const releasing = released.length === 0 ? Promise.resolve() : this.endLeases(released);
    for (const job of released) this.forget(job);
    // One connection writes while another claims: a result that is written does not fall due during the claim.
    const ends = await Promise.allSettled([this.write(finished), this.claim(claims), releasing] as const);
    const [stale, jobs] = ends.map((end) => (end.status === 'fulfilled' ? end.value : [])) as [Job[], Job[]];
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) {
      await this.release(jobs);
      throw failed.reason;
    }
    const counts = new Map<string, number>();
    for (const { endpointId } of jobs) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
    const short = claims.filter(
      ({ endpointId, batches, limit }) =>
        (counts.get(endpointId) ?? 0) < Math.min(limit ?? Infinity, batches * batchSize),
    );
    return {
      jobs,
      stale,
      nextDueIn: this.readNextDue(short.map(({ endpointId }) => endpointId)).catch(
        () => new Map<string, number | null>(),
      ),
    };
  };

  readonly claimByUuid: Store['claimByUuid'] = async (uuids) => byId(await this.claimed(sql.claimByUuid, [uuids]));

  readonly heartbeat: Store['heartbeat'] = async () => {
    const held = [...this.held].map(([id, token]) => ({ id, token }));
    const { rows } =
      held.length === 0
        ? { rows: [] }
        : await this.seek((connection) => connection.rows(sql.extend, [...leaseArrays(held), this.owner]));
    const renewed = new Set(rows.map(([id]) => id));
    const isLost = (lease: Lease): boolean => !renewed.has(lease.id) && this.held.get(lease.id) === lease.token;
    const lost = new Map(held.filter(isLost).map(({ id, token }) => [id, token]));
    for (const [id] of lost) this.held.delete(id);
    const { changes } = await this.query(sql.expire, []);
    return {
      freed: changes > 0,
      isLost: ({ id, token }: Job) => lost.get(id) === token,
      time: (await this.query(sql.time, [])).rows[0]?.[0] as number,
    };
  };

  readonly correctClockSkew: Store['correctClockSkew'] = async () => {
    const open = await this.openEndpoints();
    const { changes } = await this.query(sql.shortenLeases, []);
    return changes + (await this.query(sql.shortenWaits, [open])).changes;
  };

  readonly openEndpoints: Store['openEndpoints'] = async () =>
    (await this.query(sql.openEndpoints, [])).rows.map(([id]) => id as string);

  readonly saveBodyOverride: Store['saveBodyOverride'] = async (job, body) =>
    (await this.query(sql.saveBodyOverride, [body, job.id, job.token, this.owner])).changes > 0;

  readonly readContext: Store['readContext'] = async (eventId) =>
    ((await this.query(sql.context, [eventId])).rows[0]?.[0] ?? null) as string | null;

  readonly findLeased: Store['findLeased'] = async (ids) =>
    new Set((await this.query(sql.leased, [ids])).rows.map(([id]) => id as number));

  private run<Result>(work: (connection: PostgresqlConnection) => Promise<Result>, init = {}): Promise<Result> {
    return this.database.direct<Result>(
      {
        sqlite: () => {
          throw new Error('This store is for PostgreSQL.');
        },
        postgresql: work,
      },
      init,
    );
  }

  /**
   * Finds rows by indexes only. PostgreSQL plans a statement again when it has counted the rows of a table. If there are no
   * leases at that moment, it plans to read all of them for each job, and a claim beside 8,192 leases takes more than ten
   * seconds. No transaction: a process that is suspended in one would lock its jobs for as long.
   */
  private seek<Result>(work: (connection: PostgresqlConnection) => Promise<Result>): Promise<Result> {
    return this.run(async (connection) => {
      await connection.rows('SET enable_seqscan = off');
      try {
        return await work(connection);
      } finally {
        // Fails with a broken connection only, which ends the setting too.
        await connection.rows('RESET enable_seqscan').catch(() => undefined);
      }
    });
  }

  private query(text: string, values: readonly unknown[]): ReturnType<PostgresqlConnection['rows']> {
    return this.run((connection) => connection.rows(text, values));
  }

  private forget({ id, token }: Job): void {
    if (this.held.get(id) === token) this.held.delete(id);
  }

  /** On one connection: on several, PostgreSQL would take processors that the attempts need. */
  private async write(given: readonly JobResult[]): Promise<Job[]> {
    if (given.length === 0) return [];
    const results = [...given].sort((left, right) => left.job.id - right.job.id);
    const repeated = results.filter(({ attempted, job }) => attempted && job.attempts > 0);
    const common = results.filter(isCommon);
    const others = common.length === results.length ? [] : results.filter((result) => !isCommon(result));
    const written = new Set<unknown>();
    const temporary = temporaryEvents(results);
    await this.seek(async (connection) => {
      const write = async (text: string, values: readonly string[]): Promise<void> => {
        for (const [id] of (await connection.rows(text, values)).rows) written.add(id);
      };
      if (repeated.length > 0) await connection.rows(sql.archiveAttempts, [...leaseValues(repeated), this.owner]);
      for (let start = 0; start < common.length; start += maxPerStatement) {
        const part = common.slice(start, start + maxPerStatement);
        await write(sql.deliver, [
          ...leaseValues(part),
          numberArray(part.map(({ status }) => status)),
          numberArray(part.map(({ duration }) => duration)),
          joinJson(part.map(({ log }) => log)),
          this.owner,
        ]);
      }
      if (others.length > 0) await write(sql.finish, [...resultValues(others), this.owner]);
      if (temporary.length > 0) {
        await connection.rows(sql.lockTemporary, [numberArray(temporary)]);
        await connection.rows(sql.deleteTemporaryBodies, [numberArray(temporary)]);
      }
      if (written.size < results.length) await write(sql.writtenBefore, [...leaseValues(results), this.owner]);
    });
    for (const { job } of results) this.forget(job);
    return results.map(({ job }) => job).filter(({ id }) => !written.has(id));
  }

  private async claim(requests: readonly ClaimRequest[]): Promise<Job[]> {
    if (requests.length === 0) return [];
    const wanted = requests.map(({ endpointId, batches, limit }) => ({
      endpoint_id: endpointId,
      n: Math.min(limit ?? Infinity, batches * batchSize),
      low: this.floors.at(endpointId),
    }));
    return byId(
      await this.claimed(sql.claim, [JSON.stringify(wanted)], (job) => {
        this.floors.raise(job);
      }),
    );
  }

  private async claimed(text: string, values: readonly unknown[], onDueAtOnce?: (job: Job) => void): Promise<Job[]> {
    const token = (this.claims += 1);
    const { rows } = await this.seek((connection) => connection.rows(text, [this.owner, token, ...values]));
    return rows.map((row) => {
      const job = toJob(row, { endpointId: row[14] as string, token });
      this.held.set(job.id, token);
      if (row[15] === 0) onDueAtOnce?.(job);
      return job;
    });
  }

  /** Releases jobs of a failed exchange, which are not sent. If this fails too, their leases expire. */
  private async release(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) this.forget(job);
    if (jobs.length > 0) await this.endLeases(jobs).catch(() => undefined);
  }

  private async endLeases(jobs: readonly Job[]): Promise<void> {
    await this.query(sql.release, [...leaseArrays(jobs), this.owner]);
  }

  private async readNextDue(endpointIds: readonly string[]): Promise<Map<string, number | null>> {
    if (endpointIds.length === 0) return new Map();
    const { rows } = await this.query(sql.next, [endpointIds]);
    return new Map(rows.map(([id, wait]) => [id as string, wait as number | null]));
  }
}

/** @param owner unique per process. */
export function createPostgresqlStore(database: DatabaseApi, owner: string): Store {
  return new PostgresqlStore(database, owner);
}
