import type { ChildProcess } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import { subscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { Server, type Socket } from 'node:net';
import type { Worker } from 'node:worker_threads';
import type { PluginFolders } from './log/plugin-folders.ts';

/** What a plugin has started and not ended, which the host cannot undo. */
export interface OpenResource {
  readonly kind: 'server' | 'timer' | 'connection' | 'child process' | 'thread' | 'listener';
  /** Which one, such as `127.0.0.1:5349`; empty for timers. */
  readonly name: string;
  /** File, line and column of the plugin. */
  readonly position: string;
}

export interface OpenResources {
  /** Watches this plugin from now on. */
  watch(slug: string): void;
  /** Forgets what the plugin has started so far. The returned function lists what of it is still open. */
  take(slug: string): () => OpenResource[];
}

interface Started {
  readonly kind: OpenResource['kind'];
  /** Null: it has ended. */
  readonly name: () => string | null;
  /** Where it was started. Its stack is read only if it is still open: to map it to sources takes time. */
  readonly origin: { readonly stack?: string };
}

/** What the plugin has called, up to which its stack is cut off. */
type Starter = (...args: never[]) => unknown;
/** Returns the plugin that started it, if it is watched. `name` returns null once it has ended. */
type Note = (kind: OpenResource['kind'], starter: Starter, name: () => string | null) => string | null;

/** Of one plugin, after which those that ended are forgotten, and after as many again. */
const many = 1_000;

/**
 * Remembers what plugins start that outlives them, by the work they start it in. A server that fails without a listener for its
 * error, for example since the port is in use, is reported instead of ending the process: its stack does not show the plugin.
 *
 * @param init `lendsPorts`: a process beside the site, for a command. A server that a plugin starts with itself gets any free port
 *   there, because the site needs the port, and the plugin may wait until it listens. Default: false.
 */
export function watchResources(
  folders: Pick<PluginFolders, 'findFrame' | 'current' | 'currentStep'>,
  report: (slug: string, error: unknown) => void,
  { lendsPorts = false }: { readonly lendsPorts?: boolean } = {},
): OpenResources {
  const bySlug = new Map<string, Started[]>();
  const note: Note = (kind, starter, name) => {
    const slug = bySlug.size === 0 ? null : folders.current();
    const known = slug === null ? undefined : bySlug.get(slug);
    if (slug === null || known === undefined) return null;
    const isMany = known.length > 0 && known.length % many === 0;
    const open = isMany ? known.filter((each) => each.name() !== null) : known;
    // No Error, which would capture a stack before.
    const origin = {};
    Error.captureStackTrace(origin, starter);
    open.push({ kind, name, origin });
    bySlug.set(slug, open);
    return slug;
  };
  watchTimers(note);
  watchServers((server, starter) => {
    const slug = note('server', starter, () => addressOf(server));
    if (slug === null) return false;
    server.on('error', (error) => {
      if (server.listenerCount('error') === 1) report(slug, error);
    });
    return lendsPorts && folders.currentStep() === slug;
  });
  watchChannels(note);
  const events: EventEmitter = process;
  events.on('newListener', function noteListener(event: string | symbol, listener: (...args: unknown[]) => void) {
    note('listener', noteListener, () => (events.listeners(event).includes(listener) ? String(event) : null));
  });
  return {
    watch: (slug) => void bySlug.set(slug, bySlug.get(slug) ?? []),
    take(slug) {
      const started = bySlug.get(slug) ?? [];
      bySlug.set(slug, []);
      return () =>
        started.flatMap(({ kind, name, origin }) => {
          const open = name();
          const position = open === null ? null : findStart(folders, origin);
          return open === null || position === null ? [] : { kind, name: open, position };
        });
    },
  };
}

/** Null: the host or a package started it. */
function findStart(folders: Pick<PluginFolders, 'findFrame'>, { stack = '' }: Started['origin']): string | null {
  const first = stack.split('\n').find((line) => /\.[cm]?[jt]s:\d/.test(line));
  return folders.findFrame(first ?? '')?.position ?? null;
}

function watchTimers(note: Note): void {
  const ended = new WeakSet<object>();
  const replace = (name: string, watched: object): void => {
    // With what Node adds to it, such as its form for promises.
    Object.defineProperties(watched, Object.getOwnPropertyDescriptors(Reflect.get(globalThis, name) as object));
    Object.assign(globalThis, { [name]: watched });
  };
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const original = globalThis[name] as (...given: unknown[]) => NodeJS.Timeout;
    const watched = (callback: unknown, ...given: unknown[]): NodeJS.Timeout => {
      let isOver = false;
      const once = function (this: unknown, ...args: unknown[]): unknown {
        isOver = true;
        return Reflect.apply(callback as () => unknown, this, args);
      };
      const timer = original(name === 'setTimeout' && typeof callback === 'function' ? once : callback, ...given);
      note('timer', watched, () => (isOver || ended.has(timer) || !timer.hasRef() ? null : ''));
      return timer;
    };
    replace(name, watched);
  }
  for (const name of ['clearTimeout', 'clearInterval'] as const) {
    const original = globalThis[name] as (timer: unknown) => void;
    replace(name, (timer: unknown): void => {
      if (typeof timer === 'object' && timer !== null) ended.add(timer);
      original(timer);
    });
  }
}

/** @param note returns whether the server gets another port than it asks for. */
function watchServers(note: (server: Server, starter: Starter) => boolean): void {
  const listen = Server.prototype.listen as (...args: unknown[]) => Server;
  const watched = function (this: Server, ...args: unknown[]): Server {
    const isLent = note(this, watched);
    const callback = args.at(-1);
    return listen.apply(this, isLent ? [0, '127.0.0.1', ...(typeof callback === 'function' ? [callback] : [])] : args);
  };
  Object.assign(Server.prototype, { listen: watched });
}

function addressOf(server: Server): string | null {
  const address = server.listening ? server.address() : null;
  return address === null || typeof address === 'string' ? address : `${address.address}:${address.port}`;
}

/** What Node announces by itself. */
function watchChannels(note: Note): void {
  subscribe('net.client.socket', function noteSocket(message) {
    const { socket } = message as { readonly socket: Socket };
    const nameOf = (): string => [socket.remoteAddress, socket.remotePort].filter(Boolean).join(':');
    note('connection', noteSocket, () => (socket.destroyed ? null : nameOf()));
  });
  subscribe('udp.socket', function noteSocket(message) {
    const { socket } = message as { readonly socket: DatagramSocket };
    let isClosed = false;
    socket.once('close', () => (isClosed = true));
    note('connection', noteSocket, () => (isClosed ? null : 'UDP'));
  });
  subscribe('child_process', function noteChild(message) {
    const child = (message as { readonly process: ChildProcess }).process;
    const isOpen = (): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
    note('child process', noteChild, () => (isOpen() ? `${child.spawnfile} (${child.pid})` : null));
  });
  subscribe('worker_threads', function noteThread(message) {
    const { worker } = message as { readonly worker: Worker };
    let hasEnded = false;
    worker.once('exit', () => (hasEnded = true));
    note('thread', noteThread, () => (hasEnded ? null : String(worker.threadId)));
  });
}
