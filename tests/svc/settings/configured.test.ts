import { expect } from 'chai';
import { configurationState } from '../../../plugins/svc/settings/configured.ts';

describe('the state of a provider without required settings', () => {
  const local = { id: 'local', label: 'Local', required: [], settings: { type: 'object', properties: {} } } as const;

  it('is not "Configured" before a person has saved it', () => {
    const stateOf = (isSaved: boolean) => configurationState(local, {}, { unreadable: [], isSaved });
    expect([stateOf(false).badge.text, stateOf(true).badge.text]).to.deep.equal(['Default settings', 'Configured']);
    expect(stateOf(false).isReady).to.equal(true);
  });
});
