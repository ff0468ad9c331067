import { UsageError } from '../operation-parameters.ts';
import { HIDDEN } from '../visible.ts';
import type { Chat } from './chats.ts';

/** What a template may name. `link` is the reference as a link to the incident in the console. */
const PLACEHOLDERS = [
  ...(['link', 'reference', 'url', 'title', 'what', 'severity', 'status', 'service'] as const),
  ...(['type', 'occurred_at', 'workspace', 'by'] as const),
];
export type Values = Readonly<Record<Exclude<(typeof PLACEHOLDERS)[number], 'link'>, string>>;

export const DEFAULT_TEMPLATE = '{{link}} {{title}}: {{what}}';

/** Code points of a value. */
const LONGEST_VALUE = 1_000;

/**
 * Returns what makes the text of an event, within the limit of the chat. The template has the chat's own markup; values
 * become text without markup.
 * @param name of the file, for messages
 * @throws UsageError
 */
export function parseTemplate(
  template: string,
  name: string,
  { limit, escape, link }: Chat,
): (values: Values) => string {
  const wrong = (index: number, what: string) =>
    new UsageError(`${name}:${template.slice(0, index).split('\n').length}: ${what}`);
  const text = template.trimEnd();
  const parts: { before: string; placeholder: string }[] = [];
  let end = 0;
  for (const { 0: given, 1: placeholder = '', index } of text.matchAll(/\{\{([^{}\n]*)\}\}|\{\{/g)) {
    if (!(PLACEHOLDERS as string[]).includes(placeholder))
      throw wrong(index, `${given} is no placeholder; there are: ${PLACEHOLDERS.join(', ')}`);
    parts.push({ before: text.slice(end, index), placeholder });
    end = index + given.length;
  }
  const fixedLength = parts.reduce((sum, { before }) => sum + before.length, text.length - end);
  if (text === '' || fixedLength > limit / 2)
    throw wrong(0, `must have 1 to ${limit / 2} characters besides placeholders`);

  const render = (values: Values, longest: number): string => {
    const valueOf = (placeholder: string): string => {
      if (longest === 0) return '';
      const { url, reference } = values;
      if (placeholder === 'url') return url;
      const value = escape(cut(placeholder === 'link' ? reference : values[placeholder as keyof Values], longest));
      return placeholder === 'link' && url !== '' ? link(value, url) : value;
    };
    return parts.map(({ before, placeholder }) => before + valueOf(placeholder)).join('') + text.slice(end);
  };
  return (values) => {
    // Values become shorter, and not what is made of them: no escape and no link is cut.
    for (let longest = LONGEST_VALUE; ; longest = Math.floor(longest / 2)) {
      const rendered = render(values, longest);
      // Chats refuse empty messages.
      if (rendered.length <= limit) return rendered.trim() || '…';
    }
  };
}

/** One line of what is visible, with at most `longest` code points. */
function cut(text: string, longest: number): string {
  const characters = [...text.toWellFormed().replaceAll(HIDDEN, ' ').trim().replaceAll(/\s+/g, ' ')];
  return characters.length <= longest ? characters.join('') : `${characters.slice(0, longest - 1).join('')}…`;
}
