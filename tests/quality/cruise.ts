import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import { boundaries } from './boundaries.ts';

const trees = new Map<string, Promise<ICruiseResult>>();

/** Every import of host and plugins below `root` (empty, or a path that ends with a slash), with broken rules. Read once. */
export function readImports(root = ''): Promise<ICruiseResult> {
  const known = trees.get(root) ?? cruiseTree(root);
  trees.set(root, known);
  return known;
}

async function cruiseTree(root: string): Promise<ICruiseResult> {
  const options: ICruiseOptions = {
    ruleSet: { forbidden: boundaries(root) },
    validate: true,
    tsPreCompilationDeps: 'specify',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  };
  const { output } = await cruise([`${root}host`, `${root}plugins`], options);
  return output as ICruiseResult;
}
