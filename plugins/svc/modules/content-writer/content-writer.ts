import { lazy } from '#plugin-api';
import type { HostPort, ImagesPort, ProvidersPort, SettingsPort, TextPort, UsagePort } from '../../ports.ts';
import { createRunStore, type RunStore } from './runs/run-store.ts';
import { createTemplateStore, type TemplateStore } from './templates/template-store.ts';
import type { GenerateContent } from './write/generate-content.ts';

export type ContentPorts = HostPort & ProvidersPort & SettingsPort & TextPort & ImagesPort & Pick<UsagePort, 'costOf'>;

/** What the pages, commands and jobs of the content writer share. */
export interface ContentWriter extends ContentPorts {
  readonly templates: TemplateStore;
  readonly runs: RunStore;
  readonly generate: GenerateContent;
}

export function createContentWriter(ports: ContentPorts): ContentWriter {
  const { host } = ports;
  return {
    ...ports,
    templates: createTemplateStore({
      host,
      providers: async () => {
        const all = ports.providers.all();
        return {
          text: all.filter(({ text }) => text).map(({ id }) => id),
          images: all.filter(({ images }) => images).map(({ id }) => id),
        };
      },
    }),
    runs: createRunStore(host),
    generate: lazy(async () => (await import('./write/generate-content.ts')).createGenerateContent(ports)),
  };
}
