import type { SignedIn, TestHost } from '#testing';

/** An administrator's browser, with cookie and nonces, for pages without scripts. */
export interface Browser {
  get(path: string): Promise<string>;
  /** Submits an action of a page with its nonce. */
  readonly post: SignedIn['submit'];
}

/** Creates an administrator and signs in. */
export async function signIn(host: TestHost): Promise<Browser> {
  const { open, submit } = await host.signIn();
  return { get: async (path) => (await open(path)).text, post: submit };
}
