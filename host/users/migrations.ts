import { createTextIndex, optionalColumns, requiredColumns, type Migration } from '#plugin-api';
import { findFreeSlug, slugOf } from './profile.ts';
import { searchIndex } from './user-row.ts';

/** Tables of two-step sign-in. Times are milliseconds since the epoch. */
const twoFactorMigrations: readonly Migration[] = [
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

/** Tables of users, sessions, application passwords, sign-in attempts and two-step sign-in. Times are milliseconds since the epoch. */
export const migrations: readonly Migration[] = [
  {
    id: '0003_users',
    async up(knex) {
      await knex.schema.createTable('users', (table) => {
        table.increments('id');
        table.text('login').notNullable();
        // Lowercase copies make names case-insensitively unique in both dialects.
        table.text('login_key').notNullable().unique();
        table.text('email').notNullable();
        table.text('email_key').notNullable().unique();
        table.text('display_name').notNullable();
        // JSON array of role names.
        table.text('roles').notNullable();
        requiredColumns(table).text('password_hash').bigInteger('created_at');
      });
      await knex.schema.createTable('sessions', (table) => {
        // SHA-256 of the cookie token in hex. Reading this table does not reveal tokens.
        table.text('id').primary();
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE').index();
        // Milliseconds after the last use until the session expires.
        table.bigInteger('lifetime').notNullable();
        requiredColumns(table).bigInteger('created_at', 'last_seen_at');
        table.bigInteger('expires_at').notNullable().index();
        requiredColumns(table).text('ip', 'user_agent');
      });
      await knex.schema.createTable('application_passwords', (table) => {
        table.text('id').primary();
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE').index();
        requiredColumns(table).text('name', 'password_hash').bigInteger('created_at');
        optionalColumns(table).bigInteger('last_used_at').text('last_ip');
      });
      await knex.schema.createTable('login_attempts', (table) => {
        table.text('subject').primary();
        table.integer('tries').notNullable();
        table.bigInteger('expires_at').notNullable().index();
      });
    },
  },
  {
    id: '0007_user_details',
    async up(knex) {
      await knex.schema.alterTable('application_passwords', (table) =>
        table.text('app_id').notNullable().defaultTo(''),
      );
      // For case-insensitive search and sorting, also if the database folds only ASCII letters.
      await knex.schema.alterTable('users', (table) => table.text('display_key').notNullable().defaultTo(''));
      const rows = await knex<{ id: number; display_name: string }>('users').select('id', 'display_name');
      for (const { id, display_name } of rows)
        await knex('users').where({ id }).update({ display_key: display_name.trim().toLowerCase() });
    },
  },
  {
    id: '0008_user_profiles',
    async up(knex) {
      await knex.schema.alterTable('users', (table) => {
        for (const column of ['first_name', 'last_name', 'nickname', 'description', 'url', 'locale', 'slug'])
          table.text(column).notNullable().defaultTo('');
      });
      const taken = new Set<string>();
      for (const { id, login } of await knex<{ id: number; login: string }>('users')
        .select('id', 'login')
        .orderBy('id')) {
        const slug = findFreeSlug(slugOf(login), taken);
        taken.add(slug);
        await knex('users').where({ id }).update({ nickname: login, slug });
      }
      await knex.schema.alterTable('users', (table) => table.unique(['slug']));
    },
  },
  {
    id: '0009_user_search',
    async up(knex, { dialect }) {
      if (dialect !== 'postgresql') return;
      // Speeds up searches of three or more letters. Creating the extension needs privileges; without it, searches scan the table.
      try {
        await knex.transaction(async (nested) => {
          await nested.raw('CREATE EXTENSION IF NOT EXISTS pg_trgm');
          await nested.raw(
            'CREATE INDEX users_search ON users USING gin (login_key gin_trgm_ops, display_key gin_trgm_ops, email_key gin_trgm_ops)',
          );
        });
      } catch (error) {
        if ((error as { code?: unknown }).code === undefined) throw error;
      }
    },
  },
  {
    id: '0011_fresh_sign_in',
    async up(knex) {
      // When the user last proved who they are. 0: unknown, so existing sessions are asked for the password.
      await knex.schema.alterTable('sessions', (table) =>
        table.bigInteger('authenticated_at').notNullable().defaultTo(0),
      );
    },
  },
  ...twoFactorMigrations,
  {
    id: '0021_password_links',
    async up(knex) {
      await knex.schema.createTable('password_links', (table) => {
        // SHA-256 of the token in hex. Reading this table does not reveal tokens.
        table.text('id').primary();
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE').index();
        // reset or invitation.
        table.text('kind').notNullable();
        // SHA-256 of the password hash and email address that the link was created for.
        table.text('bound_to').notNullable();
        requiredColumns(table).bigInteger('created_at', 'expires_at');
      });
    },
  },
  {
    id: '0243_users_at_scale',
    async up(knex, { dialect }) {
      // For lists in each order, counts by role, and deep pages without reading the rows before them.
      await knex.schema.alterTable('users', (table) => {
        table.index(['roles'], 'users_by_roles');
        table.index(['display_key', 'id', 'roles'], 'users_by_name');
        table.index(['email_key', 'id', 'roles'], 'users_by_email');
        table.index(['created_at', 'id', 'roles'], 'users_by_date');
      });
      // PostgreSQL has the index since 0009.
      if (dialect === 'sqlite') await createTextIndex(knex, dialect, searchIndex);
    },
  },
];
