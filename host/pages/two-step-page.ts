import { formatCount, invalidFields, restError, withFieldErrors, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, User, FieldErrors } from '#plugin-api';
import { readText } from './forms.ts';

/** The stored passkey as the page shows it. Times are milliseconds since the epoch. */
export interface PasskeyRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** What the user pages need of two-step sign-in. */
export interface TwoFactorForPages {
  status(user: User): Promise<{
    readonly totpSince: number | null;
    readonly passkeys: readonly PasskeyRow[];
    readonly recoveryCodes: number;
    readonly isRequired: boolean;
  }>;
  beginTotp(user: User): Promise<{ readonly secret: string; readonly uri: string } | null>;
  confirmTotp(userId: number, code: string): Promise<readonly string[] | null>;
  disableTotp(userId: number): Promise<boolean>;
  generateRecoveryCodes(userId: number): Promise<readonly string[]>;
  requestPasskey(user: User, session: string): Promise<{ readonly options: unknown; readonly challenge: string }>;
  addPasskey(
    user: User,
    init: {
      readonly session: string;
      readonly name: string;
      readonly credential: string;
      readonly challenge: string;
    },
  ): Promise<readonly string[]>;
  renamePasskey(init: { readonly userId: number; readonly id: string; readonly name: string }): Promise<boolean>;
  removePasskey(userId: number, id: string): Promise<boolean>;
  reset(userId: number, actorId: number): Promise<boolean>;
  passkeySupport(): {
    readonly party: { readonly id: string; readonly origin: string } | null;
    readonly reason: string | null;
  };
}

export interface TwoStepPageDependencies {
  readonly twoFactor: TwoFactorForPages;
  /** Id of the session of a request. */
  readonly currentSession: (request: AdminRequest) => Promise<string>;
  readonly sessions: { destroyAll(userId: number, except?: string): Promise<number> };
  readonly siteName: () => Promise<string>;
}

type Page = NonNullable<AdminActionResult['page']>;

/** Two-step sign-in of the current user: authenticator app, passkeys and recovery codes. */
export function createTwoStepPage(dependencies: TwoStepPageDependencies): AdminPageBody {
  const overview = (request: AdminRequest, errors: FieldErrors = {}): Promise<Page> =>
    overviewPage(dependencies, request, errors);
  return {
    render: (request) => overview(request),
    actions: { ...appActions(dependencies), ...passkeyActions(dependencies, overview) },
  };
}

/** The methods that are on, for the cards of other pages: `Authenticator app, 2 passkeys`. */
export function describeTwoFactor({
  totpSince,
  passkeys,
}: Pick<Awaited<ReturnType<TwoFactorForPages['status']>>, 'totpSince' | 'passkeys'>): {
  readonly isEnabled: boolean;
  readonly methods: string;
} {
  const methods = [
    ...(totpSince === null ? [] : ['authenticator app']),
    ...(passkeys.length === 0 ? [] : [formatCount(passkeys.length, 'passkey', 'passkeys')]),
  ];
  return { isEnabled: methods.length > 0, methods: methods.join(', ') };
}

type Overview = (request: AdminRequest, errors?: FieldErrors) => Promise<Page>;
type Actions = NonNullable<AdminPageBody['actions']>;

function appActions(dependencies: TwoStepPageDependencies): Actions {
  const { twoFactor } = dependencies;
  return {
    'set-up-app': async (request) => {
      request.requireFreshSignIn();
      return { page: await appPage(twoFactor, request.user, {}) };
    },
    'confirm-app': async (request) => {
      request.requireFreshSignIn();
      return withFieldErrors(
        async () => {
          const codes = await twoFactor.confirmTotp(request.user.id, readText(request, 'code'));
          if (codes === null)
            throw invalidFields({
              code: 'Incorrect code. Enter the code that the app shows now, and check its clock.',
            });
          return added(dependencies, request, { codes, text: 'Authenticator app turned on.' });
        },
        (errors) => appPage(twoFactor, request.user, errors),
      );
    },
    'turn-off-app': async (request) => {
      request.requireFreshSignIn();
      await requireAnotherMethod(twoFactor, request.user, { app: true });
      await twoFactor.disableTotp(request.user.id);
      return withNotice('success', 'Authenticator app turned off.');
    },
    'recovery-codes': async (request) => {
      request.requireFreshSignIn();
      const { totpSince, passkeys } = await twoFactor.status(request.user);
      if (totpSince === null && passkeys.length === 0)
        return withNotice('error', 'Set up an authenticator app or a passkey first.');
      const codes = await twoFactor.generateRecoveryCodes(request.user.id);
      return withNotice('success', 'New recovery codes generated. The previous ones no longer work.', {
        page: await codesPage(dependencies, request, codes),
      });
    },
  };
}

function passkeyActions(dependencies: TwoStepPageDependencies, overview: Overview): Actions {
  const { twoFactor, currentSession } = dependencies;
  return {
    'new-passkey': async (request) => {
      request.requireFreshSignIn();
      return withFieldErrors(
        async () => {
          const name = readText(request, 'name');
          if (name === '' || name.length > 100)
            throw invalidFields({ name: 'Enter a name of 1 to 100 characters for the passkey.' });
          const passkey = await twoFactor.requestPasskey(request.user, await currentSession(request));
          return {
            page: {
              template: 'admin/pages/two-step-passkey',
              data: { name, options: JSON.stringify(passkey), fields: { name } },
            },
          };
        },
        (errors) => overview(request, errors),
      );
    },
    'add-passkey': async (request) => {
      request.requireFreshSignIn();
      return withFieldErrors(
        async () => {
          const name = readText(request, 'name');
          const codes = await twoFactor.addPasskey(request.user, {
            session: await currentSession(request),
            name,
            credential: readText(request, 'credential'),
            challenge: readText(request, 'challenge'),
          });
          return added(dependencies, request, { codes, text: `Passkey ${name} added.` });
        },
        (errors) => overview(request, errors),
      );
    },
    'rename-passkey': async (request) => {
      request.requireFreshSignIn();
      const id = readText(request, 'id');
      return withFieldErrors(
        async () => {
          const existed = await twoFactor.renamePasskey({
            userId: request.user.id,
            id,
            name: readText(request, 'name'),
          });
          return existed ? withNotice('success', 'Passkey renamed.') : gone();
        },
        ({ name = '' }) => overview(request, { [id]: name }),
      );
    },
    'remove-passkey': async (request) => {
      request.requireFreshSignIn();
      await requireAnotherMethod(twoFactor, request.user, { app: false });
      return (await twoFactor.removePasskey(request.user.id, readText(request, 'id')))
        ? withNotice('success', 'Passkey removed. Remove it from your device or password manager too.')
        : gone();
    },
  };
}

function gone(): AdminActionResult {
  return withNotice('info', 'This passkey has already been removed.');
}

/** After the first method, other browsers are signed out: they have not passed a second step. */
async function added(
  dependencies: TwoStepPageDependencies,
  request: AdminRequest,
  { codes, text }: { readonly codes: readonly string[]; readonly text: string },
): Promise<AdminActionResult> {
  if (codes.length === 0) return withNotice('success', text);
  await dependencies.sessions.destroyAll(request.user.id, await dependencies.currentSession(request));
  return withNotice('success', `${text} You have been signed out everywhere else.`, {
    page: await codesPage(dependencies, request, codes),
  });
}

/** @throws RestError if the role requires two-step sign-in and no other method is left. */
async function requireAnotherMethod(
  twoFactor: TwoFactorForPages,
  user: User,
  { app }: { readonly app: boolean },
): Promise<void> {
  const { isRequired, totpSince, passkeys } = await twoFactor.status(user);
  const left = app ? passkeys.length : passkeys.length - 1 + (totpSince === null ? 0 : 1);
  if (!isRequired || left > 0) return;
  throw restError(
    400,
    'two_factor_required',
    'Your role requires two-step sign-in. Set up another method before you remove this one.',
  );
}

async function overviewPage(
  { twoFactor }: TwoStepPageDependencies,
  { user, headers }: AdminRequest,
  errors: FieldErrors,
): Promise<Page> {
  const { passkeys, ...status } = await twoFactor.status(user);
  const { party, reason } = twoFactor.passkeySupport();
  const isEnabled = status.totpSince !== null || passkeys.length > 0;
  return {
    template: 'admin/pages/two-step',
    data: {
      ...status,
      isEnabled,
      appBadge: status.totpSince === null ? null : { text: 'On', kind: 'success' },
      mustSetUp: status.isRequired && !isEnabled,
      passkeys: passkeys.map((passkey) => ({
        ...passkey,
        fields: { id: passkey.id },
        error: errors[passkey.id],
      })),
      passkeyReason: reason,
      // Browsers allow passkeys at the address in the settings only.
      passkeyAddress:
        party !== null && hostnameOf(headers['host']) !== party.id ? `${party.origin}/admin/profile/two-step` : null,
      errors,
    },
  };
}

function hostnameOf(host: string | undefined): string {
  return (host ?? '').replace(/:\d+$/, '').toLowerCase();
}

async function appPage(twoFactor: TwoFactorForPages, user: User, errors: FieldErrors): Promise<Page> {
  const setup = await twoFactor.beginTotp(user);
  if (setup === null)
    throw restError(
      400,
      'two_factor_exists',
      'Your authenticator app is on already. Turn it off before you set up another one.',
    );
  const { default: qrcode } = await import('qrcode');
  const svg = await qrcode.toString(setup.uri, { type: 'svg', margin: 2 });
  return {
    template: 'admin/pages/two-step-app',
    data: {
      uri: setup.uri,
      secret: setup.secret.replace(/(.{4})(?!$)/g, '$1 '),
      picture: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
      errors,
    },
  };
}

async function codesPage(
  { siteName }: TwoStepPageDependencies,
  { user }: AdminRequest,
  codes: readonly string[],
): Promise<Page> {
  const text = [`Recovery codes of ${user.login} for ${await siteName()}`, '', ...codes, ''].join('\n');
  return {
    template: 'admin/pages/two-step-codes',
    data: {
      codes: codes.join('\n'),
      download: `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`,
    },
  };
}
