import { SCOPES } from '@tocsin/schemas';
import type { Attack, AttackContext } from '../attack.ts';
import { beginFlood, LEGAL_RATE } from '../flood.ts';
import { create, createIncident, createTextFields, largestValues, LARGEST } from '../hostile-data.ts';
import type { Workspace } from '../../systems/workspaces.ts';

const SECRET = 'confidential';
/** Its external ID, which nobody else can use. */
const TAKEN = 'of-a-restricted-incident';
/** Answers to each of two questions, whose times are compared. */
const TIMED = 40;
/** Milliseconds by which the middle times of both may differ. */
const SAME_TIME = 5;

/** A member of a workspace looks for its restricted incidents. */
export const outsiderAttacks: readonly Attack[] = [
  {
    name: 'outsider',
    what: 'a member asks for restricted incidents by all their IDs, in lists, searches, the feed, writes; and how long that takes',
    expects: [200, 400, 403, 404, 409],
    run: async (context, workspace) => {
      const outsider = await memberOf(context, workspace);
      const secret = await createSecret(context, workspace);
      const probes = probesFor(secret);
      const rate = { perSecond: context.choose(LEGAL_RATE, probes.length) };
      let refused = 0;
      await beginFlood(context, { clients: 10, ...rate }, async (number) => {
        const { method = 'GET', path, body, isWrite = false } = probes[number % probes.length] as Probe;
        const { outcome, text } = await context.send(outsider, { method, path, body, kept: 1_048_576 });
        if (outcome === 404) refused += 1;
        const isTold = text.includes(SECRET) || text.includes('existing_id');
        context.check(!isTold, `${method} ${path} says what is restricted`);
        if (isWrite) context.check(outcome !== 200 && outcome !== 201, `${method} ${path} is ${outcome}`);
      });
      context.check(refused > 0, 'no request was refused because the incident is restricted');
      await compareTimes(context, outsider, secret.id);
    },
  },
];

async function memberOf(context: AttackContext, workspace: Workspace): Promise<Workspace> {
  const user = { email: 'outsider@attack.example', name: 'Outsider', role: 'member', seat: 'responder' };
  const { id } = await create(context, workspace, { path: 'settings/users', body: user });
  const key = { name: 'outsider', user_id: id, scopes: SCOPES };
  const { outcome, text } = await context.send(workspace, {
    method: 'POST',
    path: '/api/v1/settings/api-keys',
    body: key,
  });
  if (outcome !== 201) throw new Error(`cannot prepare: the key is ${outcome} ${text}`);
  return { ...workspace, token: (JSON.parse(text) as { token: string }).token };
}

/** As large as an incident can be by a few requests. */
async function createSecret(context: AttackContext, workspace: Workspace) {
  const fields = await createTextFields(context, workspace, LARGEST.fields);
  const { id, human_id: reference } = await createIncident<{ id: number; human_id: string }>(context, workspace, {
    ...{ title: SECRET, service: SECRET, regions: [SECRET], external_id: TAKEN, restricted: true },
    ...{ impact_summary: SECRET.repeat(100), custom_field_values: largestValues(fields) },
  });
  const at = (path: string, body: object) => create(context, workspace, { path: `incidents/${id}/${path}`, body });
  const event = await at('timeline', { body: SECRET.repeat(1_000) });
  const followUp = await at('follow-ups', { title: SECRET });
  return { id, reference, event: event.id, followUp: followUp.id };
}

interface Probe {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  /** It must be refused. */
  isWrite?: boolean;
}

function probesFor({ id, reference, event, followUp }: Awaited<ReturnType<typeof createSecret>>): Probe[] {
  const incident = `/api/v1/incidents/${id}`;
  const reads = [
    ...[
      '',
      '?at_revision=1',
      '/changelog',
      '/timeline',
      '/timeline/deleted',
      '/relations',
      '/similar',
      '/follow-ups',
    ].map((path) => incident + path),
    ...[
      '/postmortem',
      '/postmortem/revisions',
      '/postmortem/revisions/1',
      '/custom-fields',
      '/provisioning',
      '/accesses',
    ].map((path) => incident + path),
    ...[`/api/v1/incident-references/${reference}`, `/api/v1/timeline/${event}`, `/api/v1/timeline/${event}/revisions`],
    `/api/v1/follow-ups/${followUp}`,
    ...['q', 'service', 'region'].map((name) => `/api/v1/incidents?${name}=${SECRET}&include_counts=true`),
    `/api/v1/incidents?external_id=${TAKEN}&include_counts=true`,
    ...[`/api/v1/incidents/statistics?q=${SECRET}`, '/api/v1/incidents?limit=100', '/api/v1/exports/incidents'],
    `/api/v1/incidents/similar?title=${SECRET}&service=${SECRET}`,
    ...[`/api/v1/follow-ups?q=${SECRET}`, `/api/v1/events?limit=100`, `/api/v1/events?resource=incident:${id}`],
    ...['/api/v1/alerts', '/api/v1/services', '/api/v1/idempotency-keys/x'],
  ].map((path): Probe => ({ path }));
  const write = (method: NonNullable<Probe['method']>, path: string, body = {}): Probe => ({
    method,
    path,
    body,
    isWrite: true,
  });
  return [
    ...reads,
    ...['resolve', 'close', 'reopen', 'archive', 'restore'].map((verb) => write('POST', `${incident}/${verb}`)),
    write('POST', `${incident}/timeline`, { body: 'x' }),
    write('POST', `${incident}/follow-ups`, { title: 'x' }),
    write('DELETE', `/api/v1/timeline/${event}`),
    write('DELETE', `/api/v1/follow-ups/${followUp}`),
    write('POST', '/api/v1/incidents', { title: 'x', external_id: TAKEN }),
    { method: 'POST', path: '/api/v1/incidents/bulk', body: { items: [{ id, verb: 'resolve' }] } },
  ];
}

/** A large incident that is there must take no longer to be refused than one that is not. */
async function compareTimes(context: AttackContext, outsider: Workspace, id: number): Promise<void> {
  const times: [hidden: number[], unknown: number[]] = [[], []];
  for (let number = 0; number < 2 * TIMED && !context.isOver; number += 1) {
    const isHidden = number % 2 === 0;
    const { ms } = await context.send(outsider, { path: `/api/v1/incidents/${isHidden ? id : 987_654_321}` });
    times[isHidden ? 0 : 1].push(ms);
    await context.pause(50);
  }
  const [hidden = 0, unknown = 0] = times.map(
    (each) => each.toSorted((a, b) => a - b)[Math.floor(each.length / 2)] ?? 0,
  );
  const difference = Math.abs(hidden - unknown);
  context.check(difference < SAME_TIME, `the times differ by ${difference.toFixed(1)} ms`, { timed: true });
}
