import { type Instant, localTime, ownProperty } from '@tocsin/runtime';

/** Slack's maximum length of a channel name, in Unicode characters. */
const MAX_LENGTH = 80;
/** In a class of a regular expression: letters of any script that are not upper case, with their marks, and what else Slack allows. */
const CHARACTERS = String.raw`\p{Ll}\p{Lm}\p{Lo}\p{Mn}\p{Mc}\p{Nd}_\-`;
const NAME = new RegExp(`^[${CHARACTERS}]{1,${MAX_LENGTH}}$`, 'u');
const OTHER_CHARACTERS = new RegExp(String.raw`[^[${CHARACTERS}]--\p{Default_Ignorable_Code_Point}]+`, 'gv');

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

/** Whether the chat accepts a channel name: 1 to 80 of these characters, with a letter or digit. */
export const isChannelName = (name: string): boolean =>
  NAME.test(name) && /[\p{L}\p{N}]/u.test(name) && !/\p{Default_Ignorable_Code_Point}/u.test(name);

/** Letters that Unicode decomposition does not convert to ASCII. */
const ASCII_LETTERS = {
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

/**
 * Converts a text into a part of a channel's name, in NFC: removes accents of Latin letters, and replaces characters that the
 * chat does not accept by one hyphen.
 */
export function slugify(text: string): string {
  const decomposed = text.normalize('NFKD').toLowerCase().normalize('NFKD');
  return (
    decomposed
      .replaceAll(/(?<=[\p{Script=Latin}0-9])\p{M}+/gu, '')
      .replaceAll(/[ßæœøđðþłı]/g, (letter) => ownProperty(ASCII_LETTERS, letter) ?? letter)
      .normalize('NFC')
      .replaceAll(OTHER_CHARACTERS, '-')
      // Marks of what is gone.
      .replaceAll(/(?<=^|[-_])\p{M}+/gu, '-')
      .replaceAll(/[-_]+/g, (run) => (run.includes('-') ? '-' : '_'))
      .replaceAll(/^[-_]|[-_]$/g, '')
  );
}

/** How a workspace names channels. */
export interface ChannelNaming {
  template: string;
  /** The zone of dates. */
  timeZone: string;
}

/** Returns the name of an incident's channel by the workspace's template (contract: Chat). Empty values leave no hyphen. */
export function channelName(
  { template, timeZone }: ChannelNaming,
  { number, shortTitle, createdAt, severity, service }: ChannelNameValues,
): string {
  const values: Record<Placeholder, string> = {
    id: String(number),
    short_title: slugify(shortTitle),
    date: localTime(Date.parse(createdAt), timeZone).toISOString().slice(0, 10),
    severity: slugify(severity),
    service: slugify(service),
  };
  // Only these can be long; shortening them keeps the rest of the name.
  for (const name of ['service', 'short_title'] as const) {
    const excess = [...renderTemplate(template, values)].length - MAX_LENGTH;
    const characters = [...values[name]];
    if (excess > 0) values[name] = characters.slice(0, Math.max(0, characters.length - excess)).join('');
  }
  return slugify([...renderTemplate(template, values)].slice(0, MAX_LENGTH).join(''));
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
  if ([...renderTemplate(template, LONGEST_VALUES)].length > MAX_LENGTH)
    return `must not produce names longer than ${MAX_LENGTH} characters`;
  return undefined;
}

const renderTemplate = (template: string, values: Record<Placeholder, string>): string =>
  slugify(template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ownProperty(values, name) ?? ''));
