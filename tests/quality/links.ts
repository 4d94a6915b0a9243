import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Every Markdown file that git tracks or would track. */
export function listDocuments(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' });
  return [...new Set(listed.split('\n'))].filter((file) => file !== '' && existsSync(file));
}

/** Links of a document whose file or heading does not exist. Other sites are not asked. */
export function brokenLinks(file: string, text = readFileSync(file, 'utf8')): readonly string[] {
  const prose = withoutCode(text);
  const links = [...prose.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : join(dirname(file), path);
    if (!existsSync(target)) return true;
    if (anchor === undefined) return false;
    const headings = target === file ? text : statSync(target).isFile() ? readFileSync(target, 'utf8') : '';
    return !anchorsOf(headings).has(anchor);
  });
}

/** Paths of sources that the Mermaid diagrams of a document name and that do not exist. */
export function brokenPaths(text: string): readonly string[] {
  const diagrams = [...text.matchAll(/```mermaid\n([^]*?)```/g)].map(([, diagram = '']) => diagram);
  const paths = diagrams.flatMap((diagram) =>
    [...diagram.matchAll(/(?<![\w./-])[\w./-]+\/[\w.-]+\.ts\b/g)].map(([path]) => path),
  );
  return paths.filter((path) => !existsSync(path));
}

/** The anchors that GitHub gives to the headings: a repeated one ends with -1, -2 and so on. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} +(\S.*)$/gm)) {
    const plain = heading.replace(/\[([^[\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .trim()
      .replace(/ /g, '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${String(count)}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(text: string): string {
  return text.replace(/^```[^]*?^```/gm, '');
}
