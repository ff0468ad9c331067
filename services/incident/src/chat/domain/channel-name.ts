import type { Instant } from '@tocsin/runtime';

/** Slack's maximum length of a channel name. */
const MAX_LENGTH = 80;
const NAME_PATTERN = /^(?=.*[a-z0-9])[a-z0-9_-]{1,80}$/;

export const PLACEHOLDERS = ['id', 'short_title', 'date', 'severity', 'service'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

export const DEFAULT_TEMPLATE = 'inc-{id}-{short_title}';
const MAX_TEMPLATE_LENGTH = 255;
/** The shortest and about the longest values of an incident, except its service, which can be shortened. */
const SHORTEST_VALUES = { id: '1', date: '2026-11-20', short_title: '', severity: '', service: '' };
const LONGEST_VALUES = { ...SHORTEST_VALUES, id: '1000000', short_title: 'twelve-chars', severity: 'a-severity' };

/** The values for the placeholders of a template. */
export interface ChannelNameValues {
  /** The number in the human ID. */
  number: number;
  shortTitle: string;
  createdAt: Instant;
  severity: string;
  service: string;
}

/** Whether the chat accepts a channel name: 1 to 80 of a-z, 0-9, hyphen and underscore, with a letter or digit. */
export const isChannelName = (name: string): boolean => NAME_PATTERN.test(name);

/** Letters that Unicode decomposition does not convert to ASCII. */
const ASCII_LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
};

/** Converts a text into a part of a channel's name: removes accents and replaces other invalid characters by one hyphen. */
export function slugify(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain
    .replaceAll(/[ßæœøđðþłı]/g, (letter) => ASCII_LETTERS[letter] ?? letter)
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/[-_]+/g, (run) => (run.includes('-') ? '-' : '_'))
    .replaceAll(/^[-_]|[-_]$/g, '');
}

/** Returns the name of an incident's channel by the workspace's template (contract: Chat). Empty values leave no hyphen. */
export function channelName(
  template: string,
  { number, shortTitle, createdAt, severity, service }: ChannelNameValues,
): string {
  const values: Record<Placeholder, string> = {
    id: String(number),
    short_title: slugify(shortTitle),
    date: createdAt.slice(0, 10),
    severity: slugify(severity),
    service: slugify(service),
  };
  const fullName = renderTemplate(template, values);
  // Only the service can be long; shortening it keeps the rest of the name.
  const serviceLength = Math.max(0, values.service.length - Math.max(0, fullName.length - MAX_LENGTH));
  const name = renderTemplate(template, { ...values, service: values.service.slice(0, serviceLength) });
  return slugify(name.slice(0, MAX_LENGTH));
}

/** Returns the rule that a template violates; `undefined` for a valid template. */
export function findTemplateViolation(template: string): string | undefined {
  if (template.length > MAX_TEMPLATE_LENGTH) return `must be at most ${MAX_TEMPLATE_LENGTH} characters`;
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '');
  const unknown = names.find((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
  if (unknown !== undefined) return `{${unknown}} is not one of ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`;
  if (/[{}]/.test(template.replaceAll(/\{[^{}]*\}/g, ''))) return 'has an unmatched brace';
  if (names.length === 0) return 'must contain a placeholder, such as {id}: otherwise all channels have the same name';
  if (renderTemplate(template, SHORTEST_VALUES) === '')
    return 'must contain {id}, {date} or fixed text: otherwise a name could be empty';
  if (renderTemplate(template, LONGEST_VALUES).length > MAX_LENGTH)
    return `must not produce names longer than ${MAX_LENGTH} characters`;
  return undefined;
}

const renderTemplate = (template: string, values: Record<Placeholder, string>): string =>
  slugify(template.replaceAll(/\{(\w+)\}/g, (_, name) => values[name as Placeholder]));
