// Templates of post-mortems: what the console offers to write is what the service fills in.

import { LINE_BREAK } from './markdown.ts';

/** The placeholders: the parts of a post-mortem that stay true. */
export const PLACEHOLDERS = [
  'reference',
  'title',
  'status',
  'severity',
  'overview',
  'summary',
  'moments',
  'people',
  'services',
  'custom_fields',
  'activity',
  'relations',
  'follow_ups',
  'evidence',
  'generated_at',
] as const;

export type Placeholder = (typeof PLACEHOLDERS)[number];

export const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

export const isPlaceholder = (name: string): name is Placeholder => (PLACEHOLDERS as readonly string[]).includes(name);

/** The placeholders that stand in a line; each of the others is a block of its own. */
const IN_LINE: readonly string[] = ['reference', 'title', 'status', 'severity', 'generated_at'] satisfies Placeholder[];

export const standsInLine = (placeholder: Placeholder): boolean => IN_LINE.includes(placeholder);

/** The template of a workspace that has none of its own. */
export const BUILT_IN_TEMPLATE = `# {{reference}}: {{title}}

{{overview}}

## Summary

{{summary}}

## Moments

{{moments}}

## People

{{people}}

## Services

{{services}}

## Custom fields

{{custom_fields}}

## Activity

{{activity}}

## Related incidents

{{relations}}

## Follow-ups

{{follow_ups}}

## Evidence

{{evidence}}

Made by Tocsin at {{generated_at}}.
`;

/** A part of a post-mortem below a heading; without one, the title is empty. */
export interface TemplateSection {
  /** Names it among the others. */
  key: string;
  title: string;
  body: string;
}

/** Characters of a title. */
export const MAX_SECTION_TITLE = 255;
export const MAX_SECTIONS = 50;

/** The sections of a template: each begins at a heading of the second level. */
export function sectionsOf(template: string): TemplateSection[] {
  const parts: { title: string; lines: string[] }[] = [{ title: '', lines: [] }];
  let isCode = false;
  for (const line of template.split(LINE_BREAK)) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    const title = !isCode && line.startsWith('## ') ? line.slice(3).trim() : '';
    const isHeading = title !== '' && title.length <= MAX_SECTION_TITLE && parts.length < MAX_SECTIONS;
    if (isHeading) parts.push({ title, lines: [] });
    else parts.at(-1)?.lines.push(line);
  }
  return parts
    .map(({ title, lines }) => ({ title, body: withoutBlankEnds(lines).join('\n') }))
    .filter(({ title, body }) => title !== '' || body !== '')
    .map((section, index) => ({ key: `s${index + 1}`, ...section }));
}

function withoutBlankEnds(lines: readonly string[]): string[] {
  const isText = (line: string) => line.trim() !== '';
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}
