import type { Tocsin } from '@tocsin/sdk';
import { type Finder, inputFinder } from './find-id.ts';
import { flagName, type OperationParameters, parseInput, UsageError } from './operation-parameters.ts';
import type { Row } from './output.ts';

/** A flag that sets a parameter of an operation. */
interface OperationFlag {
  /** Without the dashes before it. */
  flag: string;
  /** The property of the body, or the parameter of the query. */
  name: string;
  kind: string;
  /** Beside a body, and of one resource, the parameters of the query are options of the SDK. */
  isOption: boolean;
  help: string;
  /** All that it may be, as far as this command knows. */
  choices?: readonly string[] | undefined;
  /** If its texts name resources. */
  finder?: Finder | undefined;
}

/** The flags of an operation. `owner_team_id` has two: `--owner-team-id 12` and `--owner-team payments`. */
export function flagsOf({ inputs, query = {}, values = {} }: OperationParameters): OperationFlag[] {
  const saying = (name: string, kind: string) => {
    const allowed = values[name];
    return typeof allowed === 'string'
      ? { help: helpOf(kind, `a configured key, see ${allowed}`) }
      : { help: helpOf(kind), choices: allowed };
  };
  const ofInputs = Object.entries(inputs).flatMap(([name, kind]): OperationFlag[] => {
    // `--data` is the whole body.
    if (name === 'data') return [];
    const flag = { flag: flagName(name), name, kind, isOption: false, ...saying(name, kind) };
    const finder = inputFinder(name);
    if (finder === undefined) return [flag];
    const naming = { ...flag, finder, help: helpOf(kind, finder.words) };
    return name.endsWith('_id') ? [flag, { ...naming, flag: flagName(name.slice(0, -'_id'.length)) }] : [naming];
  });
  const ofQuery = Object.entries(query).map(([name, kind]) => ({
    flag: `${name in inputs ? 'query-' : ''}${flagName(name)}`,
    ...{ name, kind, isOption: true, ...saying(name, kind) },
  }));
  return [...ofInputs, ...ofQuery];
}

const helpOf = (kind: string, type = kind.replace(/s?(?:\|null)?!?$/, '')) =>
  `${type}${/s(?=[|!]|$)/.test(kind) ? ', repeatable' : ''}${kind.includes('|null') ? ' or null' : ''}${kind.endsWith('!') ? ' (required)' : ''}`;

/** What was typed for an operation. */
export interface Typed {
  /** The properties of the body, or the parameters of the query. */
  data: Row;
  /** The parameters of the query that are options. */
  query: Row;
  /** Puts the IDs of the resources that were named into `data`. */
  resolve(tocsin: Tocsin, signal: AbortSignal): Promise<Row>;
}

/** @param valueOf the list of texts that a flag was given; anything else counts as nothing @throws UsageError */
export function readFlags(flags: readonly OperationFlag[], valueOf: (flag: string) => unknown): Typed {
  const data: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const named: [OperationFlag, readonly string[]][] = [];
  const before = new Map<string, string>();
  for (const each of flags) {
    const texts = valueOf(each.flag) as readonly string[];
    if (!Array.isArray(texts)) continue;
    const { flag, name, kind, isOption, finder } = each;
    if (finder !== undefined) named.push([each, texts]);
    else (isOption ? query : data)[name] = parseInput(name, kind, texts);
    if (isOption) continue;
    const other = before.get(name);
    if (other !== undefined) throw new UsageError(`--${flag}: is the same as --${other}: give one of them`);
    before.set(name, flag);
  }
  return {
    ...{ data, query },
    resolve: async (tocsin, signal) => {
      for (const [{ flag, name, kind, finder }, texts] of named) {
        const idOf = async (text: string) =>
          finder === undefined || text === '' || (text === 'null' && kind.includes('|null'))
            ? text
            : finder.find(tocsin, { text, what: `--${flag}`, signal });
        data[name] = parseInput(name, kind, await Promise.all(texts.map(idOf)));
      }
      return data;
    },
  };
}
