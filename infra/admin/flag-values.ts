import { UsageError } from './target.ts';

export type FlagValues = ReturnType<typeof flagValues>;

/** Reads the values of one call by the names of the flags. @param argument the value without a flag, or nothing */
export function flagValues(values: ReadonlyMap<string, unknown>, argument: string) {
  const text = (flag: string): string | undefined => {
    const value = values.get(flag);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    argument,
    text,
    /** The value of a required flag; the parser has checked that it is present. */
    required: (flag: string): string => text(flag) ?? '',
    texts: (flag: string): string[] => {
      const value = values.get(flag);
      return Array.isArray(value) ? value.map(String) : [];
    },
    /** `undefined` when neither the flag nor its `--no-` form is present. */
    flag: (flag: string): boolean | undefined => {
      const value = values.get(flag);
      return typeof value === 'boolean' ? value : undefined;
    },
    /** A decimal number, or null for `none`. @throws UsageError for another value */
    number: (flag: string): number | null | undefined => {
      const value = text(flag);
      if (value === undefined) return undefined;
      if (value === 'none') return null;
      if (!/^\d+(?:\.\d+)?$/.test(value)) throw new UsageError(`--${flag}: ${value} is neither a number nor none`);
      return Number(value);
    },
    /** One of `choices`. @throws UsageError for another value */
    oneOf: <Choice extends string>(flag: string, choices: readonly Choice[]): Choice | undefined => {
      const value = text(flag);
      if (value === undefined) return undefined;
      const choice = choices.find((each) => each === value);
      if (choice === undefined) throw new UsageError(`--${flag}: ${value} is not one of ${choices.join(', ')}`);
      return choice;
    },
  };
}
