// @ts-check
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Makes stacks name the lines of the sources. A source map is read when a stack first needs it. Node's own source maps read
 * all of them while modules load: 40 ms of processor time on each start.
 */
export function followSourceMaps() {
  /** @type {Map<string, SourceMap | null>} */
  const maps = new Map();
  Error.prepareStackTrace = (error, frames) =>
    [describe(error), ...frames.map((frame) => `    at ${toSource(String(frame), maps)}`)].join('\n');
}

/** @param {unknown} error */
function describe(error) {
  try {
    return String(error);
  } catch {
    return 'Error';
  }
}

/**
 * @param {string} frame
 * @param {Map<string, SourceMap | null>} maps by module.
 */
function toSource(frame, maps) {
  const [whole, url = '', line, column] = /(file:[^\s()?]+\.mjs)(?:\?[^\s():]*)?:(\d+):(\d+)/.exec(frame) ?? [];
  if (whole === undefined) return frame;
  const found = readMap(url, maps)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (!found || !('originalSource' in found)) return frame;
  const source = fileURLToPath(new URL(found.originalSource, url));
  return frame.replace(whole, () => `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`);
}

/**
 * @param {string} url
 * @param {Map<string, SourceMap | null>} maps
 */
function readMap(url, maps) {
  const known = maps.get(url);
  if (known !== undefined) return known;
  let map = null;
  try {
    map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')));
  } catch {
    // A module of a package.
  }
  maps.set(url, map);
  return map;
}
