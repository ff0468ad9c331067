import { format, resolveConfig } from 'prettier';
import { ROOT } from '../environment.ts';

const options = await resolveConfig(`${ROOT}/package.json`);

/** A value as a JSON file of the repository, formatted as all others are. */
export const jsonText = async (value: unknown): Promise<string> =>
  format(JSON.stringify(value), { ...options, parser: 'json' });
