import { defineErrors } from '#plugin-api';

/** The errors of sending mail. `reason` may contain the reply of the mail server, never the password. */
export const mailErrors = defineErrors('', {
  mail_invalid: [400, '{reason}'],
  mail_unavailable: [503, 'No mail server is set up. Enter one under System, Mail.'],
  mail_password_unreadable: [
    503,
    'The saved password of the mail server cannot be read with this SECRET_KEY. ' +
      'Restore the key, or enter the password again under System, Mail.',
  ],
  mail_rejected: [502, 'The mail server refused the mail: {reason}'],
  mail_failed: [502, 'The mail was not sent. {reason}'],
});
