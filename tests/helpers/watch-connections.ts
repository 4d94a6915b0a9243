import { Socket } from 'node:net';

export interface ConnectionWatch {
  /** Ports that sockets of this process began to connect to, in order. */
  readonly ports: readonly string[];
  stop(): void;
}

/** Records every outbound connection that this process begins, also those that never succeed. */
export function watchConnections(): ConnectionWatch {
  const ports: string[] = [];
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    // net.connect passes its normalized arguments as one array: options, callback.
    const [first] = args;
    const options = (Array.isArray(first) ? (first as unknown[])[0] : first) as { port?: unknown } | number;
    ports.push(String(typeof options === 'object' ? options.port : options));
    return (connect as (...given: unknown[]) => Socket).apply(this, args);
  } as typeof connect;
  return {
    ports,
    stop: () => {
      Socket.prototype.connect = connect;
    },
  };
}
