import type { Signer } from '../../../kit/visitors/signer.ts';

/**
 * UUIDs (version 8) whose second half vouches for what they belong to, so that an id of which nothing is stored can be told
 * from one that somebody made up. The same seed gives the same id.
 */
export interface SealedIds {
  make(scope: readonly (string | number)[], seed: readonly (string | number)[]): Promise<string>;
  isOf(id: string, scope: readonly (string | number)[]): Promise<boolean>;
}

const half = 8;

export function createSealedIds(signer: Signer): SealedIds {
  const sealOf = async (first: Buffer, scope: readonly (string | number)[]): Promise<Buffer> => {
    const seal = Buffer.from((await signer.sign('id', [first.toString('hex'), ...scope])).subarray(0, half));
    seal[0] = ((seal[0] ?? 0) & 0x3f) | 0x80;
    return seal;
  };
  return {
    async make(scope, seed) {
      const first = Buffer.from((await signer.sign('id-seed', [...scope, '|', ...seed])).subarray(0, half));
      first[6] = ((first[6] ?? 0) & 0x0f) | 0x80;
      return format(Buffer.concat([first, await sealOf(first, scope)]));
    },
    async isOf(id, scope) {
      if (!isUuid(id)) return false;
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
      return (await sealOf(bytes.subarray(0, half), scope)).equals(bytes.subarray(half));
    },
  };
}

export function isUuid(id: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id);
}

function format(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
