import { stat } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorText } from '#plugin-api';
import { installLimits } from '../loader/install/allowance.ts';
import { describeUnknown, readManifest } from '../loader/manifest.ts';
import type { PluginFolders } from '../log/plugin-folders.ts';
import { hostVersion } from '../site.ts';
import { checkCode } from './check-code.ts';
import { checkRun } from './check-run.ts';
import { checkTemplate, parseErrorOf } from './check-template.ts';
import { openCatalogs, reportLacking, textsOfCode, textsOfTemplate } from './check-translation.ts';
import { readHookReference } from './hook-reference.ts';
import { findPackages, listPackedFiles } from './pack.ts';
import { checkTypes } from './type-check.ts';

/** What `plugin check` found. */
export interface Finding {
  /** `error`: the check fails. */
  readonly level: 'error' | 'warning';
  readonly rule: string;
  /** Relative to the plugin's folder, with `:line` if known; empty for the plugin as a whole. */
  readonly at: string;
  /** What is wrong, and what to do. */
  readonly message: string;
}

/**
 * Checks a plugin as its users meet it: its files, its types, and a run in a host in memory, from activation to uninstallation.
 * It runs the plugin's code.
 *
 * @param folder absolute path.
 * @param progress gets a sentence at the begin of each part that takes seconds.
 */
export async function checkPlugin(
  folder: string,
  pluginFolders: PluginFolders,
  progress: (text: string) => void = () => undefined,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const add = (rule: string, message: string, at = ''): void =>
    void findings.push({ level: 'error', rule, at, message });
  const source = await readManifest({ directory: folder, folder: basename(folder), hostVersion }).catch(
    (error: unknown) => {
      add('manifest', errorText(error), 'plugin.json');
      return undefined;
    },
  );
  if (source === null) add('manifest', 'The folder has no plugin.json.', 'plugin.json');
  if (!source) return findings;
  if (source.manifest.description === '')
    findings.push({
      ...{ level: 'warning', rule: 'manifest', at: 'plugin.json' },
      message: 'Describe the plugin in one sentence, for the page Plugins.',
    });
  for (const name of source.unknown ?? [])
    findings.push({ level: 'warning', rule: 'manifest', at: 'plugin.json', message: describeUnknown(name) });
  if (source.manifest.autoActivate)
    add('manifest', 'Remove "autoActivate", which is reserved for plugins of the host.', 'plugin.json');
  const files = await listPackedFiles(folder).catch((error: unknown) => {
    add('size', errorText(error));
    return [];
  });
  progress('Reading the files …');
  const catalogs = openCatalogs(folder, source.manifest.slug);
  findings.push(...catalogs.findings);
  const texts: { text: string; at: string }[] = [];
  const rules = {
    ...{ slug: source.manifest.slug, hooks: await readHookReference() },
    hasAsset: (file: string) => existsSync(join(folder, 'assets', file)),
  };
  for (const name of files.filter((each) => !each.startsWith('node_modules/'))) {
    const read = (): string => readFileSync(join(folder, name), 'utf8');
    if (name.endsWith('.hbs')) {
      const unreadable = await parseErrorOf(name, read());
      findings.push(...checkTemplate(name, read()), ...(unreadable === null ? [] : [unreadable]));
      texts.push(...(await textsOfTemplate(name, read())));
    } else if (/\.[mc]?[jt]s$/.test(name) && !/^(?:assets|tests)\/|\.test\./.test(name)) {
      findings.push(...(await checkCode(name, read(), rules)));
      texts.push(...textsOfCode(name, read()));
    }
  }
  findings.push(...reportLacking(catalogs, texts));
  findings.push(...(await checkSize(folder, files)), ...(await checkLicenses(folder)));
  progress('Checking the types …');
  for (const { file, line, message } of await checkTypes(folder)) add('types', message, `${file}:${line}`);
  progress('Running the plugin in a host in memory …');
  findings.push(...(await checkRun({ source, pluginFolders, known: findings, catalogs, texts })));
  return findings;
}

async function checkSize(folder: string, files: readonly string[]): Promise<Finding[]> {
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const size = Math.ceil(bytes / 1024);
  if (files.length > installLimits.entries || bytes > installLimits.bytes)
    return [
      {
        ...{ level: 'error', rule: 'size', at: '' },
        message:
          `The plugin has ${files.length} files with ${size} KB; ` +
          `an installation takes ${installLimits.entries} files and 20 MB. ` +
          'List in .distignore what it does not need to run.',
      },
    ];
  if (bytes <= installLimits.bytes / 4) return [];
  return [
    {
      ...{ level: 'warning', rule: 'size', at: '' },
      message: `The plugin has ${files.length} files with ${size} KB. Is all of it needed to run?`,
    },
  ];
}

/** Licenses that allow to pass a package on with a plugin of any license. */
const freeLicenses =
  /^(?:MIT|MIT-0|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|Unlicense|CC0-1\.0|BlueOak-1\.0\.0|Python-2\.0|Zlib)$/;

async function checkLicenses(folder: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const name of await findPackages(folder)) {
    const at = `node_modules/${name}`;
    let license: unknown;
    try {
      ({ license } = JSON.parse(readFileSync(join(folder, at, 'package.json'), 'utf8')) as { license?: unknown });
    } catch {
      findings.push({ level: 'error', rule: 'license', at, message: 'The package is not installed. Run: npm install' });
      continue;
    }
    const names = typeof license === 'string' ? license.replace(/[()]/g, '').split(/ OR /) : [];
    if (names.length === 0)
      findings.push({ level: 'error', rule: 'license', at, message: 'The package names no license; replace it.' });
    else if (!names.some((each) => freeLicenses.test(each.trim())))
      findings.push({
        ...{ level: 'warning', rule: 'license', at },
        message: `Its license is ${names.join(' or ')}: make sure that you may pass it on with your plugin.`,
      });
  }
  return findings;
}
