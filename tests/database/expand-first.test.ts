import { expect } from 'chai';
import { hostMigrations } from '../../host/core.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import svc from '../../plugins/svc/index.ts';
import { silentLog } from '../helpers/silent-log.ts';

/** Takes something away. Knex makes SQLite's tables again under a name of its own to alter them. */
const takesAway = /^\s*(drop table|alter table .* (drop|rename)\b)(?!.*_knex_temp_alter)/i;

/** Of releases before the rule. */
const known: readonly string[] = [
  'svc 0182_log_texts',
  'svc 0184_widget_idempotency',
  'svc 0190_conversation_table_names',
  'svc 0190_webhook_needs_filter',
  'svc 0191_webhook_inbox_response',
  'svc 0192_knowledge_columns',
  'svc 0193_ai_form_columns',
  'svc 0193_image_columns',
  'svc 0204_conversation_texts',
  'svc 0210_knowledge_jobs',
  'svc 0210_visitor_image_jobs',
  'svc 0211_content_jobs',
  'svc 0211_video_leases',
  'svc 0212_automation_jobs',
  'svc 0212_form_submission_jobs',
  'svc 0213_chat_turn_jobs',
  'svc 0214_webhook_replay_jobs',
  'svc 0222_usage_callers',
  'svc 0240_conversation_text_version',
];

describe('migrations of the host and of svc', () => {
  it('take nothing away from the release before', async () => {
    const database = await openDatabase({
      ...{ databaseUrl: null, dataDir: ':memory:' },
      ...{ clock: createFakeClock(), log: silentLog },
    });
    const found = new Set<string>();
    let current = '';
    database.observeQueries((sql) => {
      if (takesAway.test(sql)) found.add(current);
      return () => undefined;
    });
    try {
      for (const [owner, migrations] of [
        ['host', hostMigrations],
        ['svc', svc.migrations ?? []],
      ] as const)
        await database.migrate(
          owner,
          migrations.map(({ id, contracts, up }) => ({
            id,
            async up(knex, dialect) {
              current = contracts === undefined ? `${owner} ${id}` : '';
              await up(knex, dialect);
            },
          })),
        );
      found.delete('');
      expect(
        [...found].filter((name) => !known.includes(name)),
        "Expand first: name in 'contracts' the migration of an earlier release whose code needs no more what this one takes away",
      ).to.deep.equal([]);
    } finally {
      await database.close();
    }
  });
});
