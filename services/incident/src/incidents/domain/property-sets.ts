import type { z } from 'zod';
import { INCIDENT_PROPERTIES } from './incident-properties.ts';
import type { Property, Referred } from './property-kinds.ts';

type Table = typeof INCIDENT_PROPERTIES;
type PropertyName = keyof Table;

/** The properties of which the table says this. */
type With<Part> = { [Each in PropertyName]: Table[Each] extends Part ? Each : never }[PropertyName];

export type Stored = With<{ type: string }>;
export type Shown = With<{ name: string }>;
export type Creatable = With<{ create: true }>;
export type Required = With<{ required: true }>;
export type Patchable = With<{ patch: true }>;
export type Referring = With<{ patch: true; refersTo: Referred | 'viewers' }>;
export type Published = With<{ event: true }>;

/** The sorts of lists by a column of the table. */
export type SortName = Extract<Table[PropertyName], { sort: string }>['sort'];

export type WireName<Each extends Shown> = Table[Each]['name'];
export type SchemaOf<Each extends Shown> = Table[Each]['schema'];
export type InputOf<Each extends Creatable | Patchable> = Table[Each]['input'];
/** The type of a value in the code. */
export type ValueOf<Each extends PropertyName> = z.infer<Table[Each]['schema']>;
/** The type of a value in the event. */
export type EventValueOf<Each extends Published> = Table[Each] extends { toEvent: (value: never) => infer Value }
  ? Value
  : ValueOf<Each>;

/** A property as an item of a list: its name in the code is `property`, that on the wire `name`. */
export type Item<Each extends PropertyName> = Property & {
  property: Each;
  name: Each extends Shown ? WireName<Each> : string;
};

const ALL = Object.entries<Property>(INCIDENT_PROPERTIES).map(([property, entry]) => ({ ...entry, property }));

/** The properties that meet a condition, which must be that of the type. */
const select = <Each extends PropertyName>(meets: (property: Property) => boolean) =>
  ALL.filter(meets) as readonly Property[] as readonly Item<Each>[];

export const STORED = select<Stored>(({ type }) => type !== undefined);
export const SHOWN = select<Shown>(({ name }) => name !== undefined);
export const PUBLISHED = select<Published>(({ event }) => event === true);

export const REFERRING = select<Referring>(({ refersTo }) => refersTo !== undefined) as readonly (Item<Referring> & {
  refersTo: Referred | 'viewers';
})[];

export const SORTED = select<With<{ sort: string }>>(({ sort }) => sort !== undefined);

/** Requests and entries of the changelog have these first. */
const FIRST = 'title service regions severity severityMode status issueType teamId'.split(' ');

const firstFirst = <Each extends PropertyName>(items: readonly Item<Each>[]) => [
  ...FIRST.flatMap((first) => items.filter(({ property }) => property === first)),
  ...items.filter(({ property }) => !FIRST.includes(property)),
];

export const CREATABLE = firstFirst(select<Creatable>(({ create }) => create === true));
export const PATCHABLE = firstFirst(select<Patchable>(({ patch }) => patch === true));
export const RECORDED = firstFirst(select<With<{ changelog: true }>>(({ changelog }) => changelog === true));

/** What an item of an import has in another form, or has to have. */
type OtherInItems = Referring | 'externalId' | 'title' | 'status' | 'severity';
const OTHER_IN_ITEMS: readonly string[] = ['externalId', 'title', 'status', 'severity'] satisfies OtherInItems[];

const transferred = PATCHABLE.filter(
  ({ property, refersTo }) => refersTo === undefined && !OTHER_IN_ITEMS.includes(property),
);

type Moment = With<{ patch: true; type: 'timestamptz' }>;
type Transferred = Exclude<Patchable, OtherInItems | Moment>;
/** The moments of an item of an import or an export, and what else it has as a PATCH has it. */
export const TRANSFERRED_MOMENTS = transferred.filter(({ type }) => type === 'timestamptz') as readonly Item<Moment>[];
export const TRANSFERRED = transferred.filter(({ type }) => type !== 'timestamptz') as readonly Item<Transferred>[];

/** What a new incident has unless the request, the workspace's configuration or the server gives another value. */
export const INITIAL = Object.fromEntries(
  ALL.filter((each) => 'default' in each || 'initial' in each).map((each) => [
    each.property,
    'default' in each ? each.default : each.initial,
  ]),
) as { [Each in With<{ default: unknown } | { initial: unknown }>]: ValueOf<Each> };
