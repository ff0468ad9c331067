/**
 * Text as it is compared where case does not count: by Unicode, in every script. Upper case first, because it is what
 * the variants of a letter share (`ß` and `SS`, `ſ` and `S`); the sigma at the end of a word is a sigma.
 */
export const fold = (text: string) => text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
