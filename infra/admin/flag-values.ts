import type { FlagValues } from './command.ts';
import { UsageError } from './target.ts';

/** Reads the values of one call by the names of the flags. */
export function flagValues(values: ReadonlyMap<string, unknown>, argument: string): FlagValues {
  const text = (flag: string) => {
    const value = values.get(flag);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    argument,
    text,
    required: (flag) => text(flag) ?? '',
    texts: (flag) => {
      const value = values.get(flag);
      return Array.isArray(value) ? value.map(String) : [];
    },
    flag: (flag) => {
      const value = values.get(flag);
      return typeof value === 'boolean' ? value : undefined;
    },
    number: (flag) => {
      const value = text(flag);
      if (value === undefined) return undefined;
      if (value === 'none') return null;
      if (!/^\d+(?:\.\d+)?$/.test(value)) throw new UsageError(`--${flag}: ${value} is neither a number nor none`);
      return Number(value);
    },
    oneOf: (flag, choices) => {
      const value = text(flag);
      if (value === undefined) return undefined;
      const choice = choices.find((each) => each === value);
      if (choice === undefined) throw new UsageError(`--${flag}: ${value} is not one of ${choices.join(', ')}`);
      return choice;
    },
  };
}
