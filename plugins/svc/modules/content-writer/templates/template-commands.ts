import type { CliCommand } from '#plugin-api';
import { transferCommands } from '../../../kit/transfer-commands.ts';
import type { ContentWriter } from '../content-writer.ts';
import { templateTransfer } from './template-store.ts';
import { enabledParts, type Template } from './template.ts';

const idArgument = { name: 'id', description: 'Id or name of a template; see svc content templates list.' };

/** `svc content templates list|get|set|delete|export|import`. */
export function templateCommands(writer: ContentWriter): CliCommand[] {
  const { templates } = writer;
  const find = async (id: string | undefined): Promise<Template> => {
    const found = await templates.find(id ?? '');
    if (found === null) throw new Error(`There is no template ${String(id)}. See svc content templates list.`);
    return found;
  };
  return [
    {
      name: 'svc content templates list',
      description: 'List the templates.',
      run: async () =>
        (await templates.list()).map((one) => ({
          id: one.id,
          name: one.name,
          kind: one.kind,
          parts: enabledParts(one).join(', '),
          built_in: one.builtIn,
        })),
    },
    {
      name: 'svc content templates get',
      description: 'Print a template with all its prompts.',
      args: [idArgument],
      run: async ({ args: [id] }) => find(id),
    },
    {
      name: 'svc content templates set',
      description: 'Create a template, or replace the one with the given "id", and print it.',
      flags: {
        json: {
          type: 'object',
          description:
            '{"id"?, "name", "description", "kind": write|rewrite, "provider", "model", "system", "params": {}, ' +
            '"parts": {"title": {"enabled": true, "prompt": "Write a title about {topic}", "model", "params": {}}, ' +
            '...}}; missing members get defaults.',
        },
      },
      run: async ({ flags: { json } }) => {
        if (typeof json !== 'object' || json === null)
          throw new Error(
            'Pass the template as JSON, for example: svc content templates set --json \'{"name": "Short", "parts": ' +
              '{"content": {"enabled": true, "prompt": "Write 100 words about {topic}."}}}\'',
          );
        const { id, builtIn: _builtIn, ...settings } = json as Record<string, unknown>;
        if (id === undefined) return templates.create(settings);
        const found = await find(String(id));
        if (found.builtIn)
          throw new Error(
            `The template ${found.name} is built in and cannot be changed. Omit "id" and use another name to save a copy.`,
          );
        return templates.replace(found.id, settings);
      },
    },
    {
      name: 'svc content templates delete',
      description: 'Delete a template. Texts created with it are kept.',
      args: [idArgument],
      run: async ({ args: [id] }) => {
        const found = await find(id);
        if (!(await templates.delete(found.id)))
          throw new Error(`The template ${found.name} is built in and cannot be deleted.`);
        return { id: found.id, deleted: true };
      },
    },
    ...transferCommands({
      command: 'svc content templates',
      descriptions: {
        export: 'Print the given or all saved templates as JSON for svc content templates import.',
        import: 'Import all templates of an export, or none if one is invalid, and print them.',
      },
      idArgument,
      find,
      list: async () => (await templates.list()).filter(({ builtIn }) => !builtIn),
      transfer: templateTransfer,
      store: templates,
      print: ({ id, name, kind }) => ({ id, name, kind }),
    }),
  ];
}
