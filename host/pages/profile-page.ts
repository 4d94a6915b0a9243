import { invalidFields, translateText, withFieldErrors, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, UserProfile, FieldErrors } from '#plugin-api';
import { profileFormData, readProfile, readRawText, readText } from './forms.ts';
import { describeTwoFactor } from './two-step-page.ts';
import { roleLabels, type UserPagesDependencies } from './users-contract.ts';

const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
  ['curl', 'curl'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** A short name for a `User-Agent`, such as `Firefox on Windows`. Order matters: Chrome also contains `Safari`. */
export function describeBrowser(userAgent: string): string {
  const find = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([token]) => userAgent.includes(token))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser !== undefined) return system === undefined ? browser : translateText(`${browser} on ${system}`);
  return system ?? (userAgent === '' ? 'Unknown browser' : userAgent.slice(0, 60));
}

interface Showing {
  readonly typed?: { readonly email: string; readonly displayName: string };
  readonly about?: Partial<UserProfile>;
  readonly errors?: FieldErrors;
}

/** The profile of the current user: name, email, password, application passwords and sessions. */
export function createProfilePage(dependencies: UserPagesDependencies): AdminPageBody {
  const { users, sessions, applicationPasswords } = dependencies;
  const page = (request: AdminRequest, showing: Showing = {}) => profileView(dependencies, request, showing);
  return {
    render: (request) => page(request),
    actions: {
      save: (request) => {
        const typed = { email: readText(request, 'email'), displayName: readText(request, 'display_name') };
        const about = readProfile(request);
        return withFieldErrors(
          async () => {
            if (typed.email.toLowerCase() !== request.user.email.toLowerCase()) request.requireFreshSignIn();
            await users.update(request.user.id, { ...typed, profile: about });
            return withNotice('success', 'Profile saved.');
          },
          (errors) => page(request, { typed, about, errors }),
        );
      },
      password: async (request) => {
        request.requireFreshSignIn();
        return withFieldErrors(
          async () => {
            if (readRawText(request, 'password') !== readRawText(request, 'again'))
              throw invalidFields({ again: 'The passwords do not match.' });
            await users.update(
              request.user.id,
              { password: readRawText(request, 'password') },
              { keepSession: await dependencies.currentSession(request) },
            );
            return withNotice('success', 'Password changed. You have been signed out everywhere else.');
          },
          (errors) => page(request, { errors }),
        );
      },
      'create-password': async (request) => {
        const error = await dependencies.applicationPasswordsError(request.user);
        if (error !== null) throw error;
        request.requireFreshSignIn();
        return withFieldErrors(
          async () => {
            const name = readText(request, 'name');
            const { password } = await applicationPasswords.create(request.user.id, name);
            return withNotice('success', `Application password for ${name} created.`, {
              reveal: { label: `Application password for ${name}`, value: password },
            });
          },
          ({ name = '' }) => page(request, { errors: { application: name } }),
        );
      },
      'revoke-password': async (request) => {
        const existed = await applicationPasswords.revoke(request.user.id, readText(request, 'id'));
        return existed
          ? withNotice('success', 'Application password revoked. Programs that use it no longer have access.')
          : withNotice('info', 'This password has already been revoked.');
      },
      'sign-out-others': async (request) => {
        const ended = await sessions.destroyAll(request.user.id, await dependencies.currentSession(request));
        return withNotice(
          'success',
          ended === 0 ? 'You have no other sessions.' : 'You have been signed out everywhere else.',
        );
      },
      'sign-out': async (request) => {
        const own = (await sessions.list(request.user.id)).find(({ id }) => id === readText(request, 'id'));
        if (own) await sessions.destroy(own.id);
        return withNotice('success', 'Session ended.');
      },
    },
  };
}

async function profileView(
  dependencies: UserPagesDependencies,
  request: AdminRequest,
  { typed, about, errors = {} }: Showing,
): Promise<NonNullable<AdminActionResult['page']>> {
  const { user } = request;
  const current = await dependencies.currentSession(request);
  const [passwords, sessions, twoFactor] = await Promise.all([
    dependencies.applicationPasswords.list(user.id),
    dependencies.sessions.list(user.id),
    dependencies.twoFactor.status(user),
  ]);
  return {
    template: 'admin/pages/profile',
    data: {
      login: user.login,
      roles: roleLabels(user.roles, dependencies.roles()),
      picture: dependencies.avatarUrl(user, 96),
      about: profileFormData(user, { typed: about, errors, locales: dependencies.locales() }),
      values: { email: user.email, displayName: user.displayName, ...typed },
      errors,
      passwords: passwords.map((password) => ({ ...password, fields: { id: password.id } })),
      sessions: sessions.map((session) => ({
        ...session,
        fields: { id: session.id },
        browser: describeBrowser(session.userAgent),
        isCurrent: session.id === current,
      })),
      twoFactor: describeTwoFactor(twoFactor),
      hasOthers: sessions.some(({ id }) => id !== current),
    },
  };
}
