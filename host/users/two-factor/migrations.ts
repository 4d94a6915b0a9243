import { requiredColumns, type Migration } from '#plugin-api';

/** Tables of two-step sign-in. Times are milliseconds since the epoch. */
export const twoFactorMigrations: readonly Migration[] = [
  {
    id: '0012_two_factor',
    async up(knex) {
      await knex.schema.createTable('totp_secrets', (table) => {
        table.integer('user_id').primary().references('users.id').onDelete('CASCADE');
        // Encrypted; never shown again once confirmed.
        table.text('secret').notNullable();
        // Null until the user has entered a code of the app.
        table.bigInteger('confirmed_at');
        // Number of the last 30-second step whose code was used. Only later steps are accepted.
        table.bigInteger('last_step').notNullable();
      });
      await knex.schema.createTable('recovery_codes', (table) => {
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE');
        // HMAC with a key of the site. A used code is deleted.
        table.text('code_hash').notNullable();
        table.primary(['user_id', 'code_hash']);
      });
      await knex.schema.createTable('passkeys', (table) => {
        // Credential id in base64url.
        table.text('id').primary();
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE').index();
        // Random id of the user towards authenticators, the same for all passkeys of a user.
        table.text('user_handle').notNullable();
        // COSE key in base64url.
        table.text('public_key').notNullable();
        table.bigInteger('counter').notNullable();
        // JSON array such as ["internal","hybrid"].
        table.text('transports').notNullable();
        requiredColumns(table).text('name').bigInteger('created_at');
        table.bigInteger('last_used_at');
      });
      await knex.schema.createTable('used_challenges', (table) => {
        table.text('challenge').primary();
        table.bigInteger('expires_at').notNullable().index();
      });
      await knex.schema.createTable('pending_sign_ins', (table) => {
        // SHA-256 of the cookie token in hex.
        table.text('id').primary();
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE').index();
        table.boolean('remember').notNullable();
        table.bigInteger('expires_at').notNullable().index();
      });
    },
  },
];
