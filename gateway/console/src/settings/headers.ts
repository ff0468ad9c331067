import { splitTexts } from '../ui/format.ts';

/** Headers that are written as `Name: value`, one in each line. */
export const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    splitTexts(text, '\n').map((line) => {
      const [name = '', ...values] = line.split(':');
      return [name.trim(), values.join(':').trim()];
    }),
  );
