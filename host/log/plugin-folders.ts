import { sep } from 'node:path';

/** Where a stack enters the code of a plugin. */
export interface PluginFrame {
  readonly slug: string;
  /** File, line and column. */
  readonly position: string;
}

/** The folders of the plugins whose code this process has loaded, to name the plugin that an error came from. */
export interface PluginFolders {
  /** @param directory absolute, with links resolved. */
  add(slug: string, directory: string): void;
  /** Finds the first line of a stack that is in the folder of a plugin. */
  findFrame(stack: string): PluginFrame | null;
  /** Slug of the plugin whose code the error, or one of its causes, came through. */
  ownerOf(error: unknown): string | null;
}

/** Causes of causes to look at: they may form a circle. */
const maxCauses = 5;

export function createPluginFolders({
  onAdd = () => undefined,
}: { readonly onAdd?: (slug: string, directory: string) => void } = {}): PluginFolders {
  const folders = new Map<string, string>();
  const findFrame: PluginFolders['findFrame'] = (stack) => {
    for (const line of stack.split('\n')) {
      const path = line.includes('file://') ? decode(line.replace('file://', '')) : line;
      for (const [directory, slug] of folders) {
        const start = path.indexOf(directory + sep);
        if (start >= 0) return { slug, position: path.slice(start).replace(/\)$/, '') };
      }
    }
    return null;
  };
  return {
    add(slug, directory) {
      folders.set(directory, slug);
      onAdd(slug, directory);
    },
    findFrame,
    ownerOf(error) {
      let current = error;
      for (let depth = 0; depth < maxCauses && current instanceof Error; depth += 1) {
        const frame = findFrame(String(current.stack));
        if (frame !== null) return frame.slug;
        current = current.cause;
      }
      return null;
    },
  };
}

/** Addresses of modules are percent-encoded. */
function decode(line: string): string {
  try {
    return decodeURI(line);
  } catch {
    return line;
  }
}
