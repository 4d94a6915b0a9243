import { readRows } from './data.ts';
import { createBase } from './knowledge.ts';
import { createMeasure, type Kind, type Row } from './measure.ts';
import { startWorldSite, type WorldSite } from './site.ts';

/* Questions that people asked about paragraphs: whether the search of a knowledge base finds the paragraph. */

interface Paragraph {
  readonly id: string;
  readonly article: string;
  readonly text: string;
  readonly questions: readonly { readonly id: string; readonly question: string }[];
}

const languages = ['en', 'de'] as const;

export const kind: Kind = {
  title: 'questions: what the search of a knowledge base finds',
  async run(folder) {
    const site = await startWorldSite();
    try {
      const rows: Row[] = [];
      for (const language of languages)
        rows.push(...(await ask(site, language, readRows<Paragraph>(folder, `${language}.jsonl`))));
      return rows;
    } finally {
      await site.stop();
    }
  },
};

async function ask(site: WorldSite, language: string, paragraphs: readonly Paragraph[]): Promise<Row[]> {
  const base = await createBase(site, `Questions-${language}`);
  for (const [article, own] of groupByArticle(paragraphs)) {
    const text = own.map((paragraph) => `## ${paragraph.id}\n\n${paragraph.text}`).join('\n\n');
    const refusal = await base.upload(new File([text], `${article}.md`));
    if (refusal !== null) throw new Error(`${article}.md was refused: ${refusal}`);
  }
  await base.sources();
  await base.close();
  const atFive = createMeasure(`${language}: among the first five`);
  const first = createMeasure(`${language}: first`);
  for (const { id: paragraph, questions } of paragraphs)
    for (const { id, question } of questions) {
      const passages = await search(site, base.id, question);
      const rank = passages.findIndex((passage) => JSON.stringify(passage).includes(paragraph));
      const reason = `"${question}" is about ${paragraph}`;
      atFive.add(id, rank >= 0 ? null : reason);
      first.add(id, rank === 0 ? null : reason);
    }
  return [atFive.row(), first.row()];
}

async function search(site: WorldSite, base: number, question: string): Promise<readonly unknown[]> {
  const query = new URLSearchParams({ 'input[base]': String(base), 'input[question]': question, 'input[limit]': '5' });
  const response = await site.asAdministrator(`wp-abilities/v1/abilities/svc/search-knowledge/run?${query.toString()}`);
  if (!response.ok) throw new Error(`The search was refused with ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { readonly passages: readonly unknown[] }).passages;
}

function groupByArticle(paragraphs: readonly Paragraph[]): Map<string, Paragraph[]> {
  const groups = new Map<string, Paragraph[]>();
  for (const paragraph of paragraphs)
    groups.set(paragraph.article, [...(groups.get(paragraph.article) ?? []), paragraph]);
  return groups;
}
