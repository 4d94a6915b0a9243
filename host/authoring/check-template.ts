import { errorText } from '#plugin-api';
import type { Finding } from './check.ts';

/** Checks a template: unescaped output, forms without a nonce, and what the content security policy refuses. */
export function checkTemplate(name: string, text: string): Finding[] {
  const findings: Finding[] = [];
  const add = (rule: string, index: number, message: string): void =>
    void findings.push({ level: 'error', rule, at: `${name}:${lineAt(text, index)}`, message });
  // Comments keep their length, so that lines stay right.
  const code = text.replace(/\{\{!(?:--[^]*?--|[^}]*)\}\}/g, (comment) => comment.replace(/[^\n]/g, ' '));
  for (const { index } of code.matchAll(/\{\{\{|\{\{&/g))
    add('escaping', index, 'Output is not escaped. Use {{value}}, and host.views.safe(html) for trusted HTML.');
  for (const form of code.matchAll(/<form\b[^]*?(?:<\/form>|$)/g))
    if (/\bmethod="post"/i.test(form[0]) && !/\{\{\s*nonceField\s*\}\}/.test(form[0]))
      add('nonce', form.index, 'The form has no {{nonceField}}, so the host refuses it.');
  const scripts = [...code.matchAll(/<script\b[^>]*/gi)].filter(([tag]) => !/\bsrc=/i.test(tag));
  for (const { index } of [...scripts, ...code.matchAll(/<style\b|\sstyle="|\son[a-z]+="/gi)])
    add('csp', index, 'The content security policy refuses inline scripts and styles. Use files in the folder assets.');
  return findings;
}

/** Why a template cannot be rendered at all; null if it can be parsed. */
export async function parseErrorOf(name: string, text: string): Promise<Finding | null> {
  try {
    (await import('handlebars')).default.parse(text);
    return null;
  } catch (error) {
    // The parser draws the line and what it expected below the first line.
    const [first = ''] = errorText(error).split('\n', 1);
    return {
      level: 'error',
      rule: 'template',
      at: name,
      message: `The template cannot be read: ${first.replace(/:$/, '')}.`,
    };
  }
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
