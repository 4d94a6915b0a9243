/** Directives of one policy by name, in their order. */
export type Policy = ReadonlyMap<string, readonly string[]>;

/** Something the page must be allowed to load. */
export interface RequiredSource {
  readonly directive: 'script-src' | 'connect-src' | 'style-src' | 'img-src';
  readonly url: URL;
  /** Of the script tag. */
  readonly nonce?: string | undefined;
}

/** Fallbacks of a directive. The first one that the policy has decides. */
const chains: Readonly<Record<RequiredSource['directive'], readonly string[]>> = {
  'script-src': ['script-src-elem', 'script-src', 'default-src'],
  'connect-src': ['connect-src', 'default-src'],
  'style-src': ['style-src-elem', 'style-src', 'default-src'],
  'img-src': ['img-src', 'default-src'],
};

/** Parses the policies of a header. They are separated by commas, and all of them must allow a source. */
export function readPolicies(text: string): Policy[] {
  return text
    .split(',')
    .map(readPolicy)
    .filter((policy) => policy.size > 0);
}

function readPolicy(text: string): Policy {
  const policy = new Map<string, readonly string[]>();
  for (const part of text.split(';')) {
    const [name = '', ...sources] = part.trim().split(/\s+/);
    // If a directive is repeated, only the first one counts.
    if (name !== '' && !policy.has(name.toLowerCase())) policy.set(name.toLowerCase(), sources);
  }
  return policy;
}

/** The directive that blocks the source, or null if the policy allows it. */
export function findBlockingDirective(policy: Policy, source: RequiredSource, page: URL): string | null {
  const name = chains[source.directive].find((directive) => policy.has(directive));
  if (name === undefined) return null;
  const sources = policy.get(name) ?? [];
  return allows(sources, source, page) ? null : name;
}

function allows(sources: readonly string[], { directive, url, nonce }: RequiredSource, page: URL): boolean {
  const isScript = directive === 'script-src';
  if (isScript && nonce !== undefined && nonce !== '' && sources.includes(`'nonce-${nonce}'`)) return true;
  // Only scripts with a nonce, and scripts that those load, may run.
  if (isScript && sources.some((source) => source.toLowerCase() === "'strict-dynamic'")) return false;
  return sources.some((source) => matches(source, url, page));
}

function matches(source: string, url: URL, page: URL): boolean {
  const lower = source.toLowerCase();
  if (lower === "'self'") return url.host === page.host && sameScheme(page.protocol, url.protocol);
  if (lower.startsWith("'")) return false;
  if (lower === '*') return ['http:', 'https:', 'ws:', 'wss:', page.protocol].includes(url.protocol);
  if (/^[a-z][a-z\d+.-]*:$/.test(lower)) return sameScheme(lower, url.protocol);
  const found = /^(?:([a-z][a-z\d+.-]*):\/\/)?(\*|(?:\*\.)?[^/:*]+|\[[^\]]+\])(?::(\d+|\*))?(\/.*)?$/i.exec(source);
  if (found === null) return false;
  const [, scheme, host = '', port, path] = found;
  return (
    sameScheme(scheme === undefined ? page.protocol : `${scheme.toLowerCase()}:`, url.protocol) &&
    matchesHost(host.toLowerCase(), url.hostname) &&
    matchesPort(port, url) &&
    matchesPath(path, url.pathname)
  );
}

/** A source with http also allows https. */
function sameScheme(allowed: string, scheme: string): boolean {
  return allowed === scheme || (allowed === 'http:' && scheme === 'https:');
}

function matchesHost(host: string, name: string): boolean {
  if (host === '*') return true;
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) : host === name;
}

function matchesPort(port: string | undefined, url: URL): boolean {
  if (port === '*') return true;
  const defaultPort = url.protocol === 'https:' ? '443' : '80';
  const requested = url.port === '' ? defaultPort : url.port;
  return port === undefined ? requested === defaultPort : port === requested || (port === '80' && requested === '443');
}

/** A path that ends with a slash allows everything below it. */
function matchesPath(path: string | undefined, requested: string): boolean {
  if (path === undefined || path === '/') return true;
  return path.endsWith('/') ? requested.startsWith(path) : requested === path;
}

/** The directive with the origin of the source added. */
export function extendDirective(policy: Policy, { directive, url, nonce }: RequiredSource): string {
  const from = chains[directive].find((name) => policy.has(name)) ?? directive;
  const sources = (policy.get(from) ?? []).filter((source) => source.toLowerCase() !== "'none'");
  const isStrict = directive === 'script-src' && sources.some((source) => source.toLowerCase() === "'strict-dynamic'");
  const added = isStrict && (nonce === undefined || nonce === '') ? [] : [url.origin];
  return [
    from === 'default-src' ? directive : from,
    ...sources,
    ...added.filter((origin) => !sources.includes(origin)),
  ].join(' ');
}
