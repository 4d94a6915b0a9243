import type { Logger } from '#plugin-api';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import type { FakeClock } from '../../../host/testing/fake-clock.ts';
import { defaultFaultSettings } from '../../../plugins/sandbox/fault-injection.ts';
import type { FaultSettings } from '../../../plugins/sandbox/fault-injection.ts';
import { createSandboxServer } from '../../../plugins/sandbox/server.ts';
import type { SandboxServer } from '../../../plugins/sandbox/server.ts';
import type { VectorStorage } from '../../../plugins/sandbox/storage/vector-storage.ts';

export interface OpenSandbox {
  readonly url: string;
  readonly server: SandboxServer;
  readonly clock: FakeClock;
  turn(faults: Partial<FaultSettings>): void;
  close(): Promise<void>;
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => silent };

/** A sandbox server alone, without a host, its time standing still at 2026-01-01; it remembers in memory unless it is given a storage. */
export async function openSandbox({ storage }: { readonly storage?: VectorStorage } = {}): Promise<OpenSandbox> {
  let current: FaultSettings = { ...defaultFaultSettings, pace_ms: 0 };
  const clock = createFakeClock();
  const server = createSandboxServer({
    clock,
    log: silent,
    faults: () => Promise.resolve(current),
    ...(storage && { storage }),
  });
  const { url } = await server.start();
  return {
    url,
    server,
    clock,
    turn: (faults) => {
      current = { ...defaultFaultSettings, pace_ms: 0, ...faults };
    },
    close: () => server.stop(),
  };
}
