import type { Finding } from './check.ts';

/**
 * Checks a template: unescaped output, forms without a nonce, what the content security policy refuses, and text that is not
 * translated.
 *
 * @param translates whether the plugin has translations: then all text of pages goes through them.
 */
export function checkTemplate(name: string, text: string, translates: boolean): Finding[] {
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
  if (translates) {
    const plain = blankTags(code);
    for (const { index, 0: found } of plain.matchAll(/>[^<>]*</g)) {
      const words = found.slice(1, -1).trim();
      if (/\p{L}{2}/u.test(words))
        add('translation', index + 1, `'${words.slice(0, 40)}' is not translated. Write: {{__ "..."}}`);
    }
  }
  return findings;
}

/** Everything in `{{...}}` as spaces, so that lines stay right. */
function blankTags(code: string): string {
  const [first = '', ...parts] = code.split('{{');
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
  return (
    first +
    parts.map((part) => `  ${blank(part.split('}}', 1)[0] ?? '')}  ${part.split('}}').slice(1).join('}}')}`).join('')
  );
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
