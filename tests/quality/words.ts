import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { inName, inText } from './lint/banned-words.js';

/** A banned word outside TypeScript and JavaScript, which ESLint reads: in templates, style sheets, documents and file names. */
export interface Breach {
  readonly file: string;
  /** 1 for a file's name. */
  readonly line: number;
  readonly found: string;
  readonly say: string;
}

const documents = /\.(hbs|css|md|json|svg|yml|html)$/;
const glossary = 'plugins/svc/GLOSSARY.md';

/** Checks what git tracks, and new files that it does not ignore, in host, plugins, views and the top-level documents. */
export function findBannedWords(): Breach[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '-co', '--exclude-standard', 'host', 'plugins', 'views', '.github', '*.md'],
    {
      encoding: 'utf8',
    },
  ).split('\n');
  const files = [...new Set(listed)].filter((file) => file !== '' && existsSync(file));
  return [
    ...files.flatMap((file) => breachesOfName(file)),
    ...files.filter((file) => documents.test(file)).flatMap((file) => breachesOfText(file, readFileSync(file, 'utf8'))),
  ];
}

export function breachesOfName(file: string): Breach[] {
  return inName(file.replaceAll('/', ' '), file).map(({ say }) => ({ file, line: 1, found: file, say }));
}

/** The glossary's own table of words that are not used is exempt: it names them. */
export function breachesOfText(file: string, text: string): Breach[] {
  const checked = file === glossary ? text.replace(/\n## Words we do not use[^]*/, '') : text;
  return checked
    .split('\n')
    .flatMap((line, index) => inText(line, file).map(({ say, found }) => ({ file, line: index + 1, found, say })));
}

if (process.argv[1] === import.meta.filename) {
  const prefixes = process.argv.slice(2);
  const breaches = findBannedWords().filter(
    ({ file }) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)),
  );
  for (const { file, line, found, say } of breaches) process.stdout.write(`${file}:${line} "${found}": say ${say}\n`);
  process.stdout.write(`${breaches.length} banned words\n`);
}
