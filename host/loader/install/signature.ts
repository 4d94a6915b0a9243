import { createPublicKey, verify } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { InstallError } from './allowance.ts';

/**
 * Checks an update of a plugin whose installed version names a key (`updateKey` of the manifest): only its author can have
 * signed it.
 *
 * @param path of the zip file; its signature is the file `<path>.sig`.
 * @throws InstallError if the signature is missing or wrong.
 */
export async function requireSignature(path: string, { slug, key }: { slug: string; key: string }): Promise<void> {
  if (!(await stat(path)).isFile())
    throw new InstallError(`The plugin '${slug}' takes signed updates only; install the zip file instead of a folder.`);
  const text = await readFile(`${path}.sig`, 'utf8').catch(() => null);
  if (text === null)
    throw new InstallError(
      `The plugin '${slug}' takes signed updates only, and this one has no signature. ` +
        `Put the file .sig of its author beside the zip file, then run: plugin update <zip>`,
    );
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'base64').toString('base64url') },
    format: 'jwk',
  });
  if (!verify(null, await readFile(path), publicKey, Buffer.from(text.trim(), 'base64')))
    throw new InstallError(
      `The signature of this update does not match the key of the plugin '${slug}': the file is damaged, or not from its author.`,
    );
}

/** Whether the text is a public ed25519 key: 32 bytes in base64. */
export function isPublicKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}
