import { RestError, isEmail } from '#plugin-api';
import type { NewUser, UserChanges, UserProfile } from '#plugin-api';
import { isCommonPassword } from './common-passwords/common-passwords.ts';
import { cleanProfile, profileErrors } from './profile.ts';
import type { Roles } from './roles.ts';

/** A validated new user. */
export interface CheckedUser {
  readonly login: string;
  readonly email: string;
  readonly password: string;
  readonly displayName: string;
  readonly role: string;
  readonly profile: Partial<UserProfile>;
}

/** The key of a login or email, which are unique regardless of case. */
export function keyOf(loginOrEmail: string): string {
  return loginOrEmail.trim().toLowerCase();
}

/** @throws RestError 400 `rest_invalid_param` with a message per member in `data.params`. */
export function checkNewUser(
  { login, email, password, displayName, role = 'subscriber', profile = {} }: NewUser,
  known: Roles,
): CheckedUser {
  const user = {
    login: login.trim(),
    email: email.trim(),
    password,
    displayName: cleanName(displayName ?? '') || login.trim(),
    role,
    profile: cleanProfile(profile),
  };
  const errors = {
    ...(!/^[A-Za-z0-9 _.@-]{1,60}$/.test(user.login) && {
      login: 'Use 1 to 60 letters, digits, spaces and _ . - @ for the user name.',
    }),
    ...emailErrors(user.email),
    ...passwordErrors(password, [user.login, user.email, user.displayName]),
    ...nameErrors(user.displayName),
    ...roleErrors([role], known),
    ...profileErrors(user.profile),
  };
  throwErrors(errors);
  return user;
}

/**
 * Normalizes and validates changes.
 *
 * @param own user name, address and name that the user has so far, which make weak passwords
 * @throws RestError like `checkNewUser`.
 */
export function checkChanges(
  { email, displayName, roles, password, profile }: UserChanges,
  known: Roles,
  own: readonly string[] = [],
): UserChanges {
  const changes = {
    ...(email !== undefined && { email: email.trim() }),
    ...(displayName !== undefined && { displayName: cleanName(displayName) }),
    ...(roles !== undefined && { roles: [...new Set(roles)] }),
    ...(password !== undefined && { password }),
    ...(profile !== undefined && { profile: cleanProfile(profile) }),
  };
  throwErrors({
    ...(changes.email !== undefined && emailErrors(changes.email)),
    ...(changes.displayName === '' && { display_name: 'Enter a name.' }),
    ...(changes.displayName !== undefined && changes.displayName !== '' && nameErrors(changes.displayName)),
    ...(changes.roles !== undefined && roleErrors(changes.roles, known)),
    ...(password !== undefined && passwordErrors(password, [...own, email ?? '', displayName ?? ''])),
    ...(changes.profile !== undefined && profileErrors(changes.profile)),
  });
  return changes;
}

/** The login or email belongs to another user. */
export function takenError(member: 'login' | 'email'): RestError {
  const messages = {
    login: 'This user name is taken. Choose another one.',
    email: 'This email address belongs to another user. Use another one.',
  };
  const params = { [member]: messages[member] };
  return new RestError({ code: `existing_user_${member}`, message: messages[member], status: 400, data: { params } });
}

/** The URL name belongs to another user. */
export function takenSlugError(): RestError {
  return new RestError({
    code: 'rest_user_invalid_slug',
    message: 'Invalid slug.',
    status: 400,
    data: { params: { slug: 'Another user has this URL name. Choose another one.' } },
  });
}

function emailErrors(email: string): Record<string, string> {
  return isEmail(email) ? {} : { email: 'Enter a valid email address, like you@example.com.' };
}

function nameErrors(name: string): Record<string, string> {
  return name.length > 250 ? { display_name: 'Use at most 250 characters for the display name.' } : {};
}

function roleErrors(roles: readonly string[], known: Roles): Record<string, string> {
  const unknown = roles.find((role) => !known.isRole(role));
  if (unknown === undefined) return {};
  const names = known.roles().map(({ name }) => name);
  return { role: `The role '${unknown}' does not exist; use one of ${names.join(', ')}.` };
}

function passwordErrors(password: string, own: readonly string[]): Record<string, string> {
  if (password.length < 12 || password.length > 1024)
    return { password: 'Use 12 to 1024 characters for the password.' };
  if (!isCommonPassword(password, own)) return {};
  return {
    password: isCommonPassword(password)
      ? 'This password is easy to guess: it is common in data breaches, or a sequence. Use several unrelated words.'
      : 'This password is easy to guess: it contains your name or address and little else. Use several unrelated words.',
  };
}

function throwErrors(errors: Readonly<Record<string, string>>): void {
  const names = Object.keys(errors);
  if (names.length === 0) return;
  throw new RestError({
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${names.join(', ')}. ${Object.values(errors).join(' ')}`,
    status: 400,
    data: { params: errors, details: detailsOf(errors) },
  });
}

/** `details` of D4. */
export function detailsOf(errors: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(errors).map(([name, message]) => [name, { code: 'rest_invalid_param', message, data: null }]),
  );
}

function cleanName(name: string): string {
  return name.replace(/\p{Cc}+/gu, ' ').trim();
}
