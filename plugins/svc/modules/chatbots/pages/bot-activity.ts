import type { HostApi } from '#plugin-api';
import { tables } from '../conversations/conversation-tables.ts';

export interface BotActivity {
  readonly conversations: number;
  /** Milliseconds since the epoch. */
  readonly lastMessageAt: number;
}

/** How many conversations each bot has, and when somebody last wrote; read from one index. Bots without any are left out. */
export async function botActivity({ database }: Pick<HostApi, 'database'>): Promise<ReadonlyMap<number, BotActivity>> {
  const rows = await database
    .knex(tables.conversations)
    .select<{ bot_id: number | string; conversations: number | string; last: number | string }[]>(
      'bot_id',
      database.knex.raw('count(*) as conversations'),
      database.knex.raw('max(last_message_at) as last'),
    )
    .groupBy('bot_id');
  return new Map(
    rows.map((row) => [
      Number(row.bot_id),
      { conversations: Number(row.conversations), lastMessageAt: Number(row.last) },
    ]),
  );
}
