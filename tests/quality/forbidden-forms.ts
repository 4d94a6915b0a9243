/** A form that reaches behind a library, Node or V8 (D37), and what to do in its place. */
export interface ForbiddenForm {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Members of this project's own data that begin so, as WordPress names them. */
const ownMembers = '_links|_embedded|_fields|_embed|_wp_\\w+|_nonce|_n|_controller';

export const forbiddenForms: readonly ForbiddenForm[] = [
  {
    name: 'private member through a cast',
    // A cast to a list is one of rows.
    pattern: /\bas unknown as (?:readonly )?\{(?:[^{}]|\{[^{}]*\})*\}(?!\[\])/g,
    instead: 'Use what the type of the library declares.',
  },
  {
    name: 'private member',
    pattern: new RegExp(
      `(?<!\\bthis)\\.(?!(?:${ownMembers})\\b)_[a-z]\\w*|\\breadonly (?!(?:${ownMembers})\\b)_[a-z]\\w*\\??:|\\bprotected override\\b|\\boverride (?:async )?_`,
      'gi',
    ),
    instead: 'Use a public member, event or option.',
  },
  {
    name: 'internals of a package',
    pattern:
      /\bfrom '(?!\.)(?:@[\w-]+\/)?[\w.-]+\/(?:lib|dist|src|internal|build)\/|\brequire\('(?:@[\w-]+\/)?[\w.-]+\/(?:lib|dist|src)\//g,
    instead: 'Import what the package exports.',
  },
  {
    name: 'flag of V8 at run time',
    pattern: /\bsetFlagsFromString\b|\b(?:globalThis|global)\.gc\b|\brunInNewContext\(|--expose-gc/g,
    instead: "Run with Node's own settings.",
  },
  {
    name: 'code from text',
    pattern: /\bnew Function\b|(?<![\w.])(?:Function|eval)\(/g,
    instead: 'Write the loop.',
  },
  {
    name: 'replaced member of a prototype',
    pattern:
      /\.prototype(?:\.\w+|\[[^\]]+\]) = |\bdefineProperty\(\w+\.prototype\b|\bgetPrototypeOf\([^)]*\b(?:client|Client)\)/g,
    instead: 'Wrap it, or use a public hook.',
  },
  {
    name: 'replaced global',
    pattern:
      /(?<!\btypeof )\b(?:globalThis|global)\.\w+ = |\b(?:Reflect\.set|Object\.assign|(?:Object|Reflect)\.defineProperty)\((?:globalThis|global)\b/g,
    instead: 'Pass it as an argument.',
  },
  {
    name: 'storage that is disabled',
    pattern: /\bstorage\.disable\(\)/g,
    instead: 'Leave it on: it costs nothing with Node 24, and work that still runs needs it.',
  },
  {
    name: 'own cryptography',
    // The pads of an HMAC, and the first words of SHA-256, SHA-1 and MD5.
    pattern:
      /\b0x(?:36363636|5c5c5c5c|6a09e667|67452301)\b|\balloc(?:Unsafe)?\([^)]*, ?0x(?:36|5c)\)|\b0x(?:36|5c) \^/gi,
    instead: 'Use node:crypto.',
  },
];

/** Why a file has a form all the same, by form. */
export const exceptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'code from text': {
    'host/hooks/compiled-run.ts':
      'Hooks keep up with tapable by name (D37), which compiles its runs too: 11 ns for a filter of 1 or 10 callbacks; the plain loop takes 24 and 85, tapable 10 and 47.',
  },
  'private member through a cast': {
    'plugins/svc/vector-stores/chroma/chroma-client.ts':
      "Chroma's client has no option for the way its requests are sent.",
  },
  'replaced global': {
    'host/admin/assets/texts.js': 'Defines a new name for the scripts of a page.',
    'host/open-resources.ts': 'Names the plugin whose timer or server outlives it: Node announces neither of them.',
  },
};

/** What a text of source has of the forms, as sentences. */
export function findForbidden(path: string, text: string): string[] {
  return forbiddenForms.flatMap(({ name, pattern, instead }) =>
    exceptions[name]?.[path] === undefined
      ? [...text.matchAll(pattern)].map(
          ({ 0: found, index }) =>
            `${path}:${String(text.slice(0, index).split('\n').length)} has a ${name} (${found.trim()}). ${instead}`,
        )
      : [],
  );
}
