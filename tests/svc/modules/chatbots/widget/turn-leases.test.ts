import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createTurnLeases } from '../../../../../plugins/svc/modules/chatbots/widget/turn-leases.ts';
import { widgetMigrations } from '../../../../../plugins/svc/modules/chatbots/widget/widget-tables.ts';
import { describeDialects } from '../../../../helpers/dialects.ts';

describeDialects('leases on chat turns', (open, { dialect }) => {
  it('let one node answer a conversation and name its message to the others, while answers end', async () => {
    const first = await open();
    // The nodes of this test are one process, which has one connection to SQLite.
    const nodes = dialect === 'sqlite' ? [first, first, first] : [first, await open(), await open()];
    await first.migrate('svc', widgetMigrations);
    const conversation = randomUUID();
    const messageIds: readonly string[] = nodes.map(() => randomUUID());
    let answering = 0;
    let claimed = 0;
    const runningIds = new Set<string>();
    await Promise.all(
      nodes.map(async (database, index) => {
        const messageId = messageIds[index] ?? '';
        const leases = createTurnLeases({ host: { database }, limits: { settle: () => Promise.resolve() } });
        for (let round = 0; round < 150; round += 1) {
          const claim = await database.transaction(() => leases.claim(conversation, messageId));
          if (claim.kind === 'running') runningIds.add(claim.messageId);
          else {
            claimed += 1;
            answering += 1;
            expect(await leases.findRunning(conversation)).to.deep.equal({ messageId });
            expect(answering).to.equal(1);
            answering -= 1;
            expect(await database.transaction(() => leases.release(claim.lease))).to.equal(true);
          }
        }
      }),
    );
    expect(claimed).to.be.greaterThan(0);
    expect([...runningIds].filter((id) => !messageIds.includes(id))).to.deep.equal([]);
  });
});
