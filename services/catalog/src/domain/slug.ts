/** The longest slug, in UTF-8 bytes (contract: Limits). */
const MAX_BYTES = 64;

/** What the slugs of one kind of resource are made of. */
export interface SlugRule {
  pattern: RegExp;
  /** What it may begin with. */
  first: RegExp;
  /** Runs of what a generated one replaces by an underscore. */
  foreign: RegExp;
}

/** Lower-case letters of any script, letters of scripts without case, their marks, and digits. */
export const SERVICE_SLUG: SlugRule = {
  pattern: /^[\p{Ll}\p{Lo}\p{Lm}][\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}_]*$/u,
  first: /[\p{Ll}\p{Lo}\p{Lm}]/u,
  foreign: /[^\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}]+/gu,
};

export const TEAM_SLUG: SlugRule = {
  pattern: /^[a-z][a-z0-9_]*$/,
  first: /[a-z]/,
  foreign: /[^a-z0-9]+/g,
};

/** The form that is kept and compared: canonically equal texts are one slug. */
export const canonicalSlug = (slug: string) => slug.normalize('NFC');

export function isSlug(slug: string, rule: SlugRule): boolean {
  const canonical = canonicalSlug(slug);
  return rule.pattern.test(canonical) && Buffer.byteLength(canonical) <= MAX_BYTES;
}

/**
 * The slug that a name suggests; `undefined` when it has no letter to begin one with.
 * @example slugOf('Checkout & Pay', SERVICE_SLUG) === 'checkout_pay'
 */
export function slugOf(name: string, rule: SlugRule): string | undefined {
  const text = canonicalSlug(name.normalize('NFC').toLowerCase()).replaceAll(rule.foreign, '_');
  const start = text.search(rule.first);
  return start === -1 ? undefined : cut(text.slice(start), MAX_BYTES);
}

/** The n-th choice where the ones before are taken: `api`, `api_2`, `api_3` and so on, never longer than a slug may be. */
export function alternative(slug: string, n: number): string {
  if (n === 1) return slug;
  const suffix = `_${n}`;
  return cut(slug, MAX_BYTES - suffix.length) + suffix;
}

/** The longest beginning of whole characters that fits, without underscores at its end. */
function cut(text: string, bytes: number): string {
  let kept = '';
  let length = 0;
  for (const character of text) {
    length += Buffer.byteLength(character);
    if (length > bytes) break;
    kept += character;
  }
  return kept.replace(/_+$/, '');
}
