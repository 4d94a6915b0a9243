import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** What the site asks the browser for. */
interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id?: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

export interface Changes {
  readonly origin?: string;
  readonly challenge?: string;
  readonly counter?: number;
  /** Whether the authenticator has verified its user. Default true. */
  readonly verified?: boolean;
  readonly userHandle?: string;
  /** Signs with a key that the site does not know. */
  readonly otherKey?: boolean;
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();

/** A browser with one passkey, made of node's own cryptography: creates it, and signs in with it. */
export function createSoftwareAuthenticator(origin: string) {
  const id = randomBytes(16);
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let counter = 0;
  let userHandle = '';

  function clientData(type: string, challenge: string, at: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }));
  }

  function authenticatorData({ rpId, flags, count }: { rpId: string; flags: number; count: number }): Buffer {
    const numbers = Buffer.alloc(5);
    numbers.writeUInt8(flags, 0);
    numbers.writeUInt32BE(count, 1);
    return Buffer.concat([sha256(rpId), numbers]);
  }

  return {
    id: base64url(id),
    /** The response to the options of a registration, as JSON text. */
    create(options: Options, { origin: at = origin, challenge, verified = true }: Changes = {}): string {
      userHandle = options.user?.id ?? '';
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const data = Buffer.concat([
        authenticatorData({ rpId: options.rp?.id ?? '', flags: 0x41 | (verified ? 0x04 : 0), count: counter }),
        Buffer.alloc(16),
        length,
        id,
        coseKey(pair.publicKey),
      ]);
      const attestation = isoCBOR.encode(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', new Uint8Array(data)],
        ]) as never,
      );
      return JSON.stringify({
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', challenge ?? options.challenge, at)),
          attestationObject: base64url(attestation),
          transports: ['internal'],
        },
      });
    },
    /** The response to the options of a sign-in, as JSON text. */
    get(options: Options, changes: Changes = {}): string {
      counter = changes.counter ?? counter + 1;
      const client = clientData('webauthn.get', changes.challenge ?? options.challenge, changes.origin ?? origin);
      const flags = 0x01 | ((changes.verified ?? true) ? 0x04 : 0);
      const data = authenticatorData({ rpId: options.rpId ?? '', flags, count: counter });
      const key = changes.otherKey ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : pair.privateKey;
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(key);
      return JSON.stringify({
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: base64url(signature),
          userHandle: changes.userHandle ?? userHandle,
        },
      });
    },
  };
}

/** An ES256 key as COSE. */
function coseKey(key: KeyObject): Uint8Array {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return isoCBOR.encode(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ]) as never,
  );
}
