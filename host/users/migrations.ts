import type { Migration } from '#plugin-api';
import { freeSlug, slugOf } from './profile.ts';

/** Tables of users, sessions, application passwords and sign-in tries. Times are milliseconds since the epoch. */
export const migrations: readonly Migration[] = [
  {
    id: '0003_users',
    async up(knex) {
      await knex.schema.createTable('users', (table) => {
        table.increments('id');
        table.text('login').notNullable();
        // Lower-case copies make names unique without regard to case on both dialects.
        table.text('login_key').notNullable().unique();
        table.text('email').notNullable();
        table.text('email_key').notNullable().unique();
        table.text('display_name').notNullable();
        // JSON array of role names.
        table.text('roles').notNullable();
        table.text('password_hash').notNullable();
        table.bigInteger('created_at').notNullable();
      });
      await knex.schema.createTable('sessions', (table) => {
        // SHA-256 of the cookie's token, in hex: reading this table opens no session.
        table.text('id').primary();
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE').index();
        // How long it lasts after it was last used.
        table.bigInteger('lifetime').notNullable();
        table.bigInteger('created_at').notNullable();
        table.bigInteger('last_seen_at').notNullable();
        table.bigInteger('expires_at').notNullable().index();
        table.text('ip').notNullable();
        table.text('user_agent').notNullable();
      });
      await knex.schema.createTable('application_passwords', (table) => {
        table.text('id').primary();
        table.integer('user_id').notNullable().references('users.id').onDelete('CASCADE').index();
        table.text('name').notNullable();
        table.text('password_hash').notNullable();
        table.bigInteger('created_at').notNullable();
        table.bigInteger('last_used_at');
        table.text('last_ip');
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
      // Found and sorted without regard to case, also where the database folds only plain letters.
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
        const slug = freeSlug(slugOf(login), taken);
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
      // Parts of three letters and more are looked up. Without the extension, which not everybody may create, users are looked at one by one.
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
];
