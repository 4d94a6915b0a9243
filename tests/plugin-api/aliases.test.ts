import { expect } from 'chai';
import type { RouteAnswer, RouteResponse } from '#plugin-api';

describe('renamed types of the plugin API', () => {
  it('keep their old names', () => {
    const response: RouteResponse = { description: 'Success.' };
    const alias: RouteAnswer = response;
    expect(alias).to.equal(response);
  });
});
