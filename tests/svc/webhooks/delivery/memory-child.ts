import { createSystemClock } from '../../../../host/clock.ts';
import { createOutbound } from '../../../../host/http/outbound.ts';
import { createDeliver } from '../../../../plugins/svc/webhooks/delivery/deliver.ts';
import { attempt } from './open-receiver.ts';

/**
 * Delivers to the address given, and prints by how many bytes the memory of this process grew at most, after a first
 * delivery to an honest endpoint that loads what is loaded once.
 */
const [honest = '', hostile = '', rounds = '1'] = process.argv.slice(2);
const outbound = createOutbound({ clock: createSystemClock() });
const deliver = createDeliver({ http: outbound, clock: createSystemClock() });
for (let round = 0; round < 20; round += 1) await deliver(attempt(honest));
globalThis.gc?.();
const before = process.memoryUsage().rss;
let most = before;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 1);
const outcomes: unknown[] = [];
for (let round = 0; round < Number(rounds); round += 1) {
  const { status, failure, responseBody } = await deliver(attempt(hostile));
  outcomes.push({ status, failure, kept: responseBody.length });
}
most = Math.max(most, process.memoryUsage().rss);
clearInterval(watch);
await outbound.close();
process.stdout.write(JSON.stringify({ grown: most - before, outcomes }));
