import type { EventType } from './event-types.ts';
import { EVENT_TYPES } from './generated/event-data.ts';

/**
 * An event type, or a pattern as bindings of a topic exchange have it: `*` stands for one word, `#` for any number.
 * `incident.*` matches `incident.created`; `#` matches everything.
 */
export type TypePattern = EventType | '#' | `${string}.*` | `${string}.#` | `*.${string}` | `#.${string}`;

/** The known event types that a pattern may match. */
export type MatchingType<Pattern extends string> = Pattern extends EventType
  ? Pattern
  : Pattern extends `${infer Prefix}.${'*' | '#'}`
    ? Extract<EventType, `${Prefix}.${string}`>
    : EventType;

/** The maximum length of a routing key in AMQP. */
const MAX_PATTERN = 255;

/** @throws TypeError if there is no pattern, or if one matches no known type */
export function checkPatterns(patterns: readonly string[]): void {
  if (patterns.length === 0) throw new TypeError('types must have at least one event type or pattern');
  for (const pattern of patterns) {
    const isMatched = pattern.length <= MAX_PATTERN && EVENT_TYPES.some((type) => matchesPattern(pattern, type));
    if (!isMatched)
      throw new TypeError(`types: no event type that this version knows matches ${JSON.stringify(pattern)}`);
  }
}

export const matchesAny = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, type));

const matchesPattern = (pattern: string, type: string): boolean => matchesWords(pattern.split('.'), type.split('.'));

function matchesWords([pattern, ...patterns]: string[], words: string[]): boolean {
  if (pattern === undefined) return words.length === 0;
  if (pattern !== '#') {
    const [word, ...otherWords] = words;
    return word !== undefined && (pattern === '*' || pattern === word) && matchesWords(patterns, otherWords);
  }
  return words.some((_, index) => matchesWords(patterns, words.slice(index))) || matchesWords(patterns, []);
}
