import { expect } from 'chai';
import {
  claimsFor,
  createEndpointQueue,
  initialConcurrency,
  maxBuffered,
  maxConcurrency,
  type EndpointQueue,
} from '../../../plugins/svc/webhooks/worker/endpoint-queue.ts';
import { batchSize, type Job } from '../../../plugins/svc/webhooks/store/store-contract.ts';

const job = {} as Job;

function queueWith(id: string, waiting: number): EndpointQueue {
  const queue = createEndpointQueue(id);
  queue.limit = maxConcurrency;
  queue.buffer.push(...Array.from({ length: waiting }, () => job));
  return queue;
}

const claims = (...lanes: EndpointQueue[]) => claimsFor(lanes, { now: 0, ahead: true, mayProbe: () => true });

describe('what the endpoint queues of a worker claim', () => {
  it('is enough to keep sending during the next claim', () => {
    const [claim] = claims(queueWith('quick', 0));
    expect((claim?.batches ?? 0) * batchSize).to.be.at.least(maxConcurrency * 16);
    expect(claims(queueWith('full', maxConcurrency * 12))).to.deep.equal([]);
  });

  it('is no more than needed if nothing can be sent during a claim', () => {
    const [claim] = claimsFor([queueWith('quick', 0)], { now: 0, ahead: false, mayProbe: () => true });
    expect((claim?.batches ?? 0) * batchSize).to.equal(maxConcurrency * 5);
    expect(
      claimsFor([queueWith('full', maxConcurrency * 3)], { now: 0, ahead: false, mayProbe: () => true }),
    ).to.deep.equal([]);
  });

  it('is little for an endpoint whose speed is unknown', () => {
    const [claim] = claims(createEndpointQueue('new'));
    expect((claim?.batches ?? 0) * batchSize).to.equal(initialConcurrency * 5);
  });

  it('is bounded for all endpoints together: at the bound only empty queues claim', () => {
    const many = Array.from({ length: maxBuffered / maxConcurrency }, (_, index) =>
      queueWith(String(index), maxConcurrency),
    );
    expect(claims(...many, queueWith('empty', 0)).map(({ endpointId }) => endpointId)).to.deep.equal(['empty']);
    expect(claims(...many.slice(1)).length).to.equal(many.length - 1);
  });

  it('is nothing without due jobs, and one probe for a paused endpoint', () => {
    const idle = queueWith('idle', 0);
    idle.ready = false;
    const paused = queueWith('paused', 0);
    paused.paused = true;
    expect(claims(idle, paused)).to.deep.equal([{ endpointId: 'paused', batches: 1, limit: 1 }]);
    expect(claimsFor([paused], { now: 0, ahead: true, mayProbe: () => false })).to.deep.equal([]);
  });
});
