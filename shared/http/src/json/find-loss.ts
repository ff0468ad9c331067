import { isExactNumber } from './exact-number.ts';
import { endOfText, skipSpace } from './json-fault.ts';

/** What JSON.parse does not keep of a document. */
export interface Loss {
  /** Names and indexes from the outermost to the innermost one. */
  path: string[];
  message: string;
}

/** An array or object that has begun. */
interface Open {
  /** The names so far; `undefined` for an array. */
  names: Set<string> | undefined;
  /** The name or index of the present value. */
  key: string | number;
}

/**
 * Finds the first name that its object has already, or number that JSON.parse rounds, in one pass. Not recursive,
 * because the values that JSON.parse drops may be nested a million levels deep.
 * @param text valid JSON
 * @param itemsOf the property of the document whose items are apart: the first loss of each is in `ofItems`, by its index
 */
export function findLosses(text: string, itemsOf?: string): { first?: Loss; ofItems: Map<number, Loss> } {
  const open: Open[] = [];
  const ofItems = new Map<number, Loss>();
  const lossFrom = (depth: number, message: string): Loss => ({
    path: open.slice(depth).map(({ key }) => String(key)),
    message,
  });
  /** Returns the loss unless it is that of an item. */
  const addLoss = (message: string): Loss | undefined => {
    const [document, list] = open;
    const isOfItem = itemsOf !== undefined && document?.key === itemsOf && typeof list?.key === 'number';
    if (!isOfItem) return lossFrom(0, message);
    if (!ofItems.has(list.key as number)) ofItems.set(list.key as number, lossFrom(2, message));
    return undefined;
  };
  let separator = '';
  let index = skipSpace(text, 0);
  while (index < text.length) {
    const start = index;
    const character = text.charAt(index);
    const container = open.at(-1);
    index += 1;
    switch (character) {
      case '{':
        open.push({ names: new Set(), key: '' });
        separator = character;
        break;
      case '[':
        open.push({ names: undefined, key: 0 });
        separator = character;
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (typeof container?.key === 'number') container.key += 1;
        separator = character;
        break;
      case ':':
        separator = character;
        break;
      case '"':
        index = endOfText(text, start);
        if (container?.names !== undefined && separator !== ':') {
          container.key = JSON.parse(text.slice(start, index)) as string;
          const isRepeated = container.names.has(container.key);
          container.names.add(container.key);
          const first = isRepeated ? addLoss('Must not occur more than once in an object') : undefined;
          if (first !== undefined) return { first, ofItems };
        }
        break;
      default: {
        index = endOfScalar(text, start);
        const scalar = text.slice(start, index);
        if (NUMBER.test(scalar) && !isExactNumber(scalar)) {
          const first = addLoss(`Must be a number that can be stored exactly; this one would become ${Number(scalar)}`);
          if (first !== undefined) return { first, ofItems };
        }
      }
    }
    index = skipSpace(text, index);
  }
  return { ofItems };
}

const NUMBER = /^[-\d]/;
const SCALAR = /[^\s,\]}]*/y;

function endOfScalar(text: string, start: number): number {
  SCALAR.lastIndex = start;
  SCALAR.test(text);
  return SCALAR.lastIndex;
}
