import { invalidRequest } from '@tocsin/http';

/** The maximum length of a slug in bytes of UTF-8 (contract: Limits). */
export const MAX_SLUG_BYTES = 64;

/** The form of the slugs of one kind of resource. */
export interface SlugRule {
  pattern: RegExp;
  /** Matches the characters that a generated slug may start with. */
  firstCharacter: RegExp;
  /** Matches each run of characters that a generated slug replaces by one underscore. Needs the flag `g`. */
  separators: RegExp;
  /** The Unicode normalization form in which slugs are stored; without it a slug is stored as it was given. */
  normalization?: 'NFC';
}

/** The slug of a new resource, and whether it was generated from the name. */
export interface SlugChoice {
  slug: string;
  generated: boolean;
}

const normalize = (text: string, { normalization }: SlugRule) =>
  normalization === undefined ? text : text.normalize(normalization);

export function isSlug(slug: string, rule: SlugRule): boolean {
  const normalized = normalize(slug, rule);
  return rule.pattern.test(normalized) && Buffer.byteLength(normalized) <= MAX_SLUG_BYTES;
}

/**
 * Generates a slug from a name; `undefined` if the name contains no character that a slug may start with.
 * @example slugFromName('Root cause (5 whys)', rule) === 'root_cause_5_whys'
 */
export function slugFromName(name: string, rule: SlugRule): string | undefined {
  // Lower-casing can leave a text that is no longer normalized.
  const text = normalize(normalize(name, rule).toLowerCase(), rule).replaceAll(rule.separators, '_');
  const start = text.search(rule.firstCharacter);
  return start === -1 ? undefined : truncate(text.slice(start), MAX_SLUG_BYTES);
}

/** The n-th candidate for a generated slug: `api`, `api_2`, `api_3` and so on, shortened to fit the maximum length. */
export function numberedSlug(slug: string, n: number): string {
  if (n === 1) return slug;
  const suffix = `_${n}`;
  return truncate(slug, MAX_SLUG_BYTES - suffix.length) + suffix;
}

/**
 * Takes the slug from a create request, or generates one from the name. The insertion detects a given slug that is taken.
 * @throws DomainError `invalid_request` naming `slug` if there is none and none can be generated
 */
export function chooseSlug(body: { name: string; slug?: string | undefined }, rule: SlugRule): SlugChoice {
  if (body.slug !== undefined) return { slug: normalize(body.slug, rule), generated: false };
  const slug = slugFromName(body.name, rule);
  if (slug === undefined) {
    throw invalidRequest('slug', 'Is required because the name contains no letter that a slug can start with');
  }
  return { slug, generated: true };
}

/** Cuts between characters, and drops underscores at the end. */
function truncate(text: string, bytes: number): string {
  let kept = '';
  let length = 0;
  for (const character of text) {
    length += Buffer.byteLength(character);
    if (length > bytes) break;
    kept += character;
  }
  while (kept.endsWith('_')) kept = kept.slice(0, -1);
  return kept;
}
