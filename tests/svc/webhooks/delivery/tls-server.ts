import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from '../../../helpers/certificate.ts';

/** A server on localhost with a certificate nobody vouches for, made on the spot. */
export async function openTlsServer(): Promise<{ readonly port: number; requests(): number; close(): Promise<void> }> {
  let requests = 0;
  const server = createServer(makeCertificate(), (_request, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
