import type { OutputFormat } from '../../../ai/structured-output.ts';
import type { PartName } from '../templates/template.ts';

type DataPart = Exclude<PartName, 'content' | 'image'>;

const text = { type: 'string' } as const;

function output(part: DataPart, schema: OutputFormat['schema']): OutputFormat {
  return { name: part, schema: { type: 'object', properties: { [part]: schema }, required: [part] } };
}

const outputs: Readonly<Record<DataPart, OutputFormat>> = {
  title: output('title', text),
  excerpt: output('excerpt', text),
  meta_description: output('meta_description', text),
  focus_keyword: output('focus_keyword', text),
  tags: output('tags', { type: 'array', items: text }),
};

/** The schema of a section. The text of a post has none: it is Markdown, and streamed. */
export function outputOfPart(part: Exclude<PartName, 'image'>): OutputFormat | undefined {
  return part === 'content' ? undefined : outputs[part];
}
