import type { Failure } from './failure.ts';
import { loadWindow } from './load-window.ts';

export interface Attempt {
  readonly root: string;
  readonly botId: string;
  /** Address that the page's security policy kept the script from. */
  readonly blocked?: string | null;
}

let blocked: string | null = null;
addEventListener('securitypolicyviolation', (event) => {
  if (event.effectiveDirective === 'connect-src') blocked = event.blockedURI;
});

/** Writes one line to the console: the problem and its fix. */
export function reportProblem(text: string): void {
  console.error(`[svc chatbot] ${text}`);
}

/** Writes to the console why a call failed, and how to fix it. The script of the window knows the reasons. */
export async function reportFailure(failure: Failure, attempt: Attempt): Promise<void> {
  if (failure.status === 0) {
    // The violation event arrives shortly after the call has failed.
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (!navigator.onLine)
      return reportProblem('The browser is offline. The chatbot appears when the connection is back.');
  }
  const described = loadWindow(attempt.root).then(({ diagnose }) => diagnose(failure, { ...attempt, blocked }));
  reportProblem(
    await described.catch(
      () => `No response from ${attempt.root}. Is its address in the script tag right, and is the site running?`,
    ),
  );
}
