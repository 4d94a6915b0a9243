import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

interface HookDescription {
  readonly name: string;
  readonly kind: 'filter' | 'action';
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
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
  const hooks = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return /interface (?:Filter|Action)Map\b/.test(text) ? readHooks(file, text) : [];
  });
  return hooks
    .sort((left, right) => left.name.localeCompare(right.name, 'en'))
    .map(renderHook)
    .join('\n\n');
}

function readHooks(file: string, text: string): HookDescription[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: HookDescription[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && ['FilterMap', 'ActionMap'].includes(node.name.text))
      for (const member of node.members) {
        const hook = readHook(member, node.name.text === 'FilterMap' ? 'filter' : 'action', source);
        if (hook) found.push(hook);
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
): HookDescription | null {
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

function renderHook({ name, kind, parameters, description, since }: HookDescription): string {
  const names = parameters.map((parameter) => /^(?:\.\.\.)?(\w+)/.exec(parameter)?.[0] ?? parameter);
  const example =
    kind === 'filter'
      ? `host.hooks.addFilter('${name}', (${names.join(', ')}) => ${names[0] ?? 'undefined'});`
      : `host.hooks.addAction('${name}', (${names.join(', ')}) => {});`;
  return [
    `### \`${name}\``,
    `${kind === 'filter' ? 'Filter' : 'Action'}, since ${since}. ${description}`.trim(),
    ...parameters.map((parameter) => `- \`${parameter}\``),
    `\`\`\`js\n${example}\n\`\`\``,
  ]
    .join('\n\n')
    .replaceAll(/\n\n(?=- )/g, '\n')
    .replace('\n- ', '\n\n- ');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
