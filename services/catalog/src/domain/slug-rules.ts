import type { SlugRule } from '@tocsin/resources';

/** Lower-case letters of any script, letters of scripts without case, their combining marks, and digits. */
export const SERVICE_SLUG: SlugRule = {
  pattern: /^[\p{Ll}\p{Lo}\p{Lm}][\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}_]*$/u,
  firstCharacter: /[\p{Ll}\p{Lo}\p{Lm}]/u,
  separators: /[^\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}]+/gu,
  normalization: 'NFC',
};

export const TEAM_SLUG: SlugRule = {
  pattern: /^[a-z][a-z0-9_]*$/,
  firstCharacter: /[a-z]/,
  separators: /[^a-z0-9]+/g,
  normalization: 'NFC',
};
