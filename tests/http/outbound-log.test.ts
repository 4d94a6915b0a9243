import { expect } from 'chai';
import { inRequest } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { createOutbound } from '../../host/http/outbound.ts';
import { failureOf } from '../helpers/failure-of.ts';

describe('the log of outbound requests', () => {
  it('has the reason with the id of the request that it failed in', async () => {
    const lines: unknown[] = [];
    const log = { info: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
    const logged = createOutbound({ clock: createSystemClock(), log });
    await failureOf(logged.fetch('http://127.0.0.1:1/'));
    expect(lines).to.deep.equal([]);
    await inRequest({ door: 'rest', requestId: 'request-1' }, () => failureOf(logged.fetch('http://10.0.0.1/')));
    const connect = logged.connector();
    const given = { hostname: '10.0.0.2', protocol: 'http:', port: '80' };
    await inRequest(
      { door: 'rest', requestId: 'request-2' },
      () => new Promise((resolve) => connect(given, (...outcome) => resolve(outcome[0]))),
    );
    const line = { message: 'Outbound request failed', event: 'outbound_failed', code: 'outbound_refused' };
    expect(lines).to.deep.equal(
      [1, 2].map((count) => ({
        ...line,
        request_id: `request-${count}`,
        reason: `10.0.0.${count} is not a public address (private).`,
      })),
    );
    await logged.close();
  });
});
