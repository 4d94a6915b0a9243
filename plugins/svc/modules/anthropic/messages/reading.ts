import type { ImageAddresses } from '../../../ai/image-addresses.ts';

/** What is noted while a request is read. */
export interface Reading {
  /** Whether its provider gets it as it was sent: then it is read for estimates alone, and nothing is judged. */
  readonly isNative: boolean;
  readonly images: ImageAddresses;
  /** Paths of members that the service cannot say in another format, and that change the answer. */
  readonly needed: string[];
  /** Names of those that do not. */
  readonly spared: string[];
}

type Members = Readonly<Record<string, unknown>>;

export interface KnownMembers {
  /** Members that are read. */
  readonly read: readonly string[];
  /** Members that may be left out. */
  readonly spared?: readonly string[];
  /** Notes the others. */
  readonly reading: Reading;
}

/** Members that no format but Anthropic's has, on anything that can be cached or cited. */
export const sparedMembers = ['cache_control', 'citations'] as const;

/** Notes the other members of an object. @param path with a dot at its end, or empty */
export function noteMembers(object: Members, path: string, { read, spared = [], reading }: KnownMembers): void {
  for (const [name, value] of Object.entries(object)) {
    if (value === null || read.includes(name) || isEmpty(value)) continue;
    if (spared.includes(name)) reading.spared.push(name);
    else reading.needed.push(path + name);
  }
}

/** An empty list asks for nothing. */
function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
