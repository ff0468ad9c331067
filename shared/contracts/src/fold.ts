/**
 * Folds the case of a text for case-insensitive comparison, by Unicode, in every script. Upper case comes first, because
 * variants of a letter share it (`ß` and `SS`, `ſ` and `S`); the final sigma becomes a plain sigma.
 */
export const fold = (text: string) => text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
