import type { Tocsin } from '@tocsin/sdk';
import { z } from 'zod';
import { findResource } from '../find-id.ts';
import { readFittingPage, shorten } from './answer.ts';

/** Rows of an answer, if nothing else is said. */
const ROWS = 20;

/** What a tool does to what is there: nothing, adds something, or changes it. */
type Effect = 'reads' | 'adds' | 'changes';

/** A tool of an agent. */
export interface Tool {
  /** For people. */
  title: string;
  description: string;
  /** The key must have one of each list. */
  scopes: readonly (readonly string[])[];
  effect: Effect;
  input: z.ZodType<Record<string, unknown>>;
  /** What an answer has; long parts of any answer may be left out. */
  output: z.ZodType<Record<string, unknown>>;
  /** Returns an answer that fits: an object. @throws TocsinError */
  run(tocsin: Tocsin, input: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
}

/** An input whose mistyped properties are refused with the names that exist. */
const exact = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${issue.keys.join(', ')}: unknown; there are: ${Object.keys(shape).join(', ')}`
        : undefined,
  });

interface ToolOptions<Shape extends z.ZodRawShape> {
  title: string;
  description: string;
  scopes?: readonly (readonly string[])[];
  effect?: Effect;
  shape: Shape;
  output: z.ZodRawShape;
  run(tocsin: Tocsin, input: z.output<z.ZodObject<Shape>>, signal: AbortSignal): Promise<unknown>;
}

const tool = <Shape extends z.ZodRawShape>({
  shape,
  output,
  scopes = [],
  effect = 'reads',
  ...options
}: ToolOptions<Shape>): Tool => ({
  ...{ ...options, scopes, effect },
  input: exact(shape),
  output: z
    .looseObject({ ...output, too_large: z.boolean().describe('Only IDs, revisions and cursors are left') })
    .partial(),
});

const object = z.looseObject({});
/** A resource with what names it; null where a check has stored nothing. */
const resource = (more: z.ZodRawShape = {}) =>
  z.looseObject({ id: z.int().nullable(), revision: z.int().nullable(), ...more }).partial();
const incidentOutput = resource({
  human_id: z.string().nullable().describe('The reference'),
  title: z.string(),
  status: z.string(),
  severity: z.string(),
});
const pageOf = (name: string, row: z.ZodType = resource()) => ({
  [name]: z.array(row),
  pagination: z.looseObject({ next_cursor: z.string() }).partial().describe('Without next_cursor it is the last page'),
});

const text = (description: string) => z.string().describe(description).optional();
const texts = (description: string) => z.array(z.string()).describe(description).optional();
const incident = z
  .union([z.int().min(1), z.string().regex(/^[A-Za-z]+-\d+$/)])
  .describe('ID or reference of the incident: 12 or INC-12');
const limit = z.int().min(1).max(100).describe(`Rows at most; default ${ROWS}`).optional();
const cursor = text('next_cursor of the answer before, with the same other arguments');
const paged = { limit, cursor };
const validateOnly = z.boolean().describe('Check everything, and carry out nothing').optional();
const requestKey = z
  .string()
  .regex(/^[!-~]{1,128}$/)
  .describe('A new one for each thing to create; repeat it with the same call after a failure: it has one effect');
const expectedRevision = z
  .int()
  .min(1)
  .describe('The revision of the incident that you have read; refused if outdated');
const timestamp = (description: string) => text(`${description}, as RFC 3339 with a zone`);

/** What declares and changes an incident. */
const PROPERTIES = {
  service: text('Slug of a service'),
  severity: text('Key of a severity, see get_configuration'),
  status: text('Key of a status, see get_configuration'),
  team_id: z.int().min(1).nullable().describe('ID of the team that owns it').optional(),
  regions: texts('Affected regions'),
  impact_summary: text('What customers notice'),
  customer_impact_status: z.enum(['unknown', 'none', 'confirmed']).optional(),
  impact_started_at: timestamp('When the impact began'),
  recovered_at: timestamp('When the impact ended'),
  external_id: text('ID in another system'),
};

const postmortemOutput = z.looseObject({ revision: z.int(), state: z.string() }).partial();
const sections = z
  .array(exact({ key: z.string(), title: z.string(), body: z.string() }))
  .describe('Bodies are Markdown, in which {{activity}}, {{follow_ups}} and others stand for live parts')
  .optional();

const readIncidents = [['incidents:read']];
const writeIncidents = [['incidents:write']];

/** Agents name incidents as people do. */
async function idOf(tocsin: Tocsin, given: string | number, signal: AbortSignal): Promise<number> {
  if (typeof given === 'number') return given;
  return (await tocsin.incidents.getByReference(given, { signal })).incident.id;
}

/** Leaves out what is absent. */
const present = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Value;

const page = async <Page>(
  { limit: rows = ROWS, ...query }: { limit?: number | undefined },
  read: (query: object) => { page(): Promise<Page> },
) => readFittingPage(async (count) => read(present({ ...query, limit: count })).page(), rows);

type Section = Record<'key' | 'title' | 'body', string>;

const withSections = (stored: readonly Section[], changed: readonly Section[]): Section[] => [
  ...stored.map((section) => changed.find(({ key }) => key === section.key) ?? section),
  ...changed.filter(({ key }) => stored.every((section) => section.key !== key)),
];

/** Every tool, by its name. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  whoami: tool({
    title: 'Who am I',
    description: 'The user, the workspace and the scopes that you act with',
    shape: {},
    output: { user: object, workspace: object, api_key: object, permissions: z.array(z.string()) },
    run: async (tocsin, _, signal) => shorten(await tocsin.me.get({ signal })),
  }),
  get_configuration: tool({
    title: 'Get the configuration',
    description: 'The statuses, severities, service tiers and timeline groups of the workspace',
    scopes: [['configuration:read']],
    shape: {},
    output: { configuration: object },
    run: async (tocsin, _, signal) => shorten(await tocsin.configuration.get({ signal })),
  }),
  search_incidents: tool({
    title: 'Search incidents',
    description: 'Incidents that match all filters, newest first',
    scopes: readIncidents,
    shape: {
      q: text('A part of the title or of the impact, or a reference'),
      status: texts('Keys of statuses'),
      severity: texts('Keys of severities'),
      service: texts('Slugs of services'),
      team_id: z.array(z.int()).describe('IDs of teams').optional(),
      region: texts('Regions'),
      active_only: z.boolean().describe('Only those whose status is not terminal').optional(),
      mine: z.boolean().describe('Only those that you manage or respond to').optional(),
      external_id: text('Exact ID in another system'),
      created_from: timestamp('Created then or later'),
      created_to: timestamp('Created then or earlier'),
      ...paged,
    },
    output: pageOf('incidents', incidentOutput),
    run: async (tocsin, input, signal) => page(input, (query) => tocsin.incidents.list(query, { signal })),
  }),
  get_incident: tool({
    title: 'Get an incident',
    description: 'An incident with its revision, which changes need',
    scopes: readIncidents,
    shape: { incident },
    output: { incident: incidentOutput },
    run: async (tocsin, { incident: given }, signal) =>
      shorten(await tocsin.incidents.get(await idOf(tocsin, given, signal), { signal })),
  }),
  list_timeline: tool({
    title: 'List the timeline',
    description: 'What happened in an incident, in the order of time',
    scopes: readIncidents,
    shape: { incident, q: text('A part of the text'), order: z.enum(['asc', 'desc']).optional(), ...paged },
    output: pageOf('events'),
    run: async (tocsin, { incident: given, ...input }, signal) => {
      const id = await idOf(tocsin, given, signal);
      return page(input, (query) => tocsin.timeline.list(id, query, { signal }));
    },
  }),
  list_changelog: tool({
    title: 'List the changelog',
    description: 'Who changed which properties of an incident, newest first',
    scopes: readIncidents,
    shape: { incident, ...paged },
    output: pageOf('changelog'),
    run: async (tocsin, { incident: given, ...input }, signal) => {
      const id = await idOf(tocsin, given, signal);
      return page(input, (query) => tocsin.incidents.listChangelog(id, query, { signal }));
    },
  }),
  list_services: tool({
    title: 'List services',
    description: 'The services of the catalog',
    scopes: [['services:read']],
    shape: { q: text('A part of the name or the slug'), tier: texts('Keys of tiers'), ...paged },
    output: pageOf('services'),
    run: async (tocsin, input, signal) => page(input, (query) => tocsin.services.list(query, { signal })),
  }),
  list_teams: tool({
    title: 'List teams',
    description: 'The teams of the catalog',
    scopes: [['teams:read']],
    shape: paged,
    output: pageOf('teams'),
    run: async (tocsin, input, signal) => page(input, (query) => tocsin.teams.list(query, { signal })),
  }),
  list_fields: tool({
    title: 'List custom fields',
    description: 'The definitions of custom fields',
    scopes: [['custom_fields:read']],
    shape: paged,
    output: pageOf('fields'),
    run: async (tocsin, input, signal) => page(input, (query) => tocsin.customFields.list(query, { signal })),
  }),
  events_since: tool({
    title: 'Events since a place',
    description: 'The changes behind a cursor, or since a time; next_cursor continues',
    scopes: [['incidents:read', 'services:read', 'teams:read', 'custom_fields:read']],
    shape: {
      after: text('next_cursor of the answer before'),
      from: text('Without a cursor: beginning, now (default) or a time as RFC 3339 with a zone'),
      types: texts('Types of events, such as incident.created'),
      resource: text('Such as incident:12, incident:INC-12 or service:checkout'),
      limit,
    },
    output: pageOf('events', z.looseObject({ id: z.string(), type: z.string() }).partial()),
    run: async (tocsin, { limit: rows = ROWS, resource: named, ...given }, signal) => {
      const resource = named && (await findResource(tocsin, { text: named, what: 'resource', signal }));
      const query = { ...given, resource };
      return readFittingPage(
        async (count) => tocsin.events.list(present({ ...query, limit: count }), { signal }),
        rows,
      );
    },
  }),
  declare_incident: tool({
    title: 'Declare an incident',
    description: 'Creates an incident',
    scopes: writeIncidents,
    effect: 'adds',
    shape: {
      request_key: requestKey,
      title: z.string().describe('What has happened, in one line'),
      ...PROPERTIES,
      validate_only: validateOnly,
    },
    output: { incident: incidentOutput },
    run: async (tocsin, { request_key: idempotencyKey, validate_only: check, ...body }, signal) =>
      shorten(await tocsin.incidents.create(present(body), { idempotencyKey, validateOnly: check, signal })),
  }),
  update_incident: tool({
    title: 'Update an incident',
    description: 'Changes properties of an incident; use transition_incident to resolve it',
    scopes: writeIncidents,
    effect: 'changes',
    shape: {
      incident,
      expected_revision: expectedRevision,
      title: text('What has happened, in one line'),
      ...PROPERTIES,
      validate_only: validateOnly,
    },
    output: { incident: incidentOutput },
    run: async (tocsin, { incident: given, expected_revision: ifRevision, validate_only: check, ...patch }, signal) => {
      const id = await idOf(tocsin, given, signal);
      return shorten(await tocsin.incidents.update(id, present(patch), { ifRevision, validateOnly: check, signal }));
    },
  }),
  transition_incident: tool({
    title: 'Resolve, close, reopen, archive or restore an incident',
    description: 'Resolves, closes, reopens, archives or restores an incident',
    scopes: writeIncidents,
    effect: 'changes',
    shape: {
      incident,
      expected_revision: expectedRevision,
      to: z.enum(['resolve', 'close', 'reopen', 'archive', 'restore']),
      note: text('Goes into the timeline when it is resolved, closed or reopened'),
      validate_only: validateOnly,
    },
    output: { incident: incidentOutput },
    run: async (tocsin, { incident: given, expected_revision: revision, to, note, validate_only: check }, signal) => {
      const id = await idOf(tocsin, given, signal);
      const options = { validateOnly: check, signal };
      const expected = { expected_revision: revision };
      const withNote = <Name extends string>(name: Name) => present<typeof expected>({ ...expected, [name]: note });
      const transitions = {
        resolve: async () => tocsin.incidents.resolve(id, withNote('resolution_note'), options),
        close: async () => tocsin.incidents.close(id, withNote('close_note'), options),
        reopen: async () => tocsin.incidents.reopen(id, withNote('reopen_note'), options),
        archive: async () => tocsin.incidents.archive(id, expected, options),
        restore: async () => tocsin.incidents.restore(id, expected, options),
      };
      return shorten(await transitions[to]());
    },
  }),
  add_to_timeline: tool({
    title: 'Add to the timeline',
    description: 'Adds an event to the timeline of an incident',
    scopes: writeIncidents,
    effect: 'adds',
    shape: {
      request_key: requestKey,
      incident,
      body: z.string().describe('What happened'),
      title: text('In one line'),
      started_at: timestamp('When it happened; default: now'),
      tags: texts('Tags'),
      validate_only: validateOnly,
    },
    output: { event: resource() },
    run: async (tocsin, { request_key: idempotencyKey, incident: given, validate_only: check, ...body }, signal) => {
      const id = await idOf(tocsin, given, signal);
      return shorten(await tocsin.timeline.create(id, present(body), { idempotencyKey, validateOnly: check, signal }));
    },
  }),
  get_postmortem: tool({
    title: 'Get a post-mortem',
    description: 'The post-mortem of an incident as Markdown, and what people have written of it, with its revision',
    scopes: readIncidents,
    shape: { incident },
    output: { document: postmortemOutput.nullable(), markdown: z.string() },
    run: async (tocsin, { incident: given }, signal) => {
      const id = await idOf(tocsin, given, signal);
      const { document } = await tocsin.incidents.getPostmortem(id, { signal });
      return shorten({ document, markdown: await tocsin.incidents.getPostmortemMarkdown(id, { signal }) });
    },
  }),
  write_postmortem: tool({
    title: 'Write or publish a post-mortem',
    description:
      'Begins the post-mortem of an incident; or changes sections, which their keys name, adds others at the end, or changes the state. What it was is kept',
    scopes: writeIncidents,
    effect: 'changes',
    shape: {
      incident,
      expected_revision: expectedRevision.describe('The revision of the document; absent: begin it').optional(),
      sections,
      state: z.enum(['draft', 'in_review', 'published']).optional(),
      validate_only: validateOnly,
    },
    output: { document: postmortemOutput },
    run: async (tocsin, { incident: given, expected_revision: ifRevision, validate_only: check, ...patch }, signal) => {
      const id = await idOf(tocsin, given, signal);
      const options = { validateOnly: check, signal };
      const { sections: changed, ...state } = patch;
      if (ifRevision === undefined) {
        if (patch.state !== undefined) throw new Error('state: begin the post-mortem first, without it');
        return shorten(await tocsin.incidents.createPostmortem(id, present({ sections: changed }), options));
      }
      const write = async (body: object) => tocsin.incidents.updatePostmortem(id, body, { ...options, ifRevision });
      if (changed === undefined) return shorten(await write(present(state)));
      // An agent may have read long sections shortened, so it sends only those that it changes.
      const { document } = await tocsin.incidents.getPostmortem(id, { signal });
      return shorten(await write(present({ ...state, sections: withSections(document?.sections ?? [], changed) })));
    },
  }),
  set_values: tool({
    title: 'Set custom fields',
    description: 'Sets or clears values of custom fields of an incident: all of them, or none',
    scopes: [['custom_fields:write'], ['incidents:read']],
    effect: 'changes',
    shape: {
      incident,
      expected_revision: expectedRevision,
      values: z
        .array(exact({ slug: z.string(), value: z.unknown().describe('null clears it') }))
        .min(1)
        .describe('See list_fields'),
      validate_only: validateOnly,
    },
    output: { values: z.array(z.unknown()).describe('All values of the incident') },
    run: async (tocsin, { incident: given, expected_revision: expected, values, validate_only: check }, signal) => {
      const id = await idOf(tocsin, given, signal);
      // The API has no revision for values, so a change between the two requests is not noticed.
      const { incident: current } = await tocsin.incidents.get(id, { signal });
      if (current.revision !== expected) throw new Error(`the incident has revision ${current.revision} now`);
      return shorten(await tocsin.incidents.updateCustomFields(id, { values }, { validateOnly: check, signal }));
    },
  }),
};
