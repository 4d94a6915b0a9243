import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createTurnJobs, turnJob } from '../../../../../plugins/svc/modules/chatbots/widget/turn-jobs.ts';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { openJobs } from '../../../../jobs/site.ts';

describeDialects('jobs of chat turns', (open, { dialect }) => {
  it('let one node answer a conversation and name its message to the others, while answers end', async () => {
    const first = await openJobs(open);
    // The nodes of this test are one process, which has one connection to SQLite.
    const nodes = dialect === 'sqlite' ? [first, first, first] : [first, await openJobs(open), await openJobs(open)];
    for (const { own } of new Set(nodes)) own.define({ name: turnJob });
    const conversation = randomUUID();
    const messageIds: readonly string[] = nodes.map(() => randomUUID());
    let answering = 0;
    let claimed = 0;
    const runningIds = new Set<string>();
    await Promise.all(
      nodes.map(async ({ database, own }, index) => {
        const messageId = messageIds[index] ?? '';
        const turns = createTurnJobs({ host: { database, jobs: own } });
        for (let round = 0; round < 150; round += 1) {
          const turn = await database.transaction(() => turns.start(conversation, messageId));
          if (!turn.isStarted) runningIds.add(turn.messageId);
          else {
            claimed += 1;
            answering += 1;
            expect(await turns.findRunning(conversation)).to.equal(messageId);
            expect(answering).to.equal(1);
            answering -= 1;
            await turn.run(({ commit }) => commit(async () => undefined));
          }
        }
      }),
    );
    expect(claimed).to.be.greaterThan(0);
    expect([...runningIds].filter((id) => !messageIds.includes(id))).to.deep.equal([]);
  });
});
