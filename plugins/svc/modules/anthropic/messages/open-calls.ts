import { invalid } from '../../../kit/read-members.ts';

/** Which calls of tools have no result yet: vendors refuse such conversations, each in its own words. */
export interface OpenCalls {
  /** @throws RestError 400 for an id that another call has */
  open(id: string, path: string): void;
  /** @throws RestError 400 for the result of no open call */
  close(id: string, path: string): void;
  /** @throws RestError 400 that names a call without a result */
  end(): void;
}

export function createOpenCalls(): OpenCalls {
  /** Paths by id. */
  const paths = new Map<string, string>();
  return {
    open(id, path) {
      if (paths.has(id)) throw invalid(`${path}.id`, 'is the id of another call. Give each call another id.');
      paths.set(id, path);
    },
    close(id, path) {
      if (!paths.delete(id))
        throw invalid(path, 'names no open tool call. Send one result for each tool_use of the message before.');
    },
    end() {
      const [path] = paths.values();
      if (path === undefined) return;
      throw invalid(path, 'has no result. Send a tool_result with its id in the next message, or omit the call.');
    },
  };
}
