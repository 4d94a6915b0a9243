import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorText, outboundReason, type HttpApi } from '#plugin-api';

interface Updating<Result> {
  /** A path, or an https address. */
  readonly from: string;
  readonly http: Pick<HttpApi, 'fetch'>;
  /** @param path absolute path of the zip file; its signature, if there is one, is `<path>.sig`. */
  readonly install: (path: string) => Promise<Result>;
}

/** Bytes: what an installation accepts unpacked, and then some for packages that cannot be compressed. */
const mostBytes = 25 * 1_048_576;

/** Installs an update from a zip file or an https address, where the signature has the same name and `.sig`. */
export async function updatePlugin<Result>({ from, http, install }: Updating<Result>): Promise<Result> {
  if (!/^[a-z]+:\/\//i.test(from)) return install(resolve(from));
  const address = new URL(from);
  if (address.protocol !== 'https:') throw new Error('Updates are loaded from https addresses only.');
  const folder = join(tmpdir(), `svc-update-${randomUUID()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const file = join(folder, 'plugin.zip');
    const zip = await http.fetch(address.href, { maxBytes: mostBytes, timeout: 60_000 }).catch((error: unknown) => {
      throw new Error(outboundReason(error) ?? errorText(error), { cause: error });
    });
    if (zip.status !== 200) throw new Error(`${address.href} responded with ${zip.status}.`);
    await writeFile(file, zip.body);
    address.pathname += '.sig';
    const signature = await http.fetch(address.href, { maxBytes: 1_000, truncate: true });
    if (signature.status === 200) await writeFile(`${file}.sig`, signature.body);
    return await install(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
