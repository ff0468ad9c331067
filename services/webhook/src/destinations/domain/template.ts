import { invalidRequest } from '@tocsin/http';
import type { Markup } from './kinds/kind.ts';
import type { Described } from './describe-event.ts';

/** What a template may name. `link` is the reference as a link to the incident in the console. */
const PLACEHOLDERS = [
  ...(['link', 'reference', 'url', 'title', 'what', 'severity', 'status', 'service'] as const),
  ...(['type', 'occurred_at', 'workspace', 'by', 'id'] as const),
];

type Placeholder = (typeof PLACEHOLDERS)[number];

export const DEFAULT_TEMPLATE = '{{link}} {{title}}: {{what}}';

/** Code points of a value. */
const LONGEST_VALUE = 1_000;
/** What a reader does not see, or takes for the end of a line. Joiners and one variation selector belong to scripts and emoji. */
const HIDDEN =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d\p{Variation_Selector}]]|(?<=\p{Variation_Selector})\p{Variation_Selector}/gv;

/**
 * Returns what makes the text of an event, within the limit of the receiver. The template has the receiver's own markup;
 * values become text without markup.
 * @throws DomainError `invalid_request` with `field: "template"`
 */
export function parseTemplate(template: string, { limit, escape, link }: Markup): (values: Described) => string {
  const text = template.trimEnd();
  const parts: { before: string; placeholder: Placeholder }[] = [];
  let end = 0;
  for (const { 0: given, 1: name, index } of text.matchAll(/\{\{([^{}\n]*)\}\}|\{\{/g)) {
    const placeholder = PLACEHOLDERS.find((each) => each === name);
    if (placeholder === undefined)
      throw invalidRequest(
        'template',
        `Must not have the placeholder ${given.slice(0, 40)} in line ${text.slice(0, index).split('\n').length}; there are: ${PLACEHOLDERS.join(', ')}`,
      );
    parts.push({ before: text.slice(end, index), placeholder });
    end = index + given.length;
  }
  const fixedLength = parts.reduce((sum, { before }) => sum + before.length, text.length - end);
  if (text === '' || fixedLength > limit / 2)
    throw invalidRequest('template', `Must have 1 to ${limit / 2} characters besides placeholders`);

  const render = (values: Described, longest: number): string => {
    const valueOf = (placeholder: Placeholder): string => {
      if (longest === 0) return '';
      const { url, reference } = values;
      if (placeholder === 'url') return url;
      const value = placeholder === 'link' ? reference : values[placeholder];
      const escaped = escape(cut(value, longest));
      return placeholder === 'link' && url !== '' ? link(escaped, url) : escaped;
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
