import { RestError } from '#plugin-api';
import type { NewUser, UserChanges, UserProfile } from '#plugin-api';
import { cleanProfile, profileFaults } from './profile.ts';
import { isRole, roleNames } from './roles.ts';

/** A new user whose every member was checked. */
export interface CheckedUser {
  readonly login: string;
  readonly email: string;
  readonly password: string;
  readonly displayName: string;
  readonly role: string;
  readonly profile: Partial<UserProfile>;
}

/** Text made comparable: names and addresses are unique without regard to case. */
export function keyOf(loginOrEmail: string): string {
  return loginOrEmail.trim().toLowerCase();
}

/** @throws RestError 400 `rest_invalid_param` with a sentence per member in `data.params`. */
export function checkNewUser({
  login,
  email,
  password,
  displayName,
  role = 'subscriber',
  profile = {},
}: NewUser): CheckedUser {
  const user = {
    login: login.trim(),
    email: email.trim(),
    password,
    displayName: cleanName(displayName ?? '') || login.trim(),
    role,
    profile: cleanProfile(profile),
  };
  const faults = {
    ...(!/^[A-Za-z0-9 _.@-]{1,60}$/.test(user.login) && {
      login: 'Use 1 to 60 letters, digits, spaces and _ . - @ for the user name.',
    }),
    ...emailFault(user.email),
    ...passwordFault(password),
    ...nameFault(user.displayName),
    ...roleFault([role]),
    ...profileFaults(user.profile),
  };
  refuse(faults);
  return user;
}

/** The changes, cleaned. @throws RestError as `checkNewUser`. */
export function checkChanges({ email, displayName, roles, password, profile }: UserChanges): UserChanges {
  const changes = {
    ...(email !== undefined && { email: email.trim() }),
    ...(displayName !== undefined && { displayName: cleanName(displayName) }),
    ...(roles !== undefined && { roles: [...new Set(roles)] }),
    ...(password !== undefined && { password }),
    ...(profile !== undefined && { profile: cleanProfile(profile) }),
  };
  refuse({
    ...(changes.email !== undefined && emailFault(changes.email)),
    ...(changes.displayName === '' && { display_name: 'Enter a name.' }),
    ...(changes.displayName !== undefined && changes.displayName !== '' && nameFault(changes.displayName)),
    ...(changes.roles !== undefined && roleFault(changes.roles)),
    ...(password !== undefined && passwordFault(password)),
    ...(changes.profile !== undefined && profileFaults(changes.profile)),
  });
  return changes;
}

/** A name or address that another user has. */
export function takenError(member: 'login' | 'email'): RestError {
  const sentences = {
    login: 'This user name is taken. Choose another one.',
    email: 'This e-mail address belongs to another user. Use another one.',
  };
  const params = { [member]: sentences[member] };
  return new RestError({ code: `existing_user_${member}`, message: sentences[member], status: 400, data: { params } });
}

/** A name in addresses that another user has. */
export function takenSlugError(): RestError {
  return new RestError({
    code: 'rest_user_invalid_slug',
    message: 'Invalid slug.',
    status: 400,
    data: { params: { slug: 'Another user has this name in addresses. Choose another one.' } },
  });
}

function emailFault(email: string): Record<string, string> {
  return isEmail(email) ? {} : { email: 'Enter an e-mail address such as you@example.com.' };
}

function nameFault(name: string): Record<string, string> {
  return name.length > 250 ? { display_name: 'Use at most 250 characters for the display name.' } : {};
}

function roleFault(roles: readonly string[]): Record<string, string> {
  const unknown = roles.find((role) => !isRole(role));
  return unknown === undefined ? {} : { role: `There is no role '${unknown}'; use one of ${roleNames.join(', ')}.` };
}

function passwordFault(password: string): Record<string, string> {
  return password.length < 8 || password.length > 1024
    ? { password: 'Use 8 to 1024 characters for the password.' }
    : {};
}

function refuse(faults: Readonly<Record<string, string>>): void {
  const names = Object.keys(faults);
  if (names.length === 0) return;
  throw new RestError({
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${names.join(', ')}. ${Object.values(faults).join(' ')}`,
    status: 400,
    data: { params: faults },
  });
}

function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"'(),;:\\[\]\p{Cc}]+@[^\s@<>"'(),;:\\[\]\p{Cc}]+$/u.test(text);
}

function cleanName(name: string): string {
  return name.replace(/\p{Cc}+/gu, ' ').trim();
}
