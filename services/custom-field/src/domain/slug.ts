/** The longest slug (contract: Limits). */
const MAX_LENGTH = 64;

export const isSlug = (slug: string) => slug.length <= MAX_LENGTH && /^[a-z][a-z0-9_-]*$/.test(slug);

/**
 * The slug that a name suggests; `undefined` when it has no letter to begin one with.
 * @example slugOf('Root cause (5 whys)') === 'root_cause_5_whys'
 */
export function slugOf(name: string): string | undefined {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '');
  return text === '' ? undefined : cut(text, MAX_LENGTH);
}

/** The n-th choice where the ones before are taken: `cause`, `cause_2`, `cause_3` and so on, never longer than a slug may be. */
export function alternative(slug: string, n: number): string {
  const suffix = n === 1 ? '' : `_${n}`;
  return cut(slug, MAX_LENGTH - suffix.length) + suffix;
}

const cut = (text: string, length: number) => text.slice(0, length).replace(/_+$/, '');
