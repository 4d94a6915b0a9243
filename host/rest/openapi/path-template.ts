import type { OpenApiObject } from '#plugin-api';
import { readGroup, readPiece } from './pattern-reader.ts';

/** A part of a path that varies. */
export interface PathParameter {
  readonly name: string;
  /** Name of the argument that describes it, if different. */
  readonly argument?: string;
  /** Regular expression for the part, without anchors. */
  readonly pattern: string;
}

/** A path as OpenAPI writes it: `/chat/{bot_id}/message`. */
export interface PathTemplate {
  readonly template: string;
  readonly parameters: readonly PathParameter[];
}

/** Maximum number of variants of a path. */
const maxVariants = 16;

/**
 * The templates of a route's pattern: several if it has optional parts or alternatives. Unnamed variable parts are called
 * `part1`, `part2` and so on.
 */
export function pathTemplates(path: string): PathTemplate[] {
  const variants = read(path).slice(0, maxVariants).map(nameParts);
  return variants.filter(({ template }, index) => variants.findIndex((other) => other.template === template) === index);
}

/** A literal text, or a part that varies. */
type Piece = string | { readonly name: string | null; readonly pattern: string };
type Variant = readonly Piece[];

/** All variants of the pattern. */
function read(pattern: string): Variant[] {
  let variants: Variant[] = [[]];
  const follow = (choices: readonly Variant[]): void => {
    variants = variants.flatMap((variant) => choices.map((choice) => [...variant, ...choice])).slice(0, maxVariants);
  };
  for (let rest = pattern; rest !== '';) {
    const group = readGroup(rest);
    if (group === null) {
      const { piece, length, isOptional } = readPiece(rest);
      follow(isOptional ? [[], [piece]] : [[piece]]);
      rest = rest.slice(length);
      continue;
    }
    const inside = group.name === null ? groupVariants(group) : [[{ name: group.name, pattern: group.source }]];
    follow(group.isOptional ? [[], ...inside] : inside);
    rest = rest.slice(group.length);
  }
  return variants;
}

/** A group without a name: each of its alternatives, or one unnamed part when it repeats. */
function groupVariants({
  source,
  choices,
  isRepeated,
}: {
  readonly source: string;
  readonly choices: readonly string[];
  readonly isRepeated: boolean;
}): Variant[] {
  if (isRepeated) return [[{ name: null, pattern: `(?:${source})+` }]];
  return choices.flatMap(read);
}

function nameParts(variant: Variant): PathTemplate {
  const parameters: PathParameter[] = [];
  let template = '';
  let unnamed = 0;
  for (const piece of variant) {
    if (typeof piece === 'string') {
      template += piece;
      continue;
    }
    const name = piece.name ?? `part${++unnamed}`;
    parameters.push({ name, pattern: piece.pattern });
    template += `{${name}}`;
  }
  return { template: template.length > 1 ? template.replace(/\/$/, '') : template, parameters };
}

/** The schema of a path parameter without an argument. */
export function parameterSchema({ pattern }: PathParameter): OpenApiObject {
  if (/^(\\d|\[\\d\]|\[0-9\])(\+|\{\d+(,\d*)?\})?$/.test(pattern)) return { type: 'integer' };
  const alternatives = pattern.replace(/^\(\?:(.*)\)$/, '$1').split('|');
  if (alternatives.length > 1 && alternatives.every((text) => /^[\w~-]+$/.test(text)))
    return { type: 'string', enum: alternatives };
  return pattern === '[^/]+' ? { type: 'string' } : { type: 'string', pattern: `^(?:${pattern})$` };
}
