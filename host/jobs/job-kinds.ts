import type { JobDefinition, JsonSchema, JsonValue, Undo } from '#plugin-api';

/** A defined kind of job, with its defaults filled in. */
export interface JobKind {
  readonly owner: string;
  readonly name: string;
  readonly label: string;
  readonly attempts: (args: JsonValue) => Promise<number>;
  /** Seconds. */
  readonly backoff: (args: JsonValue) => Promise<readonly number[]>;
  readonly concurrency: () => Promise<number>;
  /** Milliseconds. */
  readonly timeout: number;
  /** Milliseconds; null: deleted when it ends. */
  readonly keep: number | null;
  /** Null: only the process that starts a job can do its work. */
  readonly run: NonNullable<JobDefinition['run']> | null;
  readonly failed: NonNullable<JobDefinition['failed']>;
  readonly postponed: NonNullable<JobDefinition['postponed']>;
  /** The arguments with types and defaults of the schema. @throws RestError 400 */
  check(args: JsonValue): Promise<JsonValue>;
}

/** Compiles a schema into a check of a value, named in its errors. */
export type CompileSchema = (name: string, schema: JsonSchema) => Promise<(value: unknown) => unknown>;

export interface JobKinds {
  /** @throws Error if the definition is invalid or the name is taken. */
  add<Args extends JsonValue>(owner: string, definition: JobDefinition<Args>): { readonly kind: JobKind; undo: Undo };
  get(owner: string, name: string): JobKind | undefined;
  list(): readonly JobKind[];
}

const defaults = { attempts: 3, backoff: [5, 30, 120, 600], concurrency: 1, timeout: 900, keep: 86_400 } as const;
const maxConcurrency = 1_000;
const longestArgs = 262_144;
const namePattern = /^[a-z0-9][a-z0-9_-]{0,59}$/;

/** The kinds that are defined in this process. */
export function createJobKinds(compile: CompileSchema): JobKinds {
  const kinds = new Map<string, JobKind>();
  const idOf = (owner: string, name: string): string => `${owner} ${name}`;
  return {
    add(owner, definition) {
      checkDefinition(definition as unknown as JobDefinition);
      const id = idOf(owner, definition.name);
      if (kinds.has(id))
        throw new Error(`${owner} has already defined the job '${definition.name}'; choose another name.`);
      const kind = createKind(owner, definition as unknown as JobDefinition, compile);
      kinds.set(id, kind);
      return { kind, undo: () => void (kinds.get(id) === kind && kinds.delete(id)) };
    },
    get: (owner, name) => kinds.get(idOf(owner, name)),
    list: () => [...kinds.values()],
  };
}

function createKind(owner: string, definition: JobDefinition, compile: CompileSchema): JobKind {
  const { name, label = name, schema, concurrency = defaults.concurrency } = definition;
  const { attempts = definition.run === undefined ? 1 : defaults.attempts, backoff = defaults.backoff } = definition;
  let compiled: ReturnType<CompileSchema> | undefined;
  return {
    owner,
    name,
    label,
    attempts: async (args) => (typeof attempts === 'function' ? attempts(args) : attempts),
    backoff: async (args) => (typeof backoff === 'function' ? backoff(args) : backoff),
    concurrency: async () => {
      const slots = typeof concurrency === 'function' ? await concurrency() : concurrency;
      return Number.isFinite(slots) ? Math.min(maxConcurrency, Math.max(0, Math.floor(slots))) : defaults.concurrency;
    },
    timeout: (definition.timeout ?? defaults.timeout) * 1000,
    keep: definition.run === undefined ? null : (definition.keep ?? defaults.keep) * 1000,
    run: definition.run === undefined ? null : definition.run.bind(definition),
    failed: async (args, job, transaction) => definition.failed?.(args, job, transaction),
    postponed: async (args, job, transaction) => definition.postponed?.(args, job, transaction),
    async check(args) {
      if (schema === undefined) return args;
      compiled ??= compile('args', schema);
      return (await compiled)(args) as JsonValue;
    },
  };
}

function checkDefinition({ name, run, attempts, backoff, concurrency, timeout, keep }: JobDefinition): void {
  if (typeof name !== 'string' || !namePattern.test(name))
    throw new TypeError(
      `The job name '${String(name)}' is invalid. Use at most 60 lower-case letters, digits, '_' and '-'.`,
    );
  if (run !== undefined && typeof run !== 'function')
    throw new TypeError(`The job '${name}' has a run that is no function.`);
  if (typeof attempts !== 'function') checkNumber(name, { attempts }, { least: 1, most: 100, whole: true });
  if (typeof concurrency !== 'function')
    checkNumber(name, { concurrency }, { least: 1, most: maxConcurrency, whole: true });
  checkNumber(name, { timeout }, { least: 0.001, most: 86_400 });
  checkNumber(name, { keep }, { least: 0, most: Number.MAX_SAFE_INTEGER / 1000 });
  if (
    Array.isArray(backoff) &&
    (backoff.length === 0 || backoff.some((wait: unknown) => !(Number(wait) >= 0 && Number.isFinite(wait))))
  )
    throw new TypeError(`The job '${name}' needs a backoff of one or more numbers of seconds, 0 or more.`);
}

function checkNumber(
  job: string,
  named: Readonly<Record<string, unknown>>,
  { least, most, whole = false }: { readonly least: number; readonly most: number; readonly whole?: boolean },
): void {
  for (const [name, value] of Object.entries(named)) {
    if (value === undefined) continue;
    const fits = typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value));
    if (!fits)
      throw new TypeError(
        `The job '${job}' has ${name} ${String(value)}. Use ${whole ? 'an integer' : 'a number'} from ${String(least)} to ${String(most)}.`,
      );
  }
}

/** @throws TypeError or RangeError if the arguments are no JSON or too long. */
export function argsToJson(name: string, args: JsonValue): string {
  const json = JSON.stringify(args) as string | undefined;
  if (json === undefined) throw new TypeError(`The arguments of the job '${name}' are not JSON.`);
  if (json.length > longestArgs)
    throw new RangeError(
      `The arguments of the job '${name}' have ${String(json.length)} characters of JSON; at most 262,144 fit. ` +
        'Store large data in a table and pass its id.',
    );
  return json;
}
