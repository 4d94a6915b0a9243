import { restError, type RestError } from '#plugin-api';

/** A sign-in is fresh for ten minutes after the user proved who they are. */
const freshMilliseconds = 10 * 60_000;

/**
 * Whether a session may change passwords, email addresses, application passwords, secrets and plugins.
 *
 * @param authenticatedAt when its user last proved who they are, in milliseconds since the epoch; 0: unknown.
 */
export function isFreshSignIn({ authenticatedAt }: { readonly authenticatedAt: number }, now: number): boolean {
  return now - authenticatedAt < freshMilliseconds;
}

/** The last sign-in is too old. The admin asks for the password then, and REST callers send `current_password`. */
export function freshSignInRequired(): RestError {
  return restError(
    403,
    'fresh_sign_in_required',
    'Enter your current password. Over REST, send it as current_password, or sign in again.',
  );
}

export function incorrectCurrentPassword(): RestError {
  return restError(403, 'incorrect_current_password', 'Incorrect current password.');
}

/** Otherwise a leaked application password would be enough to take over the account. */
export function applicationPasswordNotAllowed(
  message = 'Application passwords cannot change passwords, email addresses, application passwords or secrets, delete users, or ' +
    'switch plugins. Sign in with the password of the account.',
): RestError {
  return restError(403, 'application_password_not_allowed', message);
}
