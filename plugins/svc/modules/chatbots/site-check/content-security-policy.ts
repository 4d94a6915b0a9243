/** Directives of one policy, by name, in the order they stand. */
export type Policy = ReadonlyMap<string, readonly string[]>;

/** Something the page must be allowed to load. */
export interface Wanted {
  readonly directive: 'script-src' | 'connect-src' | 'style-src' | 'img-src';
  readonly url: URL;
  /** Of the script tag. */
  readonly nonce?: string | undefined;
}

/** More special directives come first; the first one that is there decides. */
const chains: Readonly<Record<Wanted['directive'], readonly string[]>> = {
  'script-src': ['script-src-elem', 'script-src', 'default-src'],
  'connect-src': ['connect-src', 'default-src'],
  'style-src': ['style-src-elem', 'style-src', 'default-src'],
  'img-src': ['img-src', 'default-src'],
};

/** Policies of a header; several are parted by commas, and all must agree. */
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
    // The first of two directives of one name counts.
    if (name !== '' && !policy.has(name.toLowerCase())) policy.set(name.toLowerCase(), sources);
  }
  return policy;
}

/** The directive of a policy that refuses, or null where it allows. */
export function refusing(policy: Policy, wanted: Wanted, page: URL): string | null {
  const name = chains[wanted.directive].find((directive) => policy.has(directive));
  if (name === undefined) return null;
  const sources = policy.get(name) ?? [];
  return allows(sources, wanted, page) ? null : name;
}

function allows(sources: readonly string[], { directive, url, nonce }: Wanted, page: URL): boolean {
  const isScript = directive === 'script-src';
  if (isScript && nonce !== undefined && nonce !== '' && sources.includes(`'nonce-${nonce}'`)) return true;
  // Then only what a trusted script brings in, and what carries a nonce, may run.
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

/** A source of http lets the same over https in. */
function sameScheme(allowed: string, asked: string): boolean {
  return allowed === asked || (allowed === 'http:' && asked === 'https:');
}

function matchesHost(host: string, name: string): boolean {
  if (host === '*') return true;
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) : host === name;
}

function matchesPort(port: string | undefined, url: URL): boolean {
  if (port === '*') return true;
  const usual = url.protocol === 'https:' ? '443' : '80';
  const asked = url.port === '' ? usual : url.port;
  return port === undefined ? asked === usual : port === asked || (port === '80' && asked === '443');
}

/** A path that ends with a slash stands for all below it. */
function matchesPath(path: string | undefined, asked: string): boolean {
  if (path === undefined || path === '/') return true;
  return path.endsWith('/') ? asked.startsWith(path) : asked === path;
}

/** The directive as it must read to allow an origin too: what counts now, and the origin behind it. */
export function allowing(policy: Policy, { directive, url, nonce }: Wanted): string {
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
