import type { Clock, HooksApi, Logger, OptionsApi, SecretsApi, User } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import type { CapabilityHooks } from '../user.ts';
import { createChallenges } from './challenges.ts';
import { createPasskeyStore, type Passkey } from './passkey-store.ts';
import { createPasskeys, type PasskeyRequest, type PasskeyResponse, type Passkeys } from './passkeys.ts';
import { createPendingSignIns, type PendingSignIns } from './pending-sign-ins.ts';
import { createRecoveryCodes } from './recovery-codes.ts';
import { passkeySupport, type PasskeySupport } from './relying-party.ts';
import { createTotpSecrets } from './totp-secrets.ts';
import { totpUri } from './totp.ts';

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** Whether a user must use two-step sign-in. Default: by the roles in the setting. */
    two_factor_required: (required: boolean, user: User) => boolean;
  }
  interface ActionMap {
    /** After a user turned on an authenticator app. */
    two_factor_enabled: (userId: number, method: 'totp') => void;
    /** After an authenticator app was turned off, or all methods were reset by `actorId` (0: the command line). */
    two_factor_disabled: (userId: number, method: 'totp' | 'all', actorId: number) => void;
    /** After a user added a passkey. */
    passkey_added: (userId: number, passkeyId: string) => void;
    /** After a passkey of a user was removed. */
    passkey_removed: (userId: number, passkeyId: string) => void;
    /** After new recovery codes replaced those of a user. */
    recovery_codes_generated: (userId: number) => void;
    /** After a sign-in with a recovery code. `left` is the number of unused codes. */
    recovery_code_used: (userId: number, left: number) => void;
  }
}

/** Roles whose users must use two-step sign-in. */
export const twoFactorRolesOption = 'two_factor_roles';

export interface TwoFactorStatus {
  /** When the authenticator app was turned on, in milliseconds since the epoch; null: off. */
  readonly totpSince: number | null;
  readonly passkeys: readonly Passkey[];
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number;
  /** Whether the site requires two-step sign-in of this user. */
  readonly isRequired: boolean;
}

export interface TotpSetup {
  /** Base32 text to type into the app. */
  readonly secret: string;
  /** `otpauth://` link for the QR code. */
  readonly uri: string;
}

export type CodeMethod = 'totp' | 'recovery_code';

/**
 * Second steps of sign-in: authenticator apps (TOTP), passkeys and recovery codes. Everything is in the database, so all
 * nodes agree, and a code or challenge that was used on one node is used on all.
 */
export interface TwoFactor {
  /** Whether the user has an authenticator app or a passkey. */
  isEnabled(userId: number): Promise<boolean>;
  hasPasskey(userId: number): Promise<boolean>;
  isRequired(user: User): Promise<boolean>;
  /** Whether only a failure of the filter `two_factor_required`, which is logged, makes it required. */
  isRequiredByFailure(user: User): Promise<boolean>;
  status(user: User): Promise<TwoFactorStatus>;
  /** Null if an app is on already. */
  beginTotp(user: User): Promise<TotpSetup | null>;
  /**
   * Turns the app on if the code is right. Returns null for a wrong code, else new recovery codes, shown once; an empty
   * list if the user already has codes.
   */
  confirmTotp(userId: number, code: string): Promise<readonly string[] | null>;
  /** Returns whether it was on. The last method also removes the recovery codes. */
  disableTotp(userId: number): Promise<boolean>;
  /** Whether this is a right code of the app or a recovery code, and which. It is used up. */
  useCode(userId: number, code: string): Promise<CodeMethod | null>;
  generateRecoveryCodes(userId: number): Promise<readonly string[]>;
  requestPasskey(user: User, session: string): Promise<PasskeyRequest>;
  /** Recovery codes as for `confirmTotp`. @throws RestError 400. */
  addPasskey(
    user: User,
    init: PasskeyResponse & { readonly session: string; readonly name: string },
  ): Promise<readonly string[]>;
  renamePasskey(init: { readonly userId: number; readonly id: string; readonly name: string }): Promise<boolean>;
  /** Returns whether it existed. The last method also removes the recovery codes. */
  removePasskey(userId: number, id: string): Promise<boolean>;
  /**
   * Removes all methods of a user who has lost them, and ends all sessions of the user.
   *
   * @param actorId user who does it; 0: the command line. @returns whether there was any method.
   */
  reset(userId: number, actorId: number): Promise<boolean>;
  /** Whether passkeys work at the address of the site. */
  passkeySupport(): PasskeySupport;
  readonly signIn: Pick<Passkeys, 'requestSignIn' | 'verifySignIn'>;
  readonly pending: PendingSignIns;
}

export interface TwoFactorDependencies {
  readonly database: Pick<Database, 'knex' | 'transaction' | 'lock'>;
  readonly secrets: SecretsApi & { deriveKey(purpose: string): Buffer };
  /** Keys of recovery codes from before the key was rotated. Default: none. */
  readonly formerKeys?: { find(purpose: 'recovery-codes'): Promise<readonly { readonly key: Buffer }[]> };
  readonly options: Pick<OptionsApi, 'get'>;
  readonly hooks: Pick<HooksApi, 'doActionAsync'> & CapabilityHooks;
  readonly site: { readonly url: string; name(): Promise<string> };
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

export function createTwoFactor(dependencies: TwoFactorDependencies): TwoFactor {
  const { database, secrets, options, hooks, site, log } = dependencies;
  const parts = createParts(dependencies);
  const { totp, store, recovery, passkeys, pending } = parts;

  const hasPasskey = async (userId: number): Promise<boolean> => (await store.list(userId)).length > 0;
  const isEnabled = async (userId: number): Promise<boolean> =>
    (await totp.confirmedAt(userId)) !== null || (await hasPasskey(userId));

  async function readRequirement(user: User): Promise<'none' | 'required' | 'by failure'> {
    const roles = await options.get<unknown>(twoFactorRolesOption);
    const isListed = Array.isArray(roles) && user.roles.some((role) => roles.includes(role));
    try {
      return hooks.applyFilters('two_factor_required', isListed, user) ? 'required' : 'none';
    } catch (error) {
      hooks.reportFilterFailure?.('two_factor_required', error);
      return isListed ? 'required' : 'by failure';
    }
  }
  async function isRequired(user: User): Promise<boolean> {
    return (await readRequirement(user)) !== 'none';
  }

  async function generateRecoveryCodes(userId: number): Promise<readonly string[]> {
    const codes = await recovery.generate(userId);
    log.info('Recovery codes generated', { event: 'recovery_codes_generated', user: userId });
    await hooks.doActionAsync('recovery_codes_generated', userId);
    return codes;
  }
  const firstCodes = async (userId: number): Promise<readonly string[]> =>
    (await recovery.count(userId)) === 0 ? generateRecoveryCodes(userId) : [];
  async function removeLeftCodes(userId: number): Promise<void> {
    if (!(await isEnabled(userId))) await recovery.removeAll(userId);
  }

  return {
    isEnabled,
    hasPasskey,
    isRequired,
    isRequiredByFailure: async (user) => (await readRequirement(user)) === 'by failure',
    generateRecoveryCodes,
    passkeySupport: () => passkeySupport(site.url),
    signIn: passkeys,
    pending,
    async status(user) {
      return {
        totpSince: await totp.confirmedAt(user.id),
        passkeys: await store.list(user.id),
        recoveryCodes: await recovery.count(user.id),
        isRequired: await isRequired(user),
      };
    },
    async beginTotp(user) {
      const secret = await totp.begin(user.id);
      if (secret === null) return null;
      return { secret, uri: await totpUri({ secret, issuer: await site.name(), account: user.login }) };
    },
    async confirmTotp(userId, code) {
      if (!(await totp.confirm(userId, code.replace(/\s/g, '')))) return null;
      log.info('Authenticator app turned on', { event: 'two_factor_enabled', user: userId, method: 'totp' });
      await hooks.doActionAsync('two_factor_enabled', userId, 'totp');
      return firstCodes(userId);
    },
    async disableTotp(userId) {
      const wasOn = await totp.remove(userId);
      await removeLeftCodes(userId);
      if (wasOn) {
        log.info('Authenticator app turned off', { event: 'two_factor_disabled', user: userId, method: 'totp' });
        await hooks.doActionAsync('two_factor_disabled', userId, 'totp', userId);
      }
      return wasOn;
    },
    async useCode(userId, code) {
      const digits = code.replace(/\s/g, '');
      // Recovery codes work even if the secret of the app cannot be read.
      const app = await totp.use(userId, digits).catch((error: unknown) => ({ error }));
      if (app === true) return 'totp';
      if (!(await isEnabled(userId)) || !(await recovery.use(userId, code))) {
        if (app !== false) throw app.error;
        return null;
      }
      const left = await recovery.count(userId);
      log.warn('Recovery code used', { event: 'recovery_code_used', user: userId, left });
      await hooks.doActionAsync('recovery_code_used', userId, left);
      return 'recovery_code';
    },
    requestPasskey: (user, session) => passkeys.requestRegistration(user, session),
    async addPasskey(user, init) {
      const { id } = await passkeys.register(user, init);
      log.info('Passkey added', { event: 'passkey_added', user: user.id, passkey: id });
      await hooks.doActionAsync('passkey_added', user.id, id);
      return firstCodes(user.id);
    },
    renamePasskey: (init) => store.rename(init),
    async removePasskey(userId, id) {
      const removed = await store.remove(userId, id);
      await removeLeftCodes(userId);
      if (removed !== null) {
        log.info('Passkey removed', { event: 'passkey_removed', user: userId, passkey: id });
        await hooks.doActionAsync('passkey_removed', userId, id);
      }
      return removed !== null;
    },
    async reset(userId, actorId) {
      const had = await database.transaction(async () => {
        const had = await isEnabled(userId);
        await totp.remove(userId);
        await store.removeAll(userId);
        await recovery.removeAll(userId);
        await pending.removeAll(userId);
        await database.knex('sessions').where({ user_id: userId }).delete();
        return had;
      });
      log.warn('Two-step sign-in reset', { event: 'two_factor_disabled', user: userId, method: 'all', actor: actorId });
      await hooks.doActionAsync('two_factor_disabled', userId, 'all', actorId);
      return had;
    },
  };

  function createParts({ clock, formerKeys }: TwoFactorDependencies) {
    const challenges = createChallenges({ database, clock, key: () => secrets.deriveKey('passkey-challenges') });
    const store = createPasskeyStore({ database, clock });
    return {
      store,
      totp: createTotpSecrets({ database, secrets, clock }),
      recovery: createRecoveryCodes({
        database,
        key: () => secrets.deriveKey('recovery-codes'),
        formerKeys: async () => ((await formerKeys?.find('recovery-codes')) ?? []).map(({ key }) => key),
      }),
      passkeys: createPasskeys({
        store,
        challenges,
        siteUrl: () => site.url,
        siteName: () => site.name(),
        log,
      }),
      pending: createPendingSignIns({ database, clock }),
    };
  }
}
