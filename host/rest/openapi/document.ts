import type { OpenApiDocument, OpenApiObject } from '#plugin-api';
import type { Endpoint } from '../endpoint.ts';
import type { Route } from '../registry.ts';
import { createComponents, pascalCase, type Components } from './components.ts';
import { describeOperation } from './operation.ts';
import { pathTemplates, type PathTemplate } from './path-template.ts';

export interface DocumentInit {
  /** Empty for routes of the root. */
  readonly namespace: string;
  /** The namespace's routes, in order of registration. */
  readonly routes: readonly Route[];
  readonly siteName: string;
  /** Absolute URL of the namespace, without a trailing slash. */
  readonly url: string;
  /** Name of the session's cookie. */
  readonly cookie: string;
}

/** The OpenAPI 3.1 document of a namespace, from the definitions that validate its requests. Hidden routes are left out. */
export function describeNamespace({ namespace, routes, siteName, url, cookie }: DocumentInit): OpenApiDocument {
  const components = createComponents();
  const paths = createPaths();
  const nameOperation = createOperationIds();
  for (const { route, endpoint, template, method } of operationsOf(routes, namespace)) {
    const slot = paths.reserve(template, method);
    const operation = describeOperation({ route, endpoint, method, template: slot.template, components, cookie });
    paths.add(slot, { operationId: nameOperation(method, slot.template.template), ...operation });
  }
  const described = paths.all();
  return {
    openapi: '3.1.0',
    info: {
      title: `${siteName}: ${namespace === '' ? 'REST root' : namespace}`,
      version: versionOf(namespace),
      description: `Made from the definitions that check requests ${namespace === '' ? 'of all namespaces' : `below ${namespace}`}.`,
    },
    servers: [{ url }],
    tags: tagsOf(described),
    paths: described,
    components: withoutEmpty(components),
  };
}

interface Operation {
  readonly route: Route;
  readonly endpoint: Endpoint;
  readonly template: PathTemplate;
  readonly method: string;
}

/** Of two definitions with the same method, the first one applies. */
function* operationsOf(routes: readonly Route[], namespace: string): Generator<Operation> {
  for (const route of routes) {
    const templates = pathTemplates(route.pattern.path.slice(namespace === '' ? 0 : namespace.length + 1) || '/');
    const seen = new Set<string>();
    for (const endpoint of route.endpoints) {
      const methods = endpoint.methods.filter((method) => !seen.has(method));
      for (const method of methods) seen.add(method);
      if (endpoint.definition.showInIndex === false) continue;
      for (const template of templates) for (const method of methods) yield { route, endpoint, template, method };
    }
  }
}

interface PathSlot {
  readonly key: string;
  readonly template: PathTemplate;
  readonly method: string;
}

/**
 * For OpenAPI, templates that differ only in parameter names are one path: later ones use the names of the first. If both
 * have the same method, the later one gets a fragment, which clients do not send.
 */
function createPaths() {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  const templates = new Map<string, PathTemplate>();
  return {
    reserve(template: PathTemplate, method: string): PathSlot {
      const shape = template.template.replace(/\{\w+\}/g, '{}');
      const first = templates.get(shape) ?? template;
      templates.set(shape, first);
      if (paths[first.template]?.[method.toLowerCase()] === undefined)
        return { key: first.template, template: renamed(template, first), method };
      let number = 2;
      while (paths[`${template.template}#${number}`]?.[method.toLowerCase()] !== undefined) number += 1;
      return { key: `${template.template}#${number}`, template, method };
    },
    add({ key, method }: PathSlot, operation: OpenApiObject): void {
      (paths[key] ??= {})[method.toLowerCase()] = operation;
    },
    all: () => paths,
  };
}

function renamed(template: PathTemplate, first: PathTemplate): PathTemplate {
  return {
    template: first.template,
    parameters: template.parameters.map(({ name, pattern }, index) => ({
      name: first.parameters[index]?.name ?? name,
      argument: name,
      pattern,
    })),
  };
}

/** `v1` of `svc/v1`. */
function versionOf(namespace: string): string {
  return /(?:^|\/)(v\d[\w.-]*)$/.exec(namespace)?.[1] ?? '1';
}

function tagsOf(paths: OpenApiDocument['paths']): { name: string }[] {
  const names = Object.values(paths).flatMap((operations) =>
    Object.values(operations).flatMap(({ tags }) => tags as string[]),
  );
  return [...new Set(names)].map((name) => ({ name }));
}

function withoutEmpty(components: Components): OpenApiDocument['components'] {
  return Object.fromEntries(Object.entries(components.all()).filter(([, parts]) => Object.keys(parts).length > 0));
}

/** Names operations by method and path, such as `getPostsById`. Names are unique. */
function createOperationIds(): (method: string, template: string) => string {
  const used = new Set<string>();
  return (method, template) => {
    const parts = template.split(/[^\w{}]+/).filter((part) => part !== '');
    const name =
      method.toLowerCase() +
      (parts.map((part) => (part.includes('{') ? `By${pascalCase(part)}` : pascalCase(part))).join('') || 'Index');
    let found = name;
    for (let number = 2; used.has(found); number += 1) found = `${name}${number}`;
    used.add(found);
    return found;
  };
}
