/** The parameters of one operation. */
export interface OperationParameters {
  /** Of the path, in its order. */
  arguments: readonly string[];
  /**
   * Of the query or the body, with their kinds: `string`, `integer`, `number`, `boolean`, these in the plural for lists,
   * and `json`; with `|null` if null clears it, and `!` if it is required.
   */
  inputs: Readonly<Record<string, string>>;
  /** Of a query that is an option of the SDK, in the same way. */
  query?: Readonly<Record<string, string>>;
  /** By the name of an input: all texts that it may be, or the command that prints them. */
  values?: Readonly<Record<string, readonly string[] | string>>;
  /** Arguments and flags of an example. */
  sample: string;
}

/** A mistake in what was typed; the command ends with 2. */
export class UsageError extends Error {}

/** The value of a parameter, from the text of its flag. @throws UsageError */
export function parseInput(name: string, kind: string, texts: readonly string[]): unknown {
  const type = kind.replace(/(?:\|null)?!?$/, '');
  const [text = ''] = texts;
  if (kind.includes('|null') && text === 'null') return null;
  if (type.endsWith('s') && type !== 'json') return texts.map((each) => parseScalar(name, type.slice(0, -1), each));
  return parseScalar(name, type, texts.at(-1) ?? '');
}

function parseScalar(name: string, type: string, text: string): unknown {
  if (type === 'string') return text;
  if (type === 'json') return parseJson(`--${flagName(name)}`, text);
  if (type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
  } else {
    const number = Number(text);
    if (text.trim() !== '' && (type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)))
      return number;
  }
  throw new UsageError(`--${flagName(name)}: ${text} is not of the type ${type}`);
}

export function parseJson(what: string, text: string): unknown {
  try {
    // A shell passes a byte order mark of a file on.
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch (error) {
    throw new UsageError(`${what}: is not JSON: ${(error as Error).message}`);
  }
}

export const flagName = (name: string) => name.replaceAll('_', '-');
