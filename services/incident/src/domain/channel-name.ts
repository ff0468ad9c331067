import type { Instant } from '@tocsin/runtime';

/** Longest name of a channel; Slack's rule. */
const LONGEST = 80;
const NAME = /^(?=.*[a-z0-9])[a-z0-9_-]{1,80}$/;

export const PLACEHOLDERS = ['id', 'short_title', 'date', 'severity', 'service'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

export const DEFAULT_TEMPLATE = 'inc-{id}-{short_title}';
const LONGEST_TEMPLATE = 255;
/** The least that an incident gives a name, and about the most, but for its service, which can give way. */
const EMPTY = { id: '1', date: '2026-11-20', short_title: '', severity: '', service: '' };
const LONG = { ...EMPTY, id: '1000000', short_title: 'twelve-chars', severity: 'a-severity' };

/** What a channel's name is made of. */
export interface NameParts {
  /** The number in the human ID. */
  number: number;
  shortTitle: string;
  createdAt: Instant;
  severity: string;
  service: string;
}

/** Whether the chat takes it as a channel's name: 1 to 80 of a-z, 0-9, hyphen and underscore, not of the latter alone. */
export const isChannelName = (name: string): boolean => NAME.test(name);

/** Letters that no decomposition makes plain ones of. */
const PLAIN: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ı: 'i' };

/** Any text as a piece of a channel's name: accents go, and what cannot stand there becomes one hyphen. */
export function slugify(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain
    .replaceAll(/[ßæœøđðþłı]/g, (letter) => PLAIN[letter] ?? letter)
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/[-_]*-[-_]*/g, '-')
    .replaceAll(/_+/g, '_')
    .replaceAll(/^[-_]+|[-_]+$/g, '');
}

/** The name that a workspace's template gives an incident's channel (contract: Chat). A part that is empty leaves nothing behind. */
export function channelName(template: string, { number, shortTitle, createdAt, severity, service }: NameParts): string {
  const values: Record<Placeholder, string> = {
    id: String(number),
    short_title: slugify(shortTitle),
    date: createdAt.slice(0, 10),
    severity: slugify(severity),
    service: slugify(service),
  };
  const filled = fill(template, values);
  // The one part that can be long gives way, so that the number at the end stays.
  const room = Math.max(0, values.service.length - Math.max(0, filled.length - LONGEST));
  const fitting = fill(template, { ...values, service: values.service.slice(0, room) });
  return slugify(fitting.slice(0, LONGEST));
}

/** Why a text cannot be a workspace's template; `undefined` for one that can. */
export function findTemplateFault(template: string): string | undefined {
  if (template.length > LONGEST_TEMPLATE) return `must be at most ${LONGEST_TEMPLATE} characters`;
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '');
  const unknown = names.find((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
  if (unknown !== undefined) return `{${unknown}} is none of ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`;
  if (/[{}]/.test(template.replaceAll(/\{[^{}]*\}/g, ''))) return 'has a brace without its other half';
  if (names.length === 0) return 'gives every channel the same name: put in {id}, for one';
  if (fill(template, EMPTY) === '') return 'must hold {id}, {date} or a word of its own, else a name could be empty';
  if (fill(template, LONG).length > LONGEST) return `makes names longer than ${LONGEST} characters`;
  return undefined;
}

const fill = (template: string, values: Record<Placeholder, string>): string =>
  slugify(template.replaceAll(/\{(\w+)\}/g, (_, name) => values[name as Placeholder]));
