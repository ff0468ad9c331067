import { API_ROOT, type Operation } from './route-table.ts';

/** The operations that a service describes. */
export interface Claims {
  service: string;
  operations: readonly Operation[];
}

/**
 * Returns the operations of a service of which several editions are in use: the union, in which the first edition that
 * has a method and path describes it.
 */
export function claimsOf(service: string, editions: readonly { operations: readonly Operation[] }[]): Claims {
  const operations = new Map<string, Operation>();
  for (const operation of editions.flatMap((edition) => edition.operations)) {
    const key = `${operation.method} ${operation.path.replaceAll(/\{\w+\}/g, '{}')}`;
    if (!operations.has(key)) operations.set(key, operation);
  }
  return { service, operations: [...operations.values()] };
}

/** An operation that is not routed, because another service holds its path, or its ID. */
export interface RefusedClaim {
  operation: Operation;
  holder: string;
}

export interface SettledClaims {
  operations: Operation[];
  refused: RefusedClaim[];
}

/** The name of the gateway in refused claims. */
const GATEWAY = 'gateway';
/** What the gateway serves itself. */
const OWN_PREFIXES = ['openapi.json'];

/**
 * Decides which operations are routed. The prefix of a path is its segments before the first parameter. A service holds
 * the prefixes of its operations: nobody else gets one that is equal, begins with it, or is its beginning. So no request
 * for one service can match a path of another, not even through a literal in the place of a parameter.
 *
 * A prefix stays with the service that holds it already, as long as that service describes a path there. Otherwise the
 * first of `claims` gets it.
 * @param held the operations that were routed before
 */
export function settleClaims(claims: readonly Claims[], held: readonly Operation[] = []): SettledClaims {
  const before = holders();
  for (const operation of held) before.add(operation);
  const settled = holders();
  for (const prefix of OWN_PREFIXES) settled.addPrefix(prefix.split('/'), GATEWAY);

  const all = claims.flatMap(({ operations }) => operations);
  const isHeld = (operation: Operation) => before.holdsPrefix(operation);
  const result: SettledClaims = { operations: [], refused: [] };
  for (const operation of [...all.filter(isHeld), ...all.filter((operation) => !isHeld(operation))]) {
    const holder = settled.otherHolder(operation);
    if (holder === undefined) {
      settled.add(operation);
      result.operations.push(operation);
    } else {
      result.refused.push({ operation, holder });
    }
  }
  return result;
}

/** Which service holds which prefixes and IDs. */
function holders() {
  const services = new Map<string, string>();
  /** The services that hold a prefix that begins with the key. */
  const below = new Map<string, Set<string>>();
  const ids = new Map<string, string>();

  const addPrefix = (prefix: readonly string[], service: string) => {
    services.set(prefix.join('/'), service);
    for (const beginning of beginningsOf(prefix)) {
      const holding = below.get(beginning) ?? new Set();
      below.set(beginning, holding.add(service));
    }
  };
  return {
    addPrefix,
    add: (operation: Operation) => {
      addPrefix(prefixOf(operation), operation.service);
      ids.set(operation.id, operation.service);
    },
    /** Whether the operation's service holds its prefix, or the beginning of it. */
    holdsPrefix: (operation: Operation) =>
      beginningsOf(prefixOf(operation)).some((beginning) => services.get(beginning) === operation.service),
    /** Returns another service that holds the operation's prefix or ID. */
    otherHolder: (operation: Operation): string | undefined => {
      const prefix = prefixOf(operation);
      const candidates = [
        ids.get(operation.id),
        ...beginningsOf(prefix).map((beginning) => services.get(beginning)),
        ...(below.get(prefix.join('/')) ?? []),
      ];
      return candidates.find((service) => service !== undefined && service !== operation.service);
    },
  };
}

/** The segments below the root of the API, up to the first parameter. */
function prefixOf({ path }: Operation): string[] {
  const segments = path.slice(API_ROOT.length).split('/');
  const parameter = segments.findIndex((segment) => segment.startsWith('{'));
  return parameter === -1 ? segments : segments.slice(0, parameter);
}

/** The empty beginning, every longer one and the prefix itself. */
const beginningsOf = (prefix: readonly string[]): string[] =>
  Array.from({ length: prefix.length + 1 }, (_, length) => prefix.slice(0, length).join('/'));
