import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorText } from '#plugin-api';
import type { PluginFolders } from '../log/plugin-folders.ts';
import type { PluginSource } from '../loader/manifest.ts';
import type { ConformanceInit, ConformancePoint } from '../testing/conformance.ts';
import { added, linkPlugins, nameRests, readTraces } from '../testing/plugin-traces.ts';
import type { TestHost } from '../testing/test-host.ts';
import type { Finding } from './check.ts';
import { reportLacking, type PluginCatalogs } from './check-translation.ts';

/** The command `plugin test --conformance`. */
export async function runConformance(init: ConformanceInit): Promise<ConformancePoint[]> {
  return (await import('../testing/index.ts')).checkConformance(init);
}

export interface CheckRunInit {
  readonly source: PluginSource;
  /** Reports the errors of the plugin that nothing catches. */
  readonly pluginFolders: PluginFolders;
  /** Findings about its sources, which are not repeated. */
  readonly known: readonly Finding[];
  readonly catalogs: PluginCatalogs;
  /** The texts of its sources. */
  readonly texts: readonly { readonly text: string }[];
}

/** Runs the plugin in a host in memory: what it registers and how it is named, and what it leaves after it was uninstalled. */
export async function checkRun({ source, pluginFolders, ...init }: CheckRunInit): Promise<Finding[]> {
  const { createTestHost } = await import('../testing/index.ts');
  const folder = join(tmpdir(), `svc-check-${randomUUID()}`);
  // Plugins are installed into the first folder and deleted from it. The other one has links.
  const [empty, linked] = [join(folder, 'empty'), join(folder, 'linked')];
  await mkdir(empty, { recursive: true });
  await mkdir(linked);
  const required = linkPlugins(source, linked);
  const failures: Finding[] = [];
  const undo = pluginFolders.onReport((slug, error) => {
    if (slug === source.manifest.slug) failures.push(describeFailure(slug, error));
  });
  const host = await createTestHost({
    pluginFolders,
    plugins: 'found',
    pluginDirs: [empty, linked],
  });
  try {
    for (const slug of required) await host.plugins.activate(slug);
    const findings = await observe(host, source, init);
    await host.stop();
    return [...findings, ...failures];
  } finally {
    await host.stop();
    undo();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Warnings about what rules of the check find as well: members of the manifest, open routes, missing files. */
const hasOwnRule = /^(?:plugin\.json |The file '|The route .* has no 'permission')/;

function describeFailure(slug: string, error: unknown): Finding {
  return {
    ...{ level: 'error', rule: 'start', at: '' },
    message:
      `The plugin '${slug}' failed where nothing caught it: ${errorText(error)} ` +
      `Handle the event 'error' of servers and sockets, and await promises.`,
  };
}

async function observe(
  host: TestHost,
  source: PluginSource,
  { known, catalogs, texts }: Pick<CheckRunInit, 'known' | 'catalogs' | 'texts'>,
): Promise<Finding[]> {
  const { slug } = source.manifest;
  const prefix = slug.replaceAll('-', '_');
  const findings: Finding[] = [];
  const add = (rule: string, message: string): void => void findings.push({ level: 'error', rule, at: '', message });
  const requireOwn = (kind: string, names: readonly string[]): void => {
    for (const name of names)
      if (
        ![`${prefix}_`, `${slug}_`, `${slug}-`].some((start) => name.startsWith(start)) &&
        name !== prefix &&
        name !== slug
      )
        add('prefix', `Start the name of the ${kind} '${name}' with '${prefix}_', so that no other plugin has it.`);
  };
  const before = { ...(await readTraces(host)), ...(await readRegistered(host)) };
  try {
    await host.plugins.activate(slug);
    const after = { ...(await readTraces(host)), ...(await readRegistered(host)) };
    requireOwn('table', added(before.tables, after.tables));
    requireOwn('option', added(before.options, after.options));
    requireOwn('setting', added(before.settings, after.settings));
    requireOwn('metric', added(before.metrics, after.metrics));
    requireOwn('cron event', added(before.events, after.events));
    if (!known.some(({ rule }) => rule === 'permission'))
      for (const route of added(before.openRoutes, after.openRoutes))
        add(
          'permission',
          `The route ${route} is open to everyone. Add permission, with () => true if that is what you want.`,
        );
    const declared = host.translations.declaredBy(slug).filter((text) => !texts.some((each) => each.text === text));
    findings.push(
      ...reportLacking(
        catalogs,
        declared.map((text) => ({ text, at: '' })),
      ),
    );
    const { warnings = [] } = host.plugins.list().find((each) => each.slug === slug) ?? {};
    for (const message of warnings.filter((each) => !hasOwnRule.test(each)))
      findings.push({ level: 'warning', rule: 'definition', at: '', message });
    await host.plugins.deactivate(slug);
    const isLasting = added(before.tables, after.tables).length + added(before.options, after.options).length > 0;
    const failure = await host.plugins.uninstall(slug).then(() => null, errorText);
    if (failure !== null) add('uninstall', failure);
    const left = await readTraces(host);
    const rests = nameRests(before, left);
    if (isLasting || rests.length > 0) findings.push(...reportRests(rests));
  } catch (error) {
    add('start', errorText(error));
  }
  return findings;
}

function reportRests(rests: readonly string[]): Finding[] {
  return rests.map((rest) => ({
    ...{ level: 'error', rule: 'uninstall', at: '' },
    message: `${rest} Delete it in the function uninstall.`,
  }));
}

async function readRegistered({
  rest,
  options,
  fetch,
}: TestHost): Promise<Record<'openRoutes' | 'settings' | 'metrics', string[]>> {
  const metrics = await (await fetch('/metrics')).text();
  return {
    openRoutes: rest
      .describe()
      // The host adds an index and an OpenAPI document to each namespace.
      .filter(({ namespace, route }) => ![`/${namespace}`, `/${namespace}/openapi.json`].includes(route))
      .filter(({ endpoints }) => endpoints.some((each) => !each.hasPermission && !each.hasAuthentication))
      .map(({ route }) => route),
    settings: options.settings().map(({ name }) => name),
    metrics: [...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name),
  };
}
