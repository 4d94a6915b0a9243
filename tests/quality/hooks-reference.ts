import { neededFilters, shownFilters } from '../../host/hooks/shown-filters.ts';
import * as service from '../../plugins/svc/shown-filters.ts';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { findHookRuns, type HookRun } from './hook-runs.ts';

export interface HookDescription {
  readonly name: string;
  readonly kind: 'filter' | 'action';
  /** Of a filter: whether it is in SyncFilterMap. */
  readonly isSynchronous: boolean;
  /** Where it is declared. */
  readonly file: string;
  /** `title: string, postId: number`, as the types say it. */
  readonly parameters: readonly string[];
  readonly description: string;
  readonly since: string;
}

/**
 * Renders a table of the hooks that have types: name, when it runs, arguments, and an example to copy. A hook is as old as the
 * tag `@since` of its comment says, or as version 1.0.0.
 *
 * @param folders of the sources, such as `host/`.
 */
export function renderHooks(folders: readonly string[]): string {
  const hooks = listHooks(folders);
  const runs = findHookRuns(folders, new Set(hooks.map(({ name }) => name)));
  return hooks
    .sort((left, right) => left.name.localeCompare(right.name, 'en'))
    .map((hook) =>
      renderHook(
        hook,
        runs.filter((run) => run.hook === hook.name),
      ),
    )
    .join('\n\n');
}

/** The hooks that have types, in the sources below the folders. */
export function listHooks(folders: readonly string[]): HookDescription[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return /interface (?:(?:Sync)?Filter|Action)Map\b/.test(text) ? readHooks(file, text) : [];
  });
}

function readHooks(file: string, text: string): HookDescription[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: HookDescription[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && ['FilterMap', 'SyncFilterMap', 'ActionMap'].includes(node.name.text))
      for (const member of node.members) {
        const hook = readHook(member, node.name.text === 'ActionMap' ? 'action' : 'filter', source);
        if (hook) found.push({ ...hook, file, isSynchronous: node.name.text === 'SyncFilterMap' });
      }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function readHook(
  member: ts.TypeElement,
  kind: HookDescription['kind'],
  source: ts.SourceFile,
): Omit<HookDescription, 'file' | 'isSynchronous'> | null {
  if (!ts.isPropertySignature(member) || !member.type) return null;
  if (!ts.isFunctionTypeNode(member.type))
    throw new Error(`${member.name.getText(source)}: write its function type in place, which the reference shows.`);
  const since = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'since');
  const deprecated = ts.getJSDocDeprecatedTag(member);
  const [comment] = (member as ts.PropertySignature & { jsDoc?: readonly ts.JSDoc[] }).jsDoc ?? [];
  return {
    name: member.name.getText(source).replaceAll(/['"`]/g, ''),
    kind,
    parameters: member.type.parameters.flatMap((parameter) =>
      partsOf(parameter).map((part) => oneLine(part.getText(source))),
    ),
    description: oneLine(
      [
        ts.getTextOfJSDocComment(comment?.comment) ?? '',
        ...(deprecated ? [`Deprecated. ${ts.getTextOfJSDocComment(deprecated.comment) ?? ''}`] : []),
      ].join(' '),
    ),
    since: oneLine(ts.getTextOfJSDocComment(since?.comment) ?? '') || '1.0.0',
  };
}

/** Parameters that are written as one, `...args: [id: number, text: string]`, are named one by one. */
function partsOf(parameter: ts.ParameterDeclaration): readonly ts.Node[] {
  const { dotDotDotToken, type } = parameter;
  return dotDotDotToken && type && ts.isTupleTypeNode(type) && type.elements.every(ts.isNamedTupleMember)
    ? type.elements
    : [parameter];
}

/** What `keepValueOnError` declares. */
const keptFilters = new Set([...shownFilters, ...neededFilters, ...service.shownFilters]);

function renderHook(hook: HookDescription, runs: readonly HookRun[]): string {
  const { name, kind, parameters, description, since } = hook;
  const files = [...new Set(runs.map(({ file }) => file))].map((file) => `\`${file}\``);
  const names = parameters.map((parameter) => /^(?:\.\.\.)?(\w+)/.exec(parameter)?.[0] ?? parameter);
  const example =
    kind === 'filter'
      ? `host.hooks.addFilter('${name}', (${names.join(', ')}) => ${names[0] ?? 'undefined'});`
      : `host.hooks.addAction('${name}', (${names.join(', ')}) => {});`;
  return [
    `### \`${name}\``,
    [
      `${kind === 'filter' ? 'Filter' : 'Action'}, since ${since}${describeMode(hook, runs)}.`,
      description,
      keptFilters.has(name) ? 'If a callback throws, the value before it is used.' : '',
      `Run by ${files.join(', ') || `\`${hook.file}\``}.`,
    ]
      .filter(Boolean)
      .join(' '),
    ...parameters.map((parameter) => `- \`${parameter}\``),
    `\`\`\`js\n${example}\n\`\`\``,
  ]
    .join('\n\n')
    .replaceAll(/\n\n(?=- )/g, '\n')
    .replace('\n- ', '\n\n- ');
}

function describeMode({ kind, isSynchronous }: HookDescription, runs: readonly HookRun[]): string {
  if (kind === 'filter') return isSynchronous ? '; synchronous, so never `async`' : '; callbacks may be `async`';
  const isAwaited = runs.some(({ mode }) => mode === 'awaits');
  const isNot = runs.some(({ mode }) => mode === 'synchronous');
  return isAwaited === isNot ? '' : isAwaited ? '; callbacks are awaited' : '; promises are not awaited';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
