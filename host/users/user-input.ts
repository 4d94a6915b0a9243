import { RestError } from '#plugin-api';
import type { NewUser } from '#plugin-api';
import { isRole, roleNames } from './roles.ts';

/** A new user whose every member was checked. */
export interface CheckedUser {
  readonly login: string;
  readonly email: string;
  readonly password: string;
  readonly displayName: string;
  readonly role: string;
}

/** Text made comparable: names and addresses are unique without regard to case. */
export function keyOf(loginOrEmail: string): string {
  return loginOrEmail.trim().toLowerCase();
}

/** @throws RestError 400 `rest_invalid_param` with a sentence per member in `data.params`. */
export function checkNewUser({ login, email, password, displayName, role = 'subscriber' }: NewUser): CheckedUser {
  const user = { login: login.trim(), email: email.trim(), password, displayName: cleanName(displayName ?? '') || login.trim(), role };
  const faults = {
    ...(!/^[A-Za-z0-9 _.@-]{1,60}$/.test(user.login) && { login: 'Use 1 to 60 letters, digits, spaces and _ . - @ for the user name.' }),
    ...(!isEmail(user.email) && { email: 'Enter an e-mail address such as you@example.com.' }),
    ...passwordFault(password),
    ...(user.displayName.length > 250 && { display_name: 'Use at most 250 characters for the display name.' }),
    ...(!isRole(role) && { role: `There is no role '${role}'; use one of ${roleNames.join(', ')}.` }),
  };
  refuse(faults);
  return user;
}

/** @throws RestError 400 `rest_invalid_param`. */
export function checkPassword(password: string): void {
  refuse(passwordFault(password));
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

function passwordFault(password: string): Record<string, string> {
  return password.length < 8 || password.length > 1024 ? { password: 'Use 8 to 1024 characters for the password.' } : {};
}

function refuse(faults: Readonly<Record<string, string>>): void {
  const names = Object.keys(faults);
  if (names.length === 0) return;
  throw new RestError({ code: 'rest_invalid_param', message: `Invalid parameter(s): ${names.join(', ')}. ${Object.values(faults).join(' ')}`, status: 400, data: { params: faults } });
}

function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"'(),;:\\[\]\p{Cc}]+@[^\s@<>"'(),;:\\[\]\p{Cc}]+$/u.test(text);
}

function cleanName(name: string): string {
  return name.replace(/\p{Cc}+/gu, ' ').trim();
}
