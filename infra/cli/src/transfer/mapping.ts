import type { Tocsin } from '@tocsin/sdk';
import { z } from 'zod';
import { parseJson, UsageError } from '../operation-parameters.ts';
import { readInput } from '../read-input.ts';
import type { Session } from '../session.ts';
import { isAbsent, type Person, type Source, textOf } from './source.ts';

const names = z.record(z.string(), z.string());
const namesOrNothing = z.record(z.string(), z.string().nullable());

/** What a person decides: names of Tocsin by those of the source; null leaves something out, `*` stands for all others. */
const mappingSchema = z.strictObject({
  statuses: names.default({}),
  severities: names.default({}),
  teams: namesOrNothing.default({}),
  services: names.default({}),
  fields: namesOrNothing.default({}),
  people: z
    .record(z.string(), z.strictObject({ name: z.string(), email: z.string().optional() }).nullable())
    .default({}),
  others: z.record(z.string(), z.null()).default({}),
});
export type Mapping = z.infer<typeof mappingSchema>;

/** @throws UsageError */
export async function readMapping(session: Session, file: string | undefined): Promise<Mapping> {
  const read = mappingSchema.safeParse(file === undefined ? {} : parseJson(file, await readInput(session, file)));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`${file ?? ''}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}

/** What items refer to. */
export interface Workspace {
  statuses: Find<string>;
  severities: Find<string>;
  teams: Find<string>;
  services: Find<string>;
  fields: Find<{ slug: string; type: string }>;
  /** Lower case addresses. */
  emails: ReadonlySet<string>;
}

export async function readWorkspace(tocsin: Tocsin, signal: AbortSignal): Promise<Workspace> {
  const options = { signal };
  const page = { limit: 100, include_archived: true };
  const { workflow_statuses: statuses } = await tocsin.configuration.listWorkflowStatuses(options);
  const { severities } = await tocsin.configuration.listSeverities(options);
  const teams = await Array.fromAsync(tocsin.teams.list(page, options));
  const services = await Array.fromAsync(tocsin.services.list({ limit: 100 }, options));
  const fields = await Array.fromAsync(tocsin.customFields.list(page, options));
  const users = await Array.fromAsync(tocsin.users.list({ limit: 100 }, options));
  const byLabel = ({ key, label }: { key: string; label: string }) => ({ key, label, value: key });
  const bySlug = ({ slug, name }: { slug: string; name: string }) => ({ key: slug, label: name, value: slug });
  return {
    statuses: finder(statuses.map(byLabel)),
    severities: finder(severities.map(byLabel)),
    teams: finder(teams.map(bySlug)),
    services: finder(services.map(bySlug)),
    fields: finder(
      fields.map(({ slug, name, field_type: type }) => ({ key: slug, label: name, value: { slug, type } })),
    ),
    emails: new Set(users.map(({ email }) => email.toLowerCase())),
  };
}

type Find<Value> = (name: string) => Value | undefined;

/** Finds by the key, then by the key in another way of writing, then by the label: whichever names exactly one. */
export function finder<Value>(rows: readonly { key: string; label: string; value: Value }[]): Find<Value> {
  const ways = [
    (row: { key: string; label: string }) => row.key,
    (row: { key: string; label: string }) => normalized(row.key),
    (row: { key: string; label: string }) => normalized(row.label),
  ].map((nameOf) => Map.groupBy(rows, nameOf));
  return (name) => {
    for (const [index, way] of ways.entries()) {
      const rowsOfName = way.get(index === 0 ? name : normalized(name)) ?? [];
      if (rowsOfName.length > 0) return rowsOfName.length === 1 ? rowsOfName[0]?.value : undefined;
    }
    return undefined;
  };
}

const normalized = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_');

type Kind = 'status' | 'severity' | 'team' | 'service' | 'field' | 'person' | 'other';

/** Something of the source, what becomes of it, and how often it is there. */
interface Finding {
  kind: Kind;
  name: string;
  /** Null: nothing. */
  becomes: string | null;
  /** Whether it is what the mapping says, or nothing is lost. */
  decided: boolean;
  count: number;
  /** An incident that has it. */
  example: string;
}

/** Finds what becomes of the names of a source, and notes it. */
export interface Mapper {
  status(name: string): string | undefined;
  severity(name: string): string | undefined;
  team(name: string): string | undefined;
  service(name: string): string;
  /** The value is undefined if the field cannot hold it, because it is empty. */
  field(name: string, value: unknown): [slug: string, value: unknown] | undefined;
  /** Null: left out by decision; undefined: it has no counterpart. */
  fieldOf(name: string): { slug: string; type: string } | null | undefined;
  person(person: Person): Person;
  /** Notes something else that is changed, or lost: null. */
  note(name: string, becomes: string | null): void;
  /** Names the incident that is noted from now on. */
  begin(id: string): void;
  findings(): Finding[];
}

/** How an incident without a severity is named in a mapping and a plan. */
const NONE = 'none';

export function createMapper(source: Source, mapping: Mapping, workspace: Workspace): Mapper {
  const all = new Map<string, Finding>();
  let incident = '';
  const note = (kind: Kind, name: string, becomes: string | null, decided = becomes !== null): void => {
    const key = `${kind} ${name}`;
    const finding = all.get(key);
    if (finding !== undefined) finding.count += 1;
    else all.set(key, { kind, name, becomes, decided, count: 1, example: incident });
  };
  /** Undefined: nothing says what becomes of it. */
  const decide = <Value>(decisions: Readonly<Record<string, Value>>, name: string): Value | undefined =>
    Object.hasOwn(decisions, name) ? decisions[name] : decisions['*'];
  const entry = (kind: 'status' | 'severity', given: string): string | undefined => {
    const name = given === '' ? NONE : given;
    const isStatus = kind === 'status';
    const keyOf = isStatus ? workspace.statuses : workspace.severities;
    const usuals = isStatus ? source.statuses : source.severities;
    const usual = Object.hasOwn(usuals, name) ? (usuals[name] ?? name) : name;
    const chosen = decide(isStatus ? mapping.statuses : mapping.severities, name) ?? usual;
    const key = keyOf(chosen);
    note(kind, name, key ?? null);
    return key;
  };

  return {
    begin: (id) => void (incident = id),
    note: (name, becomes) => note('other', name, becomes, becomes !== null || decide(mapping.others, name) === null),
    findings: () => [...all.values()],
    status: (name) => entry('status', name),
    severity: (name) => entry('severity', name),
    team: (name) => {
      const decided = decide(mapping.teams, name);
      const slug = workspace.teams(decided ?? name);
      if (decided === null) note('team', name, null, true);
      else note('team', name, slug ?? null);
      return decided === null ? undefined : slug;
    },
    service: (name) => {
      const chosen = decide(mapping.services, name) ?? name;
      const service = workspace.services(chosen) ?? cut(chosen, 128);
      note('service', name, service);
      return service;
    },
    field: (name, value) => {
      const decided = decide(mapping.fields, name);
      const field = decided === null ? undefined : workspace.fields(decided ?? name);
      note('field', name, field?.slug ?? null, field !== undefined || decided === null);
      return field && [field.slug, valueFor(field.type, value)];
    },
    fieldOf: (name) => {
      const decided = decide(mapping.fields, name);
      return decided === null ? null : workspace.fields(decided ?? name);
    },
    person: (person) => {
      const email = person.email?.toLowerCase();
      if (email !== undefined && workspace.emails.has(email)) return person;
      const name = email ?? person.name;
      const decided = decide(mapping.people, name);
      note('person', name, decided?.email ?? decided?.name ?? null, decided !== undefined);
      return decided ?? person;
    },
  };
}

export const cut = (text: string, length: number) =>
  text.length > length ? text.slice(0, length - 1).toWellFormed() : text;

/** Types that hold an empty text. */
export const TEXT_TYPES: readonly string[] = ['string', 'json'];

/** A value as a field of a type takes it; one that does not fit stays as it is, and is refused by name. */
function valueFor(type: string, value: unknown): unknown {
  const words = [value]
    .flat()
    .filter((each) => !isAbsent(each))
    .map(textOf);
  const text = words.join(', ');
  if (text.trim() === '' && !TEXT_TYPES.includes(type)) return undefined;
  switch (type) {
    case 'multi_select':
      return words;
    case 'number':
      return Number.isNaN(Number(text)) ? value : Number(text);
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : value);
    case 'json':
    case 'monetary':
      return value;
    default:
      return text;
  }
}
