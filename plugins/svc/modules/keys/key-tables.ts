import { optionalColumns, requiredColumns, type Migration } from '#plugin-api';
import type { KeyScopes } from '../../kit/caller.ts';
import { createTables } from '../../kit/migrations.ts';

/** One row per named key, revoked ones too: the usage ledger names them. */
export const keysTable = 'svc_keys';
/** The calls of keys with a limit, per minute. */
export const keyWindowsTable = 'svc_key_windows';

/** Whether requests with the key may have parameters that their model lacks (D41). 0 or 1. */
export const lenientKeysMigration: Migration = {
  id: '0283_lenient_keys',
  async up(knex) {
    await knex.schema.alterTable(keysTable, (columns) => {
      columns.integer('is_lenient').notNullable().defaultTo(0);
    });
  },
};

/**
 * A key limited to chatbots reached every model as well, where it names no models. One of that time says so from now on: it
 * keeps what it reaches, and shows it.
 */
export const chatbotKeysMigration: Migration = {
  id: '0291_models_of_chatbot_keys',
  async up(knex) {
    const rows = (await knex(keysTable).select('id', 'scopes')) as { readonly id: number; readonly scopes: string }[];
    for (const { id, scopes: stored } of rows) {
      const scopes = JSON.parse(stored) as KeyScopes;
      if (scopes.chatbots.length > 0 && scopes.models.length === 0)
        await knex(keysTable)
          .where({ id })
          .update({ scopes: JSON.stringify({ ...scopes, models: ['*'] }) });
    }
  },
};

export const keysMigration = createTables('0221_named_keys', {
  [keysTable](columns) {
    columns.bigIncrements('id');
    requiredColumns(columns)
      .string(80, 'name')
      // The first characters of the secret, for people to recognize it by.
      .string(20, 'prefix')
      // SHA-256 of the secret, hexadecimal. Secrets have 256 random bits, so a fast hash without salt suffices.
      .string(64, 'digest')
      // JSON, `KeyScopes`.
      .text('scopes')
      .integer('requests_per_minute')
      .bigInteger('created_at', 'created_by');
    // The secret before the last rotation, until it stops working. Times in milliseconds since the epoch.
    optionalColumns(columns)
      .string(64, 'old_digest')
      .bigInteger('old_until', 'expires_at', 'last_used_at', 'revoked_at');
    columns.unique(['digest'], { indexName: 'svc_keys_digest' });
    columns.index(['old_digest'], 'svc_keys_old_digest');
  },
  [keyWindowsTable](columns) {
    requiredColumns(columns).bigInteger('key_id', 'starts_at').integer('calls');
    columns.primary(['key_id', 'starts_at']);
  },
});
