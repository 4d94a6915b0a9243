import {
  RestError,
  type AdminActionResult,
  type AdminPageBody,
  type AdminRequest,
  type UserProfile,
} from '#plugin-api';
import { aboutData, typedAbout, passwordOf, saveOrExplain, success, textOf, type Faults } from './forms.ts';
import type { UserPagesDependencies } from './users-contract.ts';

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

/** A few words for a `User-Agent`: `Firefox on Windows`. The first name that fits counts: Chrome calls itself Safari too. */
export function describeBrowser(userAgent: string): string {
  const find = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([token]) => userAgent.includes(token))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return system ?? (userAgent === '' ? 'Unknown browser' : userAgent.slice(0, 60));
}

interface Showing {
  readonly typed?: { readonly email: string; readonly displayName: string };
  readonly about?: Partial<UserProfile>;
  readonly faults?: Faults;
}

/** One's own name, address, password, application passwords and sessions. */
export function createProfilePage(dependencies: UserPagesDependencies): AdminPageBody {
  const { users, sessions, applicationPasswords } = dependencies;
  const page = (request: AdminRequest, showing: Showing = {}) => profileView(dependencies, request, showing);
  return {
    render: (request) => page(request),
    actions: {
      save: (request) => {
        const typed = { email: textOf(request, 'email'), displayName: textOf(request, 'display_name') };
        return saveOrExplain(
          async () => {
            if (typed.email.toLowerCase() !== request.user.email.toLowerCase())
              await checkOwnPassword(dependencies, request, 'current_for_email');
            await users.update(request.user.id, typed);
            return success('Your profile is saved.');
          },
          (faults) => page(request, { typed, faults }),
        );
      },
      about: (request) => {
        const about = typedAbout(request);
        return saveOrExplain(
          async () => {
            await users.update(request.user.id, { profile: about });
            return success('What you tell about yourself is saved.');
          },
          (faults) => page(request, { about, faults }),
        );
      },
      password: (request) =>
        saveOrExplain(
          async () => {
            await checkOwnPassword(dependencies, request, 'current');
            if (passwordOf(request, 'password') !== passwordOf(request, 'again'))
              throw fault('again', 'The two passwords differ. Type the new one twice.');
            await users.update(
              request.user.id,
              { password: passwordOf(request, 'password') },
              { keepSession: await dependencies.currentSession(request) },
            );
            return success('Your password is changed. You were signed out everywhere else.');
          },
          (faults) => page(request, { faults }),
        ),
      'create-password': (request) =>
        saveOrExplain(
          async () => {
            const name = textOf(request, 'name');
            const { password } = await applicationPasswords.create(request.user.id, name);
            return success(`The application password for ${name} is made.`, {
              reveal: { label: `Application password for ${name}`, value: password },
            });
          },
          ({ name = '' }) => page(request, { faults: { application: name } }),
        ),
      'revoke-password': async (request) => {
        const wasThere = await applicationPasswords.revoke(request.user.id, textOf(request, 'id'));
        return wasThere
          ? success('The application password is revoked. Programs that use it are refused from now on.')
          : { notice: { kind: 'info', text: 'It was revoked already.' } };
      },
      'sign-out-others': async (request) => {
        const ended = await sessions.destroyAll(request.user.id, await dependencies.currentSession(request));
        return success(ended === 0 ? 'You were signed in here alone.' : 'You are signed out everywhere else.');
      },
      'sign-out': async (request) => {
        const own = (await sessions.list(request.user.id)).find(({ id }) => id === textOf(request, 'id'));
        if (own) await sessions.destroy(own.id);
        return success('That session is ended.');
      },
    },
  };
}

async function profileView(
  dependencies: UserPagesDependencies,
  request: AdminRequest,
  { typed, about, faults = {} }: Showing,
): Promise<NonNullable<AdminActionResult['page']>> {
  const { user } = request;
  const current = await dependencies.currentSession(request);
  const [passwords, sessions] = await Promise.all([
    dependencies.applicationPasswords.list(user.id),
    dependencies.sessions.list(user.id),
  ]);
  return {
    template: 'admin/pages/profile',
    data: {
      login: user.login,
      roles: user.roles.join(', '),
      picture: dependencies.avatarUrl(user, 96),
      about: aboutData(user, { typed: about, faults }),
      values: { email: user.email, displayName: user.displayName, ...typed },
      faults,
      passwords: passwords.map((password) => ({ ...password, fields: { id: password.id } })),
      sessions: sessions.map((session) => ({
        ...session,
        fields: { id: session.id },
        browser: describeBrowser(session.userAgent),
        isCurrent: session.id === current,
      })),
      hasOthers: sessions.some(({ id }) => id !== current),
    },
  };
}

/** @throws RestError with a sentence at the field. */
async function checkOwnPassword(
  { isOwnPassword }: UserPagesDependencies,
  request: AdminRequest,
  field: string,
): Promise<void> {
  const given = passwordOf(request, field);
  if (given === '') throw fault(field, 'Enter your current password.');
  if (!(await isOwnPassword(request, given))) throw fault(field, 'This is not your current password.');
}

function fault(field: string, sentence: string): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    message: sentence,
    status: 400,
    data: { params: { [field]: sentence } },
  });
}
