import { boundedText, instant, parseTimestamp, timestampInput } from '@tocsin/schemas';
import { isWebAddress } from '@tocsin/schemas/markdown';
import type { SqlType } from '@tocsin/versioned-resources';
import { z } from 'zod';
import { shortenValue } from './large-value.ts';
import { MAX_HOLDERS, MAX_ROLES, type RoleHolders } from './role-holders.ts';

export type Referred = 'team' | 'user';

const MAX_VIEWERS = 100;

/** All that the code knows of one property of an incident. */
export interface Property {
  /** Its name in the API, the changelog and the event. Absent: only the database has it. */
  name?: string;
  /** The name of its column, if that is another. */
  column?: string;
  /** The type of its column. Absent: it has none and follows from others, see `http/views.ts`. */
  type?: SqlType;
  /** The value as it is stored and shown. */
  schema: z.ZodType;
  /** Whether a create may set it, also one with an import. Without this and `patch`, only the server sets it. */
  create?: boolean;
  /** Whether a create must set it. */
  required?: boolean;
  patch?: boolean;
  /** Whether the changelog records its changes. A change of nothing that is recorded is not saved. */
  changelog?: boolean;
  event?: boolean;
  /** The name of the sort of lists by its column; an index has the column. Sorts by other columns: `list/store`. */
  sort?: string;
  /** What a create that omits it stores, as the API description says. */
  default?: unknown;
  /** What a new incident has where the API description names no default: nobody has set it yet. */
  initial?: unknown;
  /** In the API description, also in that of requests and of creates unless they have their own. */
  description?: string;
  inputDescription?: string;
  createDescription?: string;
  /** The value in requests. */
  input?: z.ZodType;
  /**
   * What the value names, or each of its elements, as an ID. A request may only name what is active; what the incident has
   * already may stay (`references.ts`).
   */
  refersTo?: Referred | 'viewers';
  /** Makes the stored value of the value in a request. Default: they are the same. */
  fromRequest?: (value: never) => unknown;
  /** Makes the value in the event of the stored one. Default: they are the same. */
  toEvent?: (value: never) => unknown;
}

/** Whoever may write sets it, at any time. */
export const BY_CLIENTS = { create: true, patch: true, changelog: true, event: true } as const;

export const id = z.int().min(1);

export const identifier = <Name extends string>(name: Name) => ({ name, type: 'bigint', schema: id }) as const;

export const nullableId = <Name extends string>(name: Name) =>
  ({ name, type: 'bigint', schema: id.nullable(), input: id.nullable(), initial: null }) as const;

export const count = <Name extends string>(name: Name) =>
  ({ name, type: 'bigint', schema: z.int().min(0), initial: 0 }) as const;

/** A time, null while it is not known. */
export const moment = <Name extends string>(name: Name) =>
  ({ name, type: 'timestamptz', schema: instant.nullable(), initial: null }) as const;

export const text = <Name extends string>(name: Name) => ({ name, type: 'text', schema: z.string() }) as const;

export const choice = <Name extends string, Value extends string>(name: Name, values: readonly Value[]) =>
  ({ name, type: 'text', schema: z.enum(values), input: z.enum(values) }) as const;

// Of requests, which may omit them.

export const optionalMoment = <Name extends string>(name: Name) =>
  ({
    ...moment(name),
    ...BY_CLIENTS,
    default: null,
    input: timestampInput.nullable(),
    fromRequest: (value: string | null) => (value === null ? null : parseTimestamp(value)),
  }) as const;

export const optionalText = <Name extends string>(name: Name) =>
  ({ ...text(name), ...BY_CLIENTS, default: '' }) as const;

export const optionalTexts = <Name extends string>(name: Name) =>
  ({ name, type: 'text[]', schema: z.array(z.string()), ...BY_CLIENTS, default: [] }) as const;

export const webAddress = <Name extends string>(name: Name) =>
  ({
    ...optionalText(name),
    input: boundedText(2048)
      .refine((value) => value === '' || isWebAddress(value), 'Must be an absolute http or https URL')
      .meta({ pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?://[^ /?#][^ ]*)?$' }),
    toEvent: shortenValue<string>,
  }) as const;

export { isWebAddress };

/**
 * The ID of a user as text, or what an import has kept of somebody who is none: a name with 255 characters at most, and an
 * address with 254 (`textOfPerson`).
 */
export const person = boundedText(512);

const viewerIds = (what: string) => z.array(id).meta({ description: `IDs of ${what}` });

/** Users, and teams for their members. */
export const viewers = z.strictObject({ users: viewerIds('users'), teams: viewerIds('teams') });

export const viewersInput = z.strictObject({
  users: viewerIds('users; default: none').max(MAX_VIEWERS).optional(),
  teams: viewerIds('teams; default: none').max(MAX_VIEWERS).optional(),
});
/** The ID of a user as text, that is an exact number. */
export const USER_ID = /^[1-9]\d{0,15}$/;

export const roleHolders = <Name extends string>(name: Name) =>
  ({
    name,
    type: 'jsonb',
    schema: z.record(z.string(), z.array(z.string())),
    create: true,
    patch: true,
    event: true,
    default: {} as Record<string, string[]>,
    input: z
      .record(z.string(), z.array(person.min(1, "Must be a user's ID")).max(MAX_HOLDERS))
      .refine((roles) => Object.keys(roles).length <= MAX_ROLES, `Must have at most ${MAX_ROLES} properties`)
      .meta({ maxProperties: MAX_ROLES }),
    fromRequest: (roles: RoleHolders) =>
      Object.fromEntries(Object.entries(roles).map(([key, people]) => [key, [...new Set(people)]])),
  }) as const;
