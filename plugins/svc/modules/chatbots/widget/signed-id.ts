import { isSameSecret } from '#plugin-api';
import type { Signer } from '../../../kit/visitors/signer.ts';

/**
 * UUIDs (version 8) whose second half is a signature over the first half and a scope. The server can so verify an id that
 * it does not store. The same seed gives the same id.
 */
export interface SignedIds {
  create(scope: readonly (string | number)[], seed: readonly (string | number)[]): Promise<string>;
  verify(id: string, scope: readonly (string | number)[]): Promise<boolean>;
}

const halfBytes = 8;

export function createSignedIds(signer: Signer): SignedIds {
  const signatureOf = async (first: Buffer, scope: readonly (string | number)[]): Promise<Buffer> => {
    const signature = Buffer.from((await signer.sign('id', [first.toString('hex'), ...scope])).subarray(0, halfBytes));
    signature[0] = ((signature[0] ?? 0) & 0x3f) | 0x80;
    return signature;
  };
  return {
    async create(scope, seed) {
      const first = Buffer.from((await signer.sign('id-seed', [...scope, '|', ...seed])).subarray(0, halfBytes));
      first[6] = ((first[6] ?? 0) & 0x0f) | 0x80;
      return format(Buffer.concat([first, await signatureOf(first, scope)]));
    },
    async verify(id, scope) {
      if (!isUuid(id)) return false;
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
      return isSameSecret(await signatureOf(bytes.subarray(0, halfBytes), scope), bytes.subarray(halfBytes));
    },
  };
}

export function isUuid(id: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id);
}

function format(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
