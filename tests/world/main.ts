import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findData } from './data.ts';
import type { Kind } from './measure.ts';
import { findMissed, raiseFloors, report, type Floors } from './report.ts';

/*
 * `npm run world [-- vendors|models|questions|files|feeds|text|mcp ...] [--raise] [--all]`: tries the product on data
 * that others made, through the doors of its users, and prints a table for each kind with the first things that went wrong.
 * `--raise` raises the floors in floors.json to the figures reached; `--all` prints everything that went wrong. Exit code 1: a figure
 * is below its floor. Exit code 2: the data is not there.
 */

const names = ['vendors', 'models', 'questions', 'files', 'feeds', 'text', 'mcp'] as const;
/** `mcp` brings its own inputs; each of the others reads the folder of its name. */
const hasData = (name: string): boolean => name !== 'mcp';
const floorsFile = new URL('./floors.json', import.meta.url);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { raise: { type: 'boolean', default: false }, all: { type: 'boolean', default: false } },
  });
  const unknown = positionals.find((name) => !names.includes(name as (typeof names)[number]));
  if (unknown !== undefined) throw new Error(`There is no kind ${unknown}. Kinds: ${names.join(', ')}.`);
  const chosen = names.filter((name) => positionals.length === 0 || positionals.includes(name));
  const missing = chosen.filter((name) => hasData(name) && findData(name) === null);
  if (missing.length > 0) {
    console.error(
      `The data of ${missing.join(', ')} is not there: set WORLD_DATA to the folder that holds ${missing.join(', ')}.`,
    );
    return 2;
  }
  let floors = JSON.parse(readFileSync(floorsFile, 'utf8')) as Floors;
  const missed: string[] = [];
  let figures = 0;
  for (const name of chosen) {
    const { kind } = (await import(`./${name}.ts`)) as { readonly kind: Kind };
    const began = performance.now();
    const rows = await kind.run(findData(name) ?? '');
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(report(`${kind.title} (${seconds} s)`, rows, floors[name]));
    if (values.all)
      for (const row of rows) for (const { id, reason } of row.faults) console.log(`  - ${row.name}: ${id}: ${reason}`);
    figures += rows.length;
    missed.push(...findMissed(name, rows, floors));
    if (values.raise) floors = raiseFloors(name, rows, floors);
  }
  if (values.raise) writeFileSync(floorsFile, `${JSON.stringify(floors, null, 2)}\n`);
  for (const line of missed) console.log(`Below its floor: ${line}`);
  console.log(`\n${figures} figures, ${missed.length} below their floors.`);
  return missed.length > 0 ? 1 : 0;
}

process.exitCode = await main();
