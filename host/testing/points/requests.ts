import { hostileRequests, type SentRequest } from '../hostile-requests.ts';
import { tryOutages } from '../outages.ts';
import { added, readTraces } from '../plugin-traces.ts';
import { ownRoutes, type Subject } from './subject.ts';

export async function tryFailingDatabase(subject: Subject): Promise<string | undefined> {
  const { host, before } = subject;
  const after = await readTraces(host);
  const [routes, events] = [ownRoutes(subject), added(before.events, after.events)];
  if (routes.length + events.length === 0) return 'The plugin has no routes and no cron events.';
  const { user } = await host.signIn();
  await tryOutages({ host, user, routes, events, tables: added(before.tables, after.tables) });
  return undefined;
}

export async function tryRoutes(subject: Subject): Promise<string | undefined> {
  const { host } = subject;
  const own = ownRoutes(subject);
  if (own.length === 0) return 'The plugin has no routes.';
  const { user } = await host.signIn();
  const failures: string[] = [];
  for (const request of own.flatMap(hostileRequests)) {
    const { status, body } = await host.rest.dispatch(request.route, { ...request.init, user });
    if (status === 500) failures.push(describeFailure(request, body));
  }
  if (failures.length > 0) throw new Error(`${failures.length} requests answered 500. ${failures[0] ?? ''}`);
  return undefined;
}

function describeFailure({ route, init }: SentRequest, body: unknown): string {
  const sent = JSON.stringify(init.json ?? init.query).slice(0, 200);
  return `The first: ${init.method ?? 'GET'} ${route} ${sent}: ${JSON.stringify(body).slice(0, 200)}`;
}
