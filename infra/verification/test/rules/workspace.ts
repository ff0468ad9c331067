import type { FieldType } from '@tocsin/schemas';
import { LINE_BREAK } from '@tocsin/schemas/markdown';
import { behave, type Client, eventually, type FakeSlack, ONE_PIXEL, type Receiver } from '@tocsin/testing';
import { json } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import type { System } from '../../systems/system.ts';
import type { Write } from './operations.ts';

/** Texts of all planes, forms and directions, of what other languages treat as syntax, and of what is not seen. */
const TEXTS = [
  'Äpfel & Söhne',
  'A\u0308pfel & So\u0308hne',
  'İstanbul ıI',
  'Straße STRASSE',
  'ΟΔΟΣ ὀδός',
  'ﬁle \u1E9E \uFF21',
  '日本 東京',
  '\uAC01 \u1100\u1161\u11A8',
  '\u05E9\u05DC\u05D5\u05DD \u202Eabc\u202C \u0645\u0631',
  'a\u200Bb\u200D\uFEFFc',
  '👩‍👩‍👧 \u{1D400} \u{10FFFF}',
  '<b onclick="x()">&amp;</b>',
  String.raw`\ \n \u0041 "quoted" 'single' $1 ${'${x}'}`,
  '100% off_by_one % _',
  'line\r\nline\ttab\u0001\u007F\u0085\u2028',
  "'; drop table incidents; --",
  '{"a":[1,null]}',
  '__proto__',
  ' \u00A0 inside  it \u3000',
  'null',
  '0',
];
/** Of all characters, this one becomes the longest in the form by which names are sorted. */
const LONGEST = '\uFDFA'.repeat(128);
const WHITE = ['', '', '', ' ', '\t\n', '\u3000', '\uFEFF'];

export const anyText = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...TEXTS) },
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\0', '')),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
/** It shows something. @param length at most, in code points */
export const name = (length = 60) =>
  fc.tuple(fc.constantFrom(...WHITE), fc.constantFrom('x', 'Ä', 'ж', 'b'), anyText, fc.constantFrom(...WHITE)).map(
    ([before, first, text, after]) =>
      before +
      first +
      Array.from(text)
        .slice(0, length - 9)
        .join('') +
      after,
  );
const long = fc.oneof(
  { weight: 5, arbitrary: anyText },
  fc.constantFrom(...TEXTS).map((text) =>
    Array.from(`${text} `.repeat(9_000 / text.length))
      .slice(0, 9_000)
      .join(''),
  ),
);

const pick = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);
const some = <Value>(values: readonly Value[]) => fc.subarray([...values], { maxLength: 3 });

/** Within the range of times that can be stored, in several notations, and the ends of the range. */
const moment = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.integer({ min: 0, max: 40 }).map((hour) => new Date(1.7e12 + hour * 3.6e6).toISOString()),
  },
  pick('0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9999-00:00', '2024-02-29T23:59:59.5+05:45', '1970-01-01t00:00:00z'),
);

/** A field of each type, and its values. */
export const FIELDS = {
  string: [{ max_length: 9_000 }, long],
  number: [{ precision: 10 }, pick(0, -3, 0.1, 0.3, 7.25, 1e15, 9_007_199_254_740_991, -0.000_000_000_1, 123_456.789)],
  boolean: [null, fc.boolean()],
  date: [null, pick('0001-01-01', '2024-02-29', '2026-11-20', '9999-12-31')],
  time: [null, pick('00:00', '09:30', '09:30:00', '23:59:59')],
  datetime: [null, moment],
  monetary: [{}, fc.record({ amount: pick(0, -0.01, 9.99, 1e12, 10), currency: pick('EUR', 'USD', 'JPY') })],
  json: [null, fc.oneof(json, pick<unknown>([], {}, '', false, 0, [null, { '': [] }], 1e-300))],
  select: [{ options: ['b', 'A', 'Ä', '日本'], allow_custom: false }, pick('b', 'A', 'Ä', '日本')],
  multi_select: [{ allow_custom: true, options: ['z', { value: 'a', label: 'First' }] }, some(['z', 'a', 'Q', 'é'])],
} as const satisfies Record<string, readonly [object | null, fc.Arbitrary<unknown>]>;

const SCRIBE = { key: 'scribe', label: 'Scribe', several_holders: true };

const MOMENTS = ['impact_started_at', 'first_reported_at', 'first_responded_at', 'recovered_at'];

const incident = ({ users, teams }: Made) =>
  fc.record(
    {
      title: name(200),
      service: fc.oneof(pick('', 's1', 's2', 's3', 's4', 'S1'), anyText),
      regions: fc.array(fc.oneof(pick('eu', 'EU', ' us '), anyText), { maxLength: 3 }),
      severity: pick('sev0', 'sev1', 'sev2', 'sev3', 'sev4'),
      status: pick('open', 'triage', 'active', 'on-hold', 'monitoring', 'resolved', 'closed'),
      issue_type: pick('ticket', 'incident', 'postmortem'),
      team_id: pick(null, ...teams.slice(0, 5)),
      external_id: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.uuid()),
      meet_url: pick('', 'https://meet.example/1?a=%20&b=<ü>#x', 'HTTP://Meet.Example/日本'),
      doc_url: pick('', 'https://docs.example/\'"\\'),
      impact_summary: long,
      customer_impact_status: pick('unknown', 'none', 'confirmed'),
      incident_manager: pick('', ...users.map(String)),
      incident_responders: some(users.map(String)),
      roles: fc.record({
        communications: fc.subarray(users.map(String), { maxLength: 1 }),
        scribe: some(users.map(String)),
      }),
      ...Object.fromEntries(MOMENTS.map((key) => [key, fc.option(moment)])),
    },
    { requiredKeys: ['title'] },
  );

const timelineEvent = (groups: readonly number[]) =>
  fc.record(
    {
      body: fc.oneof(
        name(),
        long.map((text) => `.${text}`),
      ),
      started_at: moment,
      is_key: fc.boolean(),
      icon: pick('', '🔥', '👩‍👩‍👧'),
      title: fc.oneof(fc.constant(''), anyText),
      tags: fc.array(anyText, { maxLength: 3 }),
      type: fc.oneof(pick('note', 'Deploy'), name(30)),
      group_id: pick(null, ...groups),
    },
    { requiredKeys: ['body'] },
  );

const followUpOf = ({ users }: Made) =>
  fc.record(
    {
      title: name(200),
      description: long,
      owner: pick('', ...users.map(String)),
      due_on: pick(null, '0001-01-01', '2024-02-29', '2026-11-20', '9999-12-31'),
      status: pick('open', 'done', 'dropped'),
      external_url: pick('', 'https://tickets.example/\'"\\'),
    },
    { requiredKeys: ['title'] },
  );

const inOneLine = (text: string) => text.split(LINE_BREAK).join(' ');

const postmortemOf = fc.record({
  sections: fc
    .array(fc.record({ title: fc.oneof(fc.constant(''), name(200)).map(inOneLine), body: long }), { maxLength: 4 })
    .map((sections) => sections.map((section, index) => ({ key: `k${index}`, ...section }))),
});

type Made = Record<'users' | 'teams' | 'services' | 'incidents' | 'pictures', number[]> & {
  fields: { id: number; type: FieldType }[];
};

/** What a rule may need to know of a workspace besides what its API shows: the IDs of its resources. */
export type Workspace = Made;

export interface Surroundings {
  client: Client;
  slack: FakeSlack;
  receiver: Receiver;
  /** Begins a session. */
  signIn: () => Promise<void>;
}

/** Connects the workspace to the Slack, and returns what a generated workspace needs of a system. */
export async function surroundingsOf(system: System, { slack, receiver, client }: Omit<Surroundings, 'signIn'>) {
  const template = ['--channel-template', 'inc-{id}-{short_title}'];
  await system.admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token, ...template);
  const { user } = (await client.get('/api/v1/me')).body;
  const signIn = async () => {
    const { url } = await system.admin('login-link', '--workspace', 'acme', '--email', user.email);
    const headers = { Authorization: `Bearer ${String(url).split('#')[1]}`, 'Sec-Fetch-Site': 'same-origin' };
    const { status } = await client.send('POST', '/app/session', undefined, headers);
    if (status !== 204) throw new Error(`cannot sign in: ${status}`);
  };
  return { client, slack, receiver, signIn };
}

/**
 * Fills the workspace `acme`: resources of each kind in each state, with texts of all kinds in all places. The same writes
 * in the same order for a seed.
 */
export async function fillWorkspace(
  write: Write,
  { client, slack, receiver, signIn }: Surroundings,
  seed: number,
): Promise<Workspace> {
  let samples = seed;
  const one = <Value>(arbitrary: fc.Arbitrary<Value>): Value =>
    fc.sample(arbitrary, { seed: (samples += 1), numRuns: 1 })[0] as Value;
  const create = async (operation: string, ids: readonly number[], body: object): Promise<number> => {
    const [resource] = Object.values((await write(operation, ids, body)) as Record<string, { id: number }>);
    return resource?.id ?? 0;
  };
  const resources: Made = { users: [], teams: [], services: [], fields: [], incidents: [], pictures: [] };
  const { users, teams, services, fields, incidents } = resources;

  for (let index = 0; index < 9; index += 1) {
    const role = one(pick('owner', 'admin', 'manager', 'member', 'viewer'));
    const body = { email: `${one(pick('user', 'Üser', 'a_b%'))}${index}@acme.example`, name: one(name()), role };
    users.push(await create('createUser', [], { ...body, seat: one(pick('responder', 'none')) }));
  }
  await write('updateUser', [users[0]!], { name: one(name()), email: 'Corrected@acme.example' });
  const scopes = ['incidents:read', 'teams:read'];
  for (let index = 0; index < 3; index += 1) {
    const key = { name: one(name()), scopes, expires_at: one(pick(null, '9999-12-31T23:59:59.999Z')) };
    const id = await create('createApiKey', [], { ...key, user_id: users[index] });
    await write('updateApiKey', [id], { name: one(name()), scopes: scopes.slice(index % 2) });
    if (index > 0) await write('rotateApiKey', [id], { overlap_hours: index });
    if (index > 1) await write('revokeApiKey', [id]);
  }
  await signIn();
  const { sessions } = (await client.get('/api/v1/settings/sessions')).body;
  await write('revokeSession', [sessions[0].id]);

  const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
  const added = (key: string) => ({ key, label: one(name()), is_default: false });
  const lists = {
    workflow_statuses: [added('triage'), ...configuration.workflow_statuses],
    severities: [{ ...added('sev0'), min_score: 95, description: one(anyText) }, ...configuration.severities],
    service_tiers: [...configuration.service_tiers, added('t9')],
  };
  const unordered = Object.fromEntries(
    Object.entries(lists).map(([key, list]) => [key, list.map(({ order: _, ...entry }) => entry)]),
  );
  const { configuration: configured } = await write('replaceConfiguration', [], {
    ...unordered,
    time_zone: 'America/St_Johns',
    postmortem_template: '# {{reference}}\n\n{{activity}}',
    timeline_groups: [{ name: one(name()) }, { name: one(name()) }],
    incident_roles: [{ key: 'communications', label: one(name()), description: one(anyText) }, SCRIBE],
    exchange_rates: [{ currency: 'EUR', rate: 1.085, as_of: '2024-02-29T00:00:00Z' }],
  });
  const groups = configured.timeline_groups.map(({ id }: { id: number }) => id);

  for (let index = 0; index < 7; index += 1) {
    const body = {
      name: index === 3 ? LONGEST : one(name()),
      slug: `t${index}`,
      description: one(long),
      parent_team_id: teams[index % 4] ?? null,
    };
    teams.push(await create('createTeam', [], { ...body, external_id: one(pick(null, `hr "${index}" ü`)) }));
    for (const user_id of one(some(users))) {
      await write('addTeamMember', [teams[index]!], { user_id, role: one(pick('member', 'lead')) });
    }
  }
  await write('updateTeam', [teams[1]!], { name: one(name()), description: one(anyText) });
  await write('addTeamMember', [teams[6]!], { user_id: users[8] }).catch(() => undefined);
  await write('updateTeamMember', [teams[6]!, users[8]!], { role: 'lead' });
  await write('removeTeamMember', [teams[6]!, users[8]!]);
  for (const team of [5, 6]) await write('archiveTeam', [teams[team]!]);
  await write('restoreTeam', [teams[6]!]);

  for (let index = 0; index < 14; index += 1) {
    const body = {
      name: index === 3 ? LONGEST : one(name()),
      slug: `s${index}`,
      description: one(long),
      tier: one(pick('t0', 't1', 't2', 't9')),
    };
    const more = { tags: one(fc.array(name(30), { maxLength: 3 })), external_id: one(pick(null, `cmdb/${index}?é`)) };
    const owner_team_id = one(pick(null, ...teams.slice(0, 5)));
    services.push(await create('createService', [], { ...body, ...more, owner_team_id }));
  }
  await write('updateService', [services[3]!], { name: one(name()), owner_team_id: null, tags: [] });
  for (const service of [11, 12, 13]) await write('archiveService', [services[service]!]);
  await write('restoreService', [services[13]!]);

  for (const [field_type, [config]] of [...Object.entries(FIELDS), ...Object.entries(FIELDS).slice(0, 3)]) {
    const body = { name: one(name()), slug: `f${fields.length}`, field_type, config, description: one(long) };
    const id = await create('createCustomField', [], { ...body, external_id: one(pick(null, `x-${fields.length}`)) });
    fields.push({ id, type: field_type as FieldType });
  }
  await write('updateCustomField', [fields[1]!.id], { name: one(name()), sort_order: 7, required: true });

  const value = ({ id, type }: Made['fields'][number]) => ({ field_id: id, value: one<unknown>(FIELDS[type][1]) });
  const values = () => one(fc.subarray(fields, { minLength: 1 })).map(value);
  for (let index = 0; index < 45; index += 1) {
    const id = await create('createIncident', [], { ...one(incident(resources)), custom_field_values: values() });
    incidents.push(id);
    for (let event = 0; event < (index === 7 ? 24 : index % 4); event += 1) {
      const added = await create('createTimelineEvent', [id], one(timelineEvent(groups)));
      if (event === 1) await write('updateTimelineEvent', [added], one(timelineEvent(groups)));
      if (event === 2) await write('deleteTimelineEvent', [added]);
      if (event === 2 && index % 3 === 0) await write('restoreTimelineEvent', [added]);
    }
    if (index % 8 === 7) {
      const picture = await create('createPicture', [id], ONE_PIXEL);
      resources.pictures.push(picture);
      await write('createTimelineEvent', [id], { ...one(timelineEvent(groups)), attachments: [picture] });
    }
    for (let place = 0; place < (index === 7 ? 12 : index % 3); place += 1) {
      const followUp = await create('createFollowUp', [id], one(followUpOf(resources)));
      if (place === 1) await write('updateFollowUp', [followUp], one(followUpOf(resources)));
      if (place === 1 && index % 2 === 0) await write('deleteFollowUp', [followUp]);
    }
    if (index % 4 === 3) await write('createIncidentPostmortem', [id], one(postmortemOf));
    if (index % 8 === 7)
      await write('updateIncidentPostmortem', [id], {
        ...one(postmortemOf),
        state: one(pick('in_review', 'published')),
      });
    for (const action of one(some(['edit', 'edit', 'set', 'unset', 'resolve', 'close', 'reopen']))) {
      if (action === 'edit') await write('updateIncident', [id], one(incident(resources)));
      if (action === 'set') await write('updateIncidentCustomFields', [id], { values: values() });
      if (action === 'unset') await write('deleteIncidentCustomField', [id, fields[4]!.id]);
      if (action === 'resolve') await write('resolveIncident', [id], { resolution_note: one(long) });
      if (action === 'close') await write('closeIncident', [id], { close_note: one(long) });
      if (action === 'reopen' && index % 3 === 0) {
        await write('resolveIncident', [id]);
        await write('reopenIncident', [id], { reopen_note: one(anyText) });
      }
    }
    // Neither of the two is ever archived.
    if (index % 4 === 3) {
      const type = one(pick('duplicate_of', 'caused_by', 'related'));
      const relation = await create('createIncidentRelation', [id], { type, incident_id: incidents[index - 2] });
      if (index % 8 === 3) await write('deleteIncidentRelation', [id, relation]);
    }
    if (index % 4 === 0) await write('archiveIncident', [id]);
    if (index % 12 === 0) await write('restoreIncident', [id]);
  }
  const [first, second] = incidents.slice(1, 3);
  // One item, because several requests with its key at once share the items of a longer one.
  await write('bulkIncidents', [], { items: [{ id: first, verb: 'close' }] });
  await write('bulkIncidents', [], {
    items: [
      { id: second, verb: 'resolve' },
      { id: first, verb: 'reopen' },
    ],
  });
  await chat(write, { client, slack }, one(name(30)));

  const { url } = { url: receiver.url() };
  await write('createWebhook', [], { url, name: one(name()), headers: { 'X-Text': 'a "b" \\' } });
  await deliveries(write, { client, receiver });

  await alerts(write, one);

  const { incident: mistake } = await write('createIncident', [], { title: 'A mistake' });
  await write('deleteIncident', [mistake.id], { reason: one(name()), confirmation: mistake.human_id });

  const email = 'forgotten@acme.example';
  await write('eraseUser', [await create('createUser', [], { email, name: one(name()) })], { confirmation: email });

  for (const field of [10, 11]) await write('archiveCustomField', [fields[field]!.id]);
  await write('restoreCustomField', [fields[11]!.id]);
  await write('importIncidents', [], { incidents: Array.from({ length: 3 }, (_, index) => imported(one, index)) });
  const ofEvent = { source: 'dispatch', id: '1', event: 'e', filename: one(name(60)) };
  await write('importPicture', [], ONE_PIXEL, ofEvent);
  await write('replaceConfiguration', [], {
    workflow_statuses: unordered['workflow_statuses']?.slice(1),
    replace: { statuses: { triage: 'open' } },
  });
  await destinations({ write, create, one }, url);
  await onCall(write, receiver, teams);
  await trackers({ write, create, one }, { url, incident: second! });
  return resources;
}

/** Takes away what incidents have: they keep it, and nobody could set it now. */
export async function takeAway(write: Write, { teams, users, fields }: Workspace): Promise<void> {
  await write('archiveTeam', [teams[4]!]);
  await write('archiveCustomField', [fields[2]!.id]);
  await write('updateCustomField', [fields[8]!.id], { config: { options: ['new'] } });
  await write('replaceConfiguration', [], { incident_roles: [SCRIBE] });
  for (const user of users.slice(5, 7)) await write('updateUser', [user], { active: false });
}

async function chat(write: Write, { client, slack }: Pick<Surroundings, 'client' | 'slack'>, title: string) {
  slack.addUsergroup({ handle: 'oncall', users: [] });
  const invite_usergroups = ['oncall', '@missing'];
  const { incident: requested } = await write('createIncident', [], {
    ...{ title, create_slack_channel: true, short_title: 'Störung', invite_usergroups },
  });
  const { incident: later } = await write('createIncident', [], { title });
  await write('requestIncidentProvisioning', [later.id], { short_title: 'Später', invite_usergroups });
  const hasEnded = async (id: number) => {
    const { provisioning } = (await client.get(`/api/v1/incidents/${id}/provisioning`)).body;
    return ['partial', 'failed'].includes(provisioning?.status as string);
  };
  const ended = async () => hasEnded(requested.id);
  await eventually(async () => (await ended()) && hasEnded(later.id), { what: 'the channels' });
  await write('retryIncidentProvisioning', [requested.id], { steps: ['invite_usergroups'] });
  await eventually(ended, { what: 'the end of the repetition' });
  await write('previewIncidentChannelName', [requested.id], { mode: 'custom', name: 'störung-日本' });
  await write('setIncidentChannelName', [requested.id], { mode: 'custom', name: 'störung-日本' });
}

/** One receiver accepts events, and the other one refuses them. Both are paused, so that there are no more. */
async function deliveries(write: Write, { client, receiver }: Pick<Surroundings, 'client' | 'receiver'>) {
  const { respond } = receiver;
  receiver.respond = ({ path, body }) =>
    path === '/refused' && body.includes('incident.created') ? behave.answer(404, {}, 'Not here') : behave.answer(204);
  const webhooks: string[] = [];
  for (const path of ['/taken', '/refused']) {
    const { webhook } = await write('createWebhook', [], { url: receiver.url(path) });
    await write('verifyWebhook', [webhook.id]);
    webhooks.push(webhook.id);
  }
  for (const title of ['First', 'Second', 'Third']) await write('createIncident', [], { title });
  const ended = async (count: number) =>
    eventually(
      async () => {
        const { deliveries: all } = (await client.get('/api/v1/settings/webhook-deliveries')).body;
        const isEnded = ({ finished_at: finished }: { finished_at: string | null }) => finished !== null;
        return all.length === count && all.every(isEnded) && (all as { id: number }[]);
      },
      { what: 'the end of the deliveries' },
    );
  const [latest] = await ended(6);
  await write('redeliverWebhook', [latest!.id]);
  await ended(7);
  for (const id of webhooks) await write('pauseWebhook', [id]);
  receiver.respond = respond;
}

/** Paused, so that nothing but writes changes them. */
async function destinations(
  {
    write,
    create,
    one,
  }: {
    write: Write;
    create: (operation: string, ids: readonly number[], body: object) => Promise<number>;
    one: <Value>(arbitrary: fc.Arbitrary<Value>) => Value;
  },
  url: string,
) {
  for (let index = 0; index < 6; index += 1) {
    const template = one(pick('{"text":"{{title}}"}', null));
    const filters = { severities: one(pick(['sev1'], [])), services: [one(name(30))] };
    const body = { name: `${one(name(60))} ${index}`, kind: 'http', url, template, filters };
    const id = await create('createDestination', [], { ...body, credential: 'k', headers: { 'X-Text': 'a "b"' } });
    await write('pauseDestination', [id]);
    if (index > 0) continue;
    await write('testDestination', [id]);
    await write('resumeDestination', [id]);
    await write('archiveDestination', [id]);
  }
}

async function onCall(write: Write, receiver: Receiver, teams: readonly number[]) {
  const { respond } = receiver;
  receiver.respond = () => behave.answer(200, {}, 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n');
  for (const team of teams.slice(0, 3)) {
    await write('setTeamOnCall', [team], { kind: 'icalendar', url: receiver.url('/on-call') });
  }
  await write('removeTeamOnCall', [teams[0]!]);
  receiver.respond = respond;
}

/** Paused, so that nothing but writes changes them; the receiver is none. */
async function trackers(
  {
    write,
    create,
    one,
  }: {
    write: Write;
    create: (operation: string, ids: readonly number[], body: object) => Promise<number>;
    one: <Value>(arbitrary: fc.Arbitrary<Value>) => Value;
  },
  { url, incident }: { url: string; incident: number },
) {
  const followUp = await create('createFollowUp', [incident], { title: one(name(60)) });
  for (let index = 0; index < 6; index += 1) {
    const filters = { severities: one(pick(['sev1'], [])), services: [one(name(30))] };
    const body = { name: `${one(name(60))} ${index}`, kind: 'github', url: new URL(url).origin, project: 'acme/shop' };
    const id = await create('createTracker', [], { ...body, credential: 'k', auto_filters: one(pick(filters, null)) });
    if (index === 0) await write('createFollowUpTicket', [followUp], { tracker_id: id });
    await write('pauseTracker', [id]);
    if (index === 0) await write('deleteFollowUpTicket', [followUp]);
    // The last one: a create forgets those that are archived, and have no ticket.
    if (index < 5) continue;
    await write('testTracker', [id]);
    await write('resumeTracker', [id]);
    await write('archiveTracker', [id]);
  }
}

async function alerts(write: Write, one: <Value>(arbitrary: fc.Arbitrary<Value>) => Value) {
  const alert = {
    labels: { alertname: one(name()), service: 's1', [one(name(30))]: one(long) },
    fingerprint: one(name()),
  };
  const [startsAt, endsAt] = ['2024-03-02T18:20:00Z', '2024-03-02T18:30:00Z'];
  for (const status of ['firing', 'firing', 'resolved']) {
    const body = {
      groupKey: one(pick('g')),
      alerts: [{ ...alert, status, startsAt, endsAt, annotations: { summary: one(long) } }],
    };
    await write('sendAlertmanagerAlerts', [], body);
  }
  const payload = { summary: one(name()), source: one(anyText), custom_details: { text: one(long) } };
  for (const event_action of ['trigger', 'acknowledge', 'resolve'])
    await write('sendPagerDutyAlert', [], { event_action, dedup_key: 'k', payload });
  const event = {
    issue_id: '7',
    title: one(name()),
    message: one(long),
    tags: [
      ['service', 's1'],
      [one(name(30)), one(anyText)],
    ],
  };
  await write('sendSentryAlert', [], { action: 'triggered', data: { event, triggered_rule: one(anyText) } });
  const essentials = { alertId: 'a', alertRule: one(name()), monitorCondition: 'Fired', description: one(long) };
  await write('sendAzureAlert', [], { schemaId: 'azureMonitorCommonAlertSchema', data: { essentials } });
  await write('enqueuePagerDutyEvent', [], { event_action: 'trigger', dedup_key: 'l', payload });
  const { heartbeat } = await write('sendHeartbeat', [], undefined, { name: one(name()), within: '600' });
  await write('deleteHeartbeat', [heartbeat.id]);
  for (const status of ['firing', 'resolved'])
    await write('sendAlert', [], { id: 'disk', status, title: one(name()), labels: { [one(name(30))]: one(name()) } });
}

const imported = (one: <Value>(arbitrary: fc.Arbitrary<Value>) => Value, index: number) => {
  const author = { name: `Imported ${one(name(30))}`, email: `someone${index}@old.example` };
  const started_at = '2024-03-02T18:20:00.5+02:00';
  return {
    ...{ external: { source: 'dispatch', id: String(index), url: 'https://dispatch.example/1' }, title: one(name()) },
    ...{ status: 'closed', severity: 'sev2', created_at: '2024-03-02T18:04:00Z', author, team: 't1' },
    people: { manager: author, responders: [author, { name: `Ben ${one(name(30))}` }], roles: { old: [author] } },
    timeline: [{ external_id: 'e', type: 'resolution', body: one(name()), started_at, author, source: 'slack' }],
    changelog: [
      { changed_at: started_at, actor: author, changes: [{ field: 'title', from: one(anyText), to: one(anyText) }] },
    ],
    follow_ups: [
      { external_id: 'f', title: one(name()), description: one(long), created_at: started_at, author, owner: author },
    ],
    postmortem: {
      ...{ ...one(postmortemOf), state: 'published', created_at: started_at, author },
      ...{ updated_at: started_at, updated_by: author },
    },
  };
};
