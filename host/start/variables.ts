/** The environment variables of the operator contract, in the order of the README, which says what each is for. */
export const variables = [
  'PORT',
  'HOST',
  'SITE_URL',
  'DATA_DIR',
  'UPLOADS_S3_BUCKET',
  'UPLOADS_S3_ENDPOINT',
  'UPLOADS_S3_REGION',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_CA',
  'DATABASE_WAIT_SECONDS',
  'PLUGIN_DIRS',
  'PLUGINS',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'ROLE',
  'TRUST_PROXY',
  'REST_PREFIX',
  'LOG_LEVEL',
  'LC_ALL',
  'ADMIN_USER',
  'ADMIN_PASSWORD',
  'ADMIN_EMAIL',
  'BODY_BUDGET_MB',
  'MAX_CONNECTIONS',
  'METRICS_TOKEN',
  'BLOCKED_EXIT_SECONDS',
  'READY_REQUIRES_PLUGINS',
  'DISALLOW_FILE_MODS',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
] as const;

/** Those that may be written in lower case too, as every program that reads them takes them. */
export const proxyVariables: readonly Variable[] = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'];

export type Variable = (typeof variables)[number];

/** Those whose value is never printed, and for which `{name}_FILE` may name a file that holds it. */
export const secretVariables: ReadonlySet<string> = new Set<Variable>([
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'ADMIN_PASSWORD',
  'METRICS_TOKEN',
]);
