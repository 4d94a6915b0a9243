import nock from 'nock';

// Importing nock intercepts all requests; restore them except in suites that use it.
nock.restore();

/**
 * Makes nock handle all `globalThis.fetch` requests of a suite; requests without an interceptor fail.
 * Call it inside `describe`.
 */
export function useRecordedResponses(): void {
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
