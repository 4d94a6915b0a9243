import { readFile, writeFile } from 'node:fs/promises';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { normalizePassword, passwordPrefix } from './common-passwords.ts';

/** How many of the commonest passwords are listed whatever their length. */
const commonest = 100_000;
/** Of the rest, those that the policy would otherwise accept. */
const minLength = 12;

/**
 * Builds `common-passwords.bin` from a list of passwords, the commonest first: the sorted, distinct 32-bit prefixes of their
 * hashes. Run `node host/users/common-passwords/build.ts <list.txt>`; see README.md for the list.
 */
async function build(list: string): Promise<void> {
  const passwords = (await readFile(list, 'utf8')).split('\n').map((line) => line.replace(/\r$/, ''));
  const selected = passwords.filter(
    (password, index) => password !== '' && (index < commonest || password.length >= minLength),
  );
  const prefixes = Uint32Array.from(
    new Set(selected.map((password) => passwordPrefix(normalizePassword(password)))),
  ).sort();
  const bytes = Buffer.alloc(prefixes.length * 4);
  for (const [index, prefix] of prefixes.entries()) bytes.writeUInt32BE(prefix, index * 4);
  await writeFile(fileURLToPath(new URL('common-passwords.bin', import.meta.url)), bytes);
  console.log(`${selected.length} passwords, ${prefixes.length} prefixes, ${bytes.length} bytes`);
}

await build(argv[2] ?? '');
