import type { OpenApiObject } from '#plugin-api';
import { readGroup, readPiece } from './pattern-reader.ts';

/** A part of a path that varies. */
export interface PathParameter {
  readonly name: string;
  /** The argument that describes it, where its name is another one. */
  readonly argument?: string;
  /** What the part looks like, as a regular expression without anchors. */
  readonly pattern: string;
}

/** A path as OpenAPI writes it: `/chat/{bot_id}/message`. */
export interface PathTemplate {
  readonly template: string;
  readonly parameters: readonly PathParameter[];
}

/** More ways than these are not told apart. */
const mostWays = 16;

/**
 * The templates of a route's pattern: one, or several where parts may be left out or chosen. Parts that vary without a
 * name are called `part1`, `part2` and so on.
 */
export function pathTemplates(path: string): PathTemplate[] {
  const ways = read(path).slice(0, mostWays).map(nameParts);
  return ways.filter(({ template }, index) => ways.findIndex((other) => other.template === template) === index);
}

/** A literal text, or a part that varies. */
type Piece = string | { readonly name: string | null; readonly pattern: string };
type Way = readonly Piece[];

/** Every way through the pattern. */
function read(pattern: string): Way[] {
  let ways: Way[] = [[]];
  const follow = (choices: readonly Way[]): void => {
    ways = ways.flatMap((way) => choices.map((choice) => [...way, ...choice])).slice(0, mostWays);
  };
  for (let rest = pattern; rest !== '';) {
    const group = readGroup(rest);
    if (group === null) {
      const { piece, length, isOptional } = readPiece(rest);
      follow(isOptional ? [[], [piece]] : [[piece]]);
      rest = rest.slice(length);
      continue;
    }
    const inside = group.name === null ? groupWays(group) : [[{ name: group.name, pattern: group.source }]];
    follow(group.isOptional ? [[], ...inside] : inside);
    rest = rest.slice(group.length);
  }
  return ways;
}

/** A group without a name: each of its choices, or one nameless part when it repeats. */
function groupWays({
  source,
  choices,
  isRepeated,
}: {
  readonly source: string;
  readonly choices: readonly string[];
  readonly isRepeated: boolean;
}): Way[] {
  if (isRepeated) return [[{ name: null, pattern: `(?:${source})+` }]];
  return choices.flatMap(read);
}

function nameParts(way: Way): PathTemplate {
  const parameters: PathParameter[] = [];
  let template = '';
  let nameless = 0;
  for (const piece of way) {
    if (typeof piece === 'string') {
      template += piece;
      continue;
    }
    const name = piece.name ?? `part${++nameless}`;
    parameters.push({ name, pattern: piece.pattern });
    template += `{${name}}`;
  }
  return { template: template.length > 1 ? template.replace(/\/$/, '') : template, parameters };
}

/** The schema of a part of the path that no argument describes. */
export function parameterSchema({ pattern }: PathParameter): OpenApiObject {
  if (/^(\\d|\[\\d\]|\[0-9\])(\+|\{\d+(,\d*)?\})?$/.test(pattern)) return { type: 'integer' };
  const words = pattern.replace(/^\(\?:(.*)\)$/, '$1').split('|');
  if (words.length > 1 && words.every((word) => /^[\w~-]+$/.test(word))) return { type: 'string', enum: words };
  return pattern === '[^/]+' ? { type: 'string' } : { type: 'string', pattern: `^(?:${pattern})$` };
}
