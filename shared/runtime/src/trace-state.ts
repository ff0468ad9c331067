import type { TraceState } from '@opentelemetry/api';

const MAX_CHARACTERS = 512;
const MAX_MEMBERS = 32;
const MEMBER = /^([a-z0-9][\w*/@-]{0,255})=([!-+\--<>-~ -]{0,256})$/i;

/** The values of a `tracestate` header, newest first; see the W3C's Trace Context. */
class TraceStateMembers implements TraceState {
  readonly #members: ReadonlyMap<string, string>;

  constructor(members: ReadonlyMap<string, string>) {
    this.#members = members;
  }

  get(key: string): string | undefined {
    return this.#members.get(key);
  }

  set(key: string, value: string): TraceState {
    return new TraceStateMembers(new Map([[key, value], ...this.#without(key)]));
  }

  unset(key: string): TraceState {
    return new TraceStateMembers(new Map(this.#without(key)));
  }

  serialize(): string {
    return [...this.#members].map(([key, value]) => `${key}=${value}`).join(',');
  }

  #without(key: string): [string, string][] {
    return [...this.#members].filter(([other]) => other !== key);
  }
}

/** Parses a `tracestate` header. Returns undefined unless all of it is well-formed and within the limits. */
export function parseTraceState(text: unknown): TraceState | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHARACTERS) return undefined;
  const members = new Map<string, string>();
  for (const item of text.split(',')) {
    const member = item.trim();
    if (member === '') continue;
    const [, key, value] = MEMBER.exec(member) ?? [];
    if (key === undefined || value === undefined || members.has(key)) return undefined;
    members.set(key, value);
  }
  return members.size === 0 || members.size > MAX_MEMBERS ? undefined : new TraceStateMembers(members);
}
