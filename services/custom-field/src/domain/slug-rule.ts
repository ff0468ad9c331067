import type { SlugRule } from '@tocsin/resources';

/** A given slug may contain hyphens; a generated one has only underscores. */
export const FIELD_SLUG: SlugRule = {
  pattern: /^[a-z][a-z0-9_-]*$/,
  firstCharacter: /[a-z]/,
  separators: /[^a-z0-9]+/g,
};
