import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type FormatConfig, format, type Oxfmtrc } from 'oxfmt';
import { ROOT } from '../installation/environment.ts';

const { overrides = [], ...settings } = JSON.parse(readFileSync(path.join(ROOT, '.oxfmtrc.json'), 'utf8')) as Oxfmtrc;

/** A text as the formatter would leave it in a file of this name. @throws Error if it is not of that language */
export async function formatted(file: string, text: string): Promise<string> {
  const matching = overrides.filter(({ files }) =>
    files.some((pattern) => path.matchesGlob(path.basename(file), pattern)),
  );
  const options = matching.reduce<FormatConfig>((all, override) => ({ ...all, ...override.options }), settings);
  const { code, errors } = await format(path.basename(file), text, options);
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join('; ')}`);
  return code;
}

/** A value as a JSON file of the repository. */
export const jsonText = async (value: unknown): Promise<string> => formatted('value.json', JSON.stringify(value));
