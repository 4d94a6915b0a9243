import { normalizeText } from '#plugin-api';
import { normalised } from '../vectors/nearest.ts';
import { stem } from './stem.ts';
import { wordWeight } from './word-weight.ts';

/** Positions of the vector each feature is added to: two that differ seldom meet in both. */
const positionsPerFeature = 2;
/** Share of a word's weight that its parts have, all together; that of two words in a row. */
const partsShare = 0.4;
const pairShare = 0.25;

/**
 * A generated embedding: words, pairs of neighbours and parts of words, hashed into a vector of length 1. The same text
 * and model have the same vector everywhere; texts with words or parts of words in common are near, the more so the
 * rarer these are; of a meaning it knows nothing.
 *
 * @param text of any length; blank ones have a vector too.
 *
 * @param dimension 1 or more.
 * @param model vectors of different models have nothing in common, as with real ones.
 */
export function textVector(
  text: string,
  { dimension, model }: { readonly dimension: number; readonly model: string },
): Float32Array {
  const vector = new Float64Array(dimension);
  const salt = mix(hash(`model ${model}`));
  for (const [feature, { count, weight }] of features(text)) {
    // The tenth mention says less than the first.
    const value = weight * (1 + Math.log(count));
    let code = feature ^ salt;
    for (let index = 0; index < positionsPerFeature; index += 1) {
      code = mix(code + 0x9e3779b9);
      const index = (code >>> 1) % dimension;
      vector[index] = (vector[index] ?? 0) + (code & 1 ? value : -value);
    }
  }
  // In very short vectors what is added may cancel out.
  if (vector.every((value) => value === 0)) vector[mix(hash(text)) % dimension] = 1;
  return normalised(vector);
}

interface Feature {
  count: number;
  readonly weight: number;
}

/** Features by their hash. */
function features(text: string): Map<number, Feature> {
  const found = new Map<number, Feature>();
  const add = (code: number, weight: number): void => {
    const known = found.get(code);
    if (known) known.count += 1;
    else found.set(code, { count: 1, weight });
  };
  let before: { readonly root: string; readonly weight: number } | undefined;
  for (const word of wordsOf(text)) {
    const weight = wordWeight(word);
    const root = stem(word);
    add(hash(`word ${root}`), weight);
    if (before) add(hash(`pair ${before.root} ${root}`), pairShare * Math.min(before.weight, weight));
    const parts = partsOf(root);
    for (const part of parts) add(part, (partsShare * weight) / Math.sqrt(parts.length));
    before = { root, weight };
  }
  // A text without words has a vector as well.
  if (found.size === 0) add(hash(`text ${text}`), 1);
  return found;
}

/** Words in small letters without accents; where a script has no spaces, its characters two by two. */
function wordsOf(text: string): string[] {
  const foundWords =
    normalizeText(text, 'NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+(?:'[\p{L}]+)?/gu) ?? [];
  return foundWords.flatMap((word) =>
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(word) ? pairsOf(word) : [word],
  );
}

function pairsOf(word: string): string[] {
  const letters = [...word];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, index) => `${letters[index] ?? ''}${letter}`);
}

/** Hashes of the runs of 3 to 5 characters, the word's bounds among them. */
function partsOf(word: string): number[] {
  const bounded = `<${word}>`;
  const parts: number[] = [];
  for (let start = 0; start + 3 <= bounded.length; start += 1) {
    let code = fnvStart;
    for (let length = 1; length <= 5 && start + length <= bounded.length; length += 1) {
      code = step(code, bounded.charCodeAt(start + length - 1));
      if (length >= 3) parts.push(code);
    }
  }
  return parts;
}

const fnvStart = 0x811c9dc5;

function step(code: number, character: number): number {
  return Math.imul(code ^ character, 0x01000193);
}

/** FNV-1a. */
function hash(text: string): number {
  let code = fnvStart;
  for (let index = 0; index < text.length; index += 1) code = step(code, text.charCodeAt(index));
  return code;
}

/** Spreads every bit over all 32. */
function mix(code: number): number {
  const first = Math.imul(code ^ (code >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
