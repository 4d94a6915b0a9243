import { isUrl, trimSlashes, trimTrailingSlashes } from '#plugin-api';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, readSecretFiles, variableIn, type Environment } from './environment.ts';
import { proxyVariables } from './variables.ts';

export type Role = 'all' | 'web' | 'worker';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** The environment variables of the operator contract, checked once. Other code receives its settings as arguments. */
export interface Config {
  /** 0..65535; 0 takes a free port. */
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash; null: built from host and port. */
  readonly siteUrl: string | null;
  /** Absolute path. */
  readonly dataDir: string;
  /** The bucket of uploads; null: the folder `uploads` in dataDir. An endpoint of null is Amazon S3. */
  readonly uploadsBucket: { readonly bucket: string; readonly endpoint: string | null; readonly region: string } | null;
  /** null: SQLite in dataDir. */
  readonly databaseUrl: string | null;
  /** The same PostgreSQL past a pooler that keeps no sessions; null: `databaseUrl` leads to it. */
  readonly databaseDirectUrl: string | null;
  /** Milliseconds that the start waits for PostgreSQL. */
  readonly databaseWaitMs: number;
  /** Absolute paths, searched in order. */
  readonly pluginDirs: readonly string[];
  /** Slugs of plugins that do not start, or all of them. */
  readonly leftOutPlugins: readonly string[] | 'all';
  /** Absolute path of the templates. */
  readonly viewsDir: string;
  /** null: the generated key file in dataDir. */
  readonly secretKey: string | null;
  /** The key before `secretKey`; null: none. */
  readonly previousSecretKey: string | null;
  readonly role: Role;
  /** Express's `trust proxy`: hops, true or false, or a list of addresses. */
  readonly trustProxy: boolean | number | string;
  readonly restPrefix: string;
  readonly logLevel: LogLevel;
  /** Creates the first administrator without a browser. */
  readonly admin: { readonly login: string; readonly password: string; readonly email: string } | null;
  /** Bytes of memory that request bodies may occupy at once. */
  readonly bodyBudget: number;
  /** Connections open at once; further ones are closed. */
  readonly maxConnections: number;
  /** Bearer token for `/metrics` from other machines; null: loopback only. */
  readonly metricsToken: string | null;
  /** Plugins cannot be installed, edited or deleted from the browser. */
  readonly disallowFileMods: boolean;
  /** Milliseconds of a block of the event loop by a plugin after which the process ends; 0: never. */
  readonly blockedExitMs: number;
  /** Whether `/readyz` returns 503 while an active plugin does not run on this node. */
  readonly requiresPlugins: boolean;
  /** Whether the environment names a proxy for outbound requests. Its address is read there by each connection. */
  readonly usesProxy: boolean;
  /** What is traced for a collector; null: nothing. The address of the collector is read by OpenTelemetry's SDK. */
  readonly telemetry: TelemetrySettings | null;
  /** Language of the terminal, such as `de_DE`; empty for English. */
  readonly locale: string;
}

export interface TelemetrySettings {
  /** Whether the caller's `traceparent` decides for its requests. */
  readonly isParentBased: boolean;
  /** Share of the traces that are recorded, 0 to 1. */
  readonly ratio: number;
}

/** The folder of the product, which is the site's own in a checkout. */
const product = fileURLToPath(new URL('../..', import.meta.url));

const roles: readonly Role[] = ['all', 'web', 'worker'];
const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/**
 * Reads and checks the environment, and the files that it names for secrets. An empty variable counts as unset.
 *
 * @param given default: the process's.
 * @param root the folder of the site; relative paths start there.
 * @throws ConfigError that lists every bad variable with what it should be.
 */
export function readConfig(given: Environment = process.env, root = process.cwd()): Config {
  const errors: string[] = [];
  const env = readSecretFiles(given, errors);
  const read = (name: string): string | null => env[name]?.trim() || null;
  const oneOf = <Value extends string>(name: string, allowed: readonly Value[], fallback: Value): Value => {
    const value = read(name) ?? fallback;
    if (allowed.includes(value as Value)) return value as Value;
    errors.push(`${name} is '${value}'; use one of ${allowed.join(', ')}.`);
    return fallback;
  };
  const readWhole = (name: string, { fallback, least, most }: WholeNumber): number => {
    const value = read(name) ?? String(fallback);
    if (/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    errors.push(`${name} is '${value}'; use a whole number from ${least} to ${most}.`);
    return fallback;
  };
  const config: Config = {
    port: readPort(read('PORT'), errors),
    host: read('HOST') ?? '127.0.0.1',
    siteUrl: readSiteUrl(read('SITE_URL'), errors),
    dataDir: resolve(root, read('DATA_DIR') ?? 'data'),
    uploadsBucket: readUploadsBucket(read, errors),
    ...readDatabase(read, root, errors),
    databaseWaitMs: 1_000 * readWhole('DATABASE_WAIT_SECONDS', { fallback: 60, least: 0, most: 3_600 }),
    pluginDirs: readPluginDirs(read('PLUGIN_DIRS'), root),
    leftOutPlugins: readLeftOut(read('PLUGINS'), errors),
    viewsDir: join(product, 'views'),
    secretKey: readSecretKey(read('SECRET_KEY'), errors),
    previousSecretKey: readPreviousKey(read, errors),
    role: oneOf('ROLE', roles, 'all'),
    trustProxy: readTrustProxy(read('TRUST_PROXY')),
    restPrefix: readPrefix(read('REST_PREFIX'), errors),
    logLevel: oneOf('LOG_LEVEL', logLevels, 'info'),
    admin: readAdmin(read, errors),
    bodyBudget: 1_048_576 * readWhole('BODY_BUDGET_MB', { fallback: 128, least: 64, most: 65_536 }),
    maxConnections: readWhole('MAX_CONNECTIONS', { fallback: 5_000, least: 16, most: 1_000_000 }),
    metricsToken: read('METRICS_TOKEN'),
    disallowFileMods: oneOf('DISALLOW_FILE_MODS', ['true', 'false'], 'false') === 'true',
    blockedExitMs: 1_000 * readWhole('BLOCKED_EXIT_SECONDS', { fallback: 30, least: 0, most: 3_600 }),
    requiresPlugins: oneOf('READY_REQUIRES_PLUGINS', ['true', 'false'], 'false') === 'true',
    usesProxy: readProxies(env, errors),
    telemetry: readTelemetry(read, errors),
    locale: readTerminalLocale(env),
  };
  if (errors.length > 0) throw new ConfigError(errors.join('\n'));
  return config;
}

/** Without the variable: the site's `plugins`, and those that come with the product. */
function readPluginDirs(value: string | null, root: string): string[] {
  const directories = value?.split(',').map((directory) => resolve(root, directory.trim()));
  return directories ?? [...new Set([resolve(root, 'plugins'), join(product, 'plugins')])];
}

interface WholeNumber {
  readonly fallback: number;
  readonly least: number;
  readonly most: number;
}

function readPort(value: string | null, errors: string[]): number {
  const port = Number(value ?? 3000);
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  errors.push(`PORT is '${value}'; use a whole number from 0 to 65535.`);
  return 3000;
}

/** The language of the terminal: `de_DE.UTF-8@euro` is `de_DE`. Others, such as `C`, are English (empty). */
export function readTerminalLocale(env: Environment = process.env): string {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  const value = read('LC_ALL') ?? read('LC_MESSAGES') ?? read('LANG');
  return /^[a-z]{2,3}(_[A-Z]{2})?(?=[.@]|$)/.exec(value ?? '')?.[0] ?? '';
}

function readLeftOut(value: string | null, errors: string[]): Config['leftOutPlugins'] {
  if (value === 'off') return 'all';
  const slugs = (value ?? '')
    .split(',')
    .map((slug) => slug.trim())
    .filter(Boolean);
  if (!slugs.every((slug) => /^[a-z0-9-]+$/.test(slug)))
    errors.push(`PLUGINS is '${value}'; use off, or the slugs of the plugins to leave out, separated by commas.`);
  return slugs;
}

function readSiteUrl(value: string | null, errors: string[]): string | null {
  if (value === null) return null;
  if (isUrl(value) && /^https?:$/.test(new URL(value).protocol)) {
    if (new URL(value).origin === trimTrailingSlashes(value).toLowerCase()) return trimTrailingSlashes(value);
    const { origin } = new URL(value);
    errors.push(`SITE_URL is '${value}'; this host serves a whole address, not a path of one: use ${origin}.`);
    return null;
  }
  errors.push(`SITE_URL is '${value}'; use an http or https address such as https://example.com.`);
  return null;
}

/** An authority for the database's certificate becomes part of the addresses: the driver reads it there. */
function readDatabase(
  read: (name: string) => string | null,
  root: string,
  errors: string[],
): Pick<Config, 'databaseUrl' | 'databaseDirectUrl'> {
  const [url, directUrl, authority] = [read('DATABASE_URL'), read('DATABASE_DIRECT_URL'), read('DATABASE_CA')];
  const file = authority === null ? null : resolve(root, authority);
  if (url !== null && !isPostgresql(url))
    errors.push('DATABASE_URL must begin with postgres:// (leave it empty for SQLite in DATA_DIR).');
  if (directUrl !== null && !isPostgresql(directUrl)) errors.push('DATABASE_DIRECT_URL must begin with postgres://.');
  if (url === null && (directUrl ?? authority) !== null)
    errors.push('DATABASE_DIRECT_URL and DATABASE_CA need DATABASE_URL.');
  if (file !== null && !existsSync(file)) errors.push(`DATABASE_CA is '${authority}', which does not exist.`);
  const complete = (given: string | null): string | null =>
    given === null || file === null || !isPostgresql(given) ? given : withAuthority(given, file);
  return { databaseUrl: complete(url), databaseDirectUrl: complete(directUrl) };
}

const isPostgresql = (url: string): boolean => /^postgres(ql)?:\/\//.test(url);

function withAuthority(url: string, file: string): string {
  const complete = new URL(url);
  complete.searchParams.set('sslrootcert', file);
  if (!complete.searchParams.has('sslmode')) complete.searchParams.set('sslmode', 'verify-full');
  return complete.href;
}

function readUploadsBucket(read: (name: string) => string | null, errors: string[]): Config['uploadsBucket'] {
  const [bucket, endpoint, region] = ['UPLOADS_S3_BUCKET', 'UPLOADS_S3_ENDPOINT', 'UPLOADS_S3_REGION'].map(read);
  if (!bucket) {
    if (endpoint || region) errors.push('UPLOADS_S3_ENDPOINT and UPLOADS_S3_REGION need UPLOADS_S3_BUCKET.');
    return null;
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    errors.push(`UPLOADS_S3_BUCKET is '${bucket}'; use the name of a bucket, such as my-site-uploads.`);
  if (endpoint && !(isUrl(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)))
    errors.push(`UPLOADS_S3_ENDPOINT is '${endpoint}'; use an http or https address such as https://s3.example.com.`);
  return { bucket, endpoint: endpoint ?? null, region: region ?? read('AWS_REGION') ?? 'us-east-1' };
}

function readSecretKey(value: string | null, errors: string[]): string | null {
  if (value !== null && value.length < 16)
    errors.push('SECRET_KEY is too short; use at least 16 characters, for example the output of: openssl rand -hex 32');
  return value;
}

function readTrustProxy(value: string | null): boolean | number | string {
  if (value === null || value === 'false') return false;
  if (value === 'true') return true;
  return /^\d+$/.test(value) ? Number(value) : value;
}

function readPreviousKey(read: (name: string) => string | null, errors: string[]): string | null {
  const value = read('SECRET_KEY_PREVIOUS');
  if (value !== null && read('SECRET_KEY') === null)
    errors.push('SECRET_KEY_PREVIOUS needs SECRET_KEY. To return to a key file, put its content into SECRET_KEY.');
  return value;
}

function readPrefix(value: string | null, errors: string[]): string {
  const prefix = trimSlashes(value ?? 'wp-json');
  if (!/^[\w-]+(\/[\w-]+)*$/.test(prefix))
    errors.push(`REST_PREFIX is '${value}'; use letters, digits, '-', '_' and '/'.`);
  return prefix;
}

function readAdmin(read: (name: string) => string | null, errors: string[]): Config['admin'] {
  const [login, password, email] = [read('ADMIN_USER'), read('ADMIN_PASSWORD'), read('ADMIN_EMAIL')];
  if (login === null && password === null && email === null) return null;
  if (login !== null && password !== null && email !== null) return { login, password, email };
  errors.push('ADMIN_USER, ADMIN_PASSWORD and ADMIN_EMAIL go together; set all three or none.');
  return null;
}

/** @returns whether there is one */
function readProxies(env: Environment, errors: string[]): boolean {
  const found = proxyVariables.slice(0, -1).flatMap((name) => {
    const value = variableIn(env, name)?.trim() ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  for (const [name, value] of found)
    if (!isUrl(value) || !/^https?:$/.test(new URL(value).protocol))
      errors.push(`${name} is no address of an HTTP proxy; use one such as http://proxy.example.com:3128.`);
  return found.length > 0;
}

const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

function readTelemetry(read: (name: string) => string | null, errors: string[]): TelemetrySettings | null {
  const [name, endpoint] = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']
    .map((each) => [each, read(each)] as const)
    .find(([, value]) => value !== null) ?? ['', null];
  if (endpoint === null || read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;
  if (!isUrl(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    errors.push(`${name} is '${endpoint}'; use the address of a collector, such as http://127.0.0.1:4318.`);
  const protocol = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? read('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== null && protocol !== 'http/protobuf')
    errors.push(`OTEL_EXPORTER_OTLP_PROTOCOL is '${protocol}'; use http/protobuf, on port 4318 of most collectors.`);
  const sampler = read('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  if (!samplers.includes(sampler))
    errors.push(`OTEL_TRACES_SAMPLER is '${sampler}'; use one of ${samplers.join(', ')}.`);
  const given = Number(read('OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (!(given >= 0 && given <= 1))
    errors.push(`OTEL_TRACES_SAMPLER_ARG is '${read('OTEL_TRACES_SAMPLER_ARG')}'; use a share from 0 to 1.`);
  const ratio = sampler.endsWith('ratio') ? given : Number(sampler.endsWith('on'));
  return { isParentBased: sampler.startsWith('parentbased_'), ratio };
}
