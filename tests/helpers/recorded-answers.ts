import nock from 'nock';

// Importing nock puts it between all tests and the network; it stands there only for the suites that ask.
nock.restore();

/**
 * Lets nock answer all requests of a suite that go through `globalThis.fetch`; whatever no interceptor expects fails.
 * Call it inside `describe`.
 */
export function useRecordedAnswers(): void {
  before(() => {
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
  });
  afterEach(() => {
    nock.abortPendingRequests();
    nock.cleanAll();
  });
  after(() => {
    nock.enableNetConnect();
    nock.restore();
  });
}

/** The global `fetch` as it is at each call, which is nock's while a suite uses it. */
export const currentFetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init);
