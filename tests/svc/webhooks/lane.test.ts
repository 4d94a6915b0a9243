import { expect } from 'chai';
import {
  claimsOf,
  createLane,
  firstLimit,
  mostHeld,
  mostPerEndpoint,
  type Lane,
} from '../../../plugins/svc/webhooks/worker/lane.ts';
import { passSize, type Job } from '../../../plugins/svc/webhooks/store/store-contract.ts';

const job = {} as Job;

function laneWith(id: string, waiting: number): Lane {
  const lane = createLane(id);
  lane.limit = mostPerEndpoint;
  lane.buffer.push(...Array.from({ length: waiting }, () => job));
  return lane;
}

const claims = (...lanes: Lane[]) => claimsOf(lanes, { now: 0, ahead: true, mayProbe: () => true });

describe('what the lanes of a worker claim', () => {
  it('is enough that none runs dry while the next claim is under way', () => {
    const [claim] = claims(laneWith('quick', 0));
    expect((claim?.passes ?? 0) * passSize).to.be.at.least(mostPerEndpoint * 16);
    expect(claims(laneWith('full', mostPerEndpoint * 12))).to.deep.equal([]);
  });

  it('is no more than is needed where nothing can be sent during a claim', () => {
    const [claim] = claimsOf([laneWith('quick', 0)], { now: 0, ahead: false, mayProbe: () => true });
    expect((claim?.passes ?? 0) * passSize).to.equal(mostPerEndpoint * 5);
    expect(
      claimsOf([laneWith('full', mostPerEndpoint * 3)], { now: 0, ahead: false, mayProbe: () => true }),
    ).to.deep.equal([]);
  });

  it('is little for an endpoint of which nobody knows how quick it is', () => {
    const [claim] = claims(createLane('new'));
    expect((claim?.passes ?? 0) * passSize).to.equal(firstLimit * 5);
  });

  it('is bounded for all endpoints together: with much in hand, those alone that have nothing get something', () => {
    const many = Array.from({ length: mostHeld / mostPerEndpoint }, (_, index) =>
      laneWith(String(index), mostPerEndpoint),
    );
    expect(claims(...many, laneWith('empty', 0)).map(({ endpointId }) => endpointId)).to.deep.equal(['empty']);
    expect(claims(...many.slice(1)).length).to.equal(many.length - 1);
  });

  it('is nothing for one that has nothing due, and one probe for one that is paused', () => {
    const idle = laneWith('idle', 0);
    idle.ready = false;
    const paused = laneWith('paused', 0);
    paused.paused = true;
    expect(claims(idle, paused)).to.deep.equal([{ endpointId: 'paused', passes: 1, most: 1 }]);
    expect(claimsOf([paused], { now: 0, ahead: true, mayProbe: () => false })).to.deep.equal([]);
  });
});
