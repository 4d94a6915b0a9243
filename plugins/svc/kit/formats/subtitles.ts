/** Seconds of a paragraph of subtitles. */
const paragraphLength = 60;
const times = /^(?:(\d+):)?(\d\d):(\d\d)[.,]\d{3}\s+-->/;

/** The text of subtitles (SRT, WebVTT) in paragraphs of a minute, each with its time. Notes and styles are left out. */
export function readSubtitles(text: string): string {
  const paragraphs: { readonly from: number; lines: string[] }[] = [];
  for (const block of text.replaceAll(/\r\n?/g, '\n').split(/\n\s*\n/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => times.test(line.trim()));
    const from = at < 0 ? null : secondsOf(lines[at]?.trim() ?? '');
    if (from === null) continue;
    const said = lines
      .slice(at + 1)
      .map(plainText)
      .filter((line) => line !== '');
    if (said.length === 0) continue;
    const last = paragraphs.at(-1);
    if (last === undefined || from - last.from >= paragraphLength || from < last.from)
      paragraphs.push({ from, lines: said });
    // Captions that roll up repeat the line before.
    else last.lines.push(...said.filter((line) => line !== last.lines.at(-1)));
  }
  return paragraphs.map(({ from, lines }) => `[${formatTime(from)}] ${lines.join('\n')}`).join('\n\n');
}

function secondsOf(line: string): number | null {
  const [, hours = '0', minutes = '0', seconds = '0'] = times.exec(line) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
}

function formatTime(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return [hours, minutes, rest].map((part) => String(part).padStart(2, '0')).join(':');
}

/** The name of who speaks, `<v Ada>`, is text; other tags are not. */
function plainText(line: string): string {
  return line
    .replace(/<v(?:\.[^\s<>]*)?\s([^<>]+)>/g, '$1: ')
    .replace(/<\/?[^<>]*>|\{\\[^{}]*\}/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}
