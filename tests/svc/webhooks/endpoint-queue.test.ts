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

function laneWith(id: string, waiting: number): EndpointQueue {
  const lane = createEndpointQueue(id);
  lane.limit = maxConcurrency;
  lane.buffer.push(...Array.from({ length: waiting }, () => job));
  return lane;
}

const claims = (...lanes: EndpointQueue[]) => claimsFor(lanes, { now: 0, ahead: true, mayProbe: () => true });

describe('what the lanes of a worker claim', () => {
  it('is enough that none runs dry while the next claim is under way', () => {
    const [claim] = claims(laneWith('quick', 0));
    expect((claim?.batches ?? 0) * batchSize).to.be.at.least(maxConcurrency * 16);
    expect(claims(laneWith('full', maxConcurrency * 12))).to.deep.equal([]);
  });

  it('is no more than is needed where nothing can be sent during a claim', () => {
    const [claim] = claimsFor([laneWith('quick', 0)], { now: 0, ahead: false, mayProbe: () => true });
    expect((claim?.batches ?? 0) * batchSize).to.equal(maxConcurrency * 5);
    expect(
      claimsFor([laneWith('full', maxConcurrency * 3)], { now: 0, ahead: false, mayProbe: () => true }),
    ).to.deep.equal([]);
  });

  it('is little for an endpoint of which nobody knows how quick it is', () => {
    const [claim] = claims(createEndpointQueue('new'));
    expect((claim?.batches ?? 0) * batchSize).to.equal(initialConcurrency * 5);
  });

  it('is bounded for all endpoints together: with much in hand, those alone that have nothing get something', () => {
    const many = Array.from({ length: maxBuffered / maxConcurrency }, (_, index) =>
      laneWith(String(index), maxConcurrency),
    );
    expect(claims(...many, laneWith('empty', 0)).map(({ endpointId }) => endpointId)).to.deep.equal(['empty']);
    expect(claims(...many.slice(1)).length).to.equal(many.length - 1);
  });

  it('is nothing for one that has nothing due, and one probe for one that is paused', () => {
    const idle = laneWith('idle', 0);
    idle.ready = false;
    const paused = laneWith('paused', 0);
    paused.paused = true;
    expect(claims(idle, paused)).to.deep.equal([{ endpointId: 'paused', batches: 1, limit: 1 }]);
    expect(claimsFor([paused], { now: 0, ahead: true, mayProbe: () => false })).to.deep.equal([]);
  });
});
