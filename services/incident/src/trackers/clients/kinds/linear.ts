import { z } from 'zod';
import { isHmac, type TrackerApi } from '../tracker-api.ts';
import { ticketFailure, TrackerFailure } from '../tracker-failure.ts';
import type { TrackerKind } from './kind.ts';

// https://linear.app/developers/graphql and https://linear.app/developers/webhooks

const issue = z.object({ identifier: z.string().max(255), url: z.url({ protocol: /^https$/ }) });
const errors = z.array(z.object({ extensions: z.object({ code: z.string().optional() }).optional() }));
const hook = z.object({ data: z.object({ identifier: z.string().max(255) }) });
const stateType = z.object({ type: z.string() });
const ticketOf = ({ identifier: key, url }: z.output<typeof issue>) => ({ key, url });

const KEY = /^[A-Z0-9]{1,20}-\d{1,15}$/;
const keyOf = (key: string) => {
  if (!KEY.test(key)) throw ticketFailure('gone');
  return key;
};
const isDone = ({ type }: z.output<typeof stateType>) => ['completed', 'canceled', 'duplicate'].includes(type);

/** Its errors are answers with the status 200 or 400, and have a code. */
async function ask<Schema extends z.ZodType>(
  api: TrackerApi,
  { query, variables, data }: { query: string; variables: object; data: Schema },
  isOfTicket = false,
): Promise<z.output<Schema>> {
  const answer = z.object({ data: z.unknown(), errors: errors.optional() });
  const body = { query, variables };
  const got = await api({ method: 'POST', path: '/graphql', body, answer, isOfTicket, refusal: 400 });
  const code = got.errors?.[0]?.extensions?.code;
  if (code === 'RATELIMITED') throw new TrackerFailure('rate_limited', { isOfTracker: true });
  if (code === 'AUTHENTICATION_ERROR' || code === 'FORBIDDEN')
    throw new TrackerFailure('denied', { isOfTracker: true });
  if (got.errors !== undefined) throw ticketFailure(isOfTicket ? 'gone' : 'status');
  const parsed = data.safeParse(got.data);
  if (!parsed.success) throw new TrackerFailure('unexpected_answer', { isOfTracker: true, isUncertain: true });
  return parsed.data;
}

const TEAM = 'query($key: String!) { teams(filter: { key: { eq: $key } }) { nodes { id } } }';

async function teamOf(api: TrackerApi, key: string): Promise<string> {
  const data = z.object({ teams: z.object({ nodes: z.array(z.object({ id: z.string() })) }) });
  const [team] = (await ask(api, { query: TEAM, variables: { key }, data })).teams.nodes;
  if (team === undefined) throw new TrackerFailure('denied', { isOfTracker: true });
  return team.id;
}

export const LINEAR: TrackerKind = {
  url: 'https://api.linear.app',
  project: { pattern: /^[A-Z0-9]{1,20}$/, is: 'the key of a team, such as `OPS`' },
  headers: (credential) => ({ authorization: credential }),

  check: async (api, { project }) => void (await teamOf(api, project)),

  create: async (api, { project }, { title, paragraphs, marker }) => {
    const query = 'mutation($input: IssueCreateInput!) { issueCreate(input: $input) { issue { identifier url } } }';
    const input = { id: marker, teamId: await teamOf(api, project), title, description: paragraphs.join('\n\n') };
    const data = z.object({ issueCreate: z.object({ issue }) });
    return ticketOf((await ask(api, { query, variables: { input }, data })).issueCreate.issue);
  },

  find: async (api, _place, { marker }) => {
    const query = 'query($id: ID!) { issues(filter: { id: { eq: $id } }) { nodes { identifier url } } }';
    const data = z.object({ issues: z.object({ nodes: z.array(issue) }) });
    const [existing] = (await ask(api, { query, variables: { id: marker }, data })).issues.nodes;
    return existing && ticketOf(existing);
  },

  read: async (api, key) => {
    const query = 'query($id: String!) { issue(id: $id) { state { type } } }';
    const data = z.object({ issue: z.object({ state: stateType }) });
    const { issue: read } = await ask(api, { query, variables: { id: keyOf(key) }, data }, true);
    return isDone(read.state) ? 'done' : 'open';
  },

  write: async (api, key, status) => {
    const states = 'query($id: String!) { issue(id: $id) { team { states { nodes { id type } } } } }';
    const state = stateType.extend({ id: z.string() });
    const data = z.object({ issue: z.object({ team: z.object({ states: z.object({ nodes: z.array(state) }) }) }) });
    const variables = { id: keyOf(key) };
    const { nodes } = (await ask(api, { query: states, variables, data }, true)).issue.team.states;
    const wanted = { open: ['unstarted', 'backlog', 'started'], done: ['completed'], dropped: ['canceled'] }[status];
    const to = wanted.flatMap((type) => nodes.filter((each) => each.type === type))[0];
    if (to === undefined) throw ticketFailure('no_transition');
    const query =
      'mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }';
    const done = z.object({ issueUpdate: z.object({ success: z.literal(true) }) });
    await ask(api, { query, variables: { ...variables, input: { stateId: to.id } }, data: done }, true);
  },

  isSigned: ({ headers, ...signed }) => isHmac(headers['linear-signature'], signed),

  keyOf: (payload) => hook.safeParse(payload).data?.data.identifier,
};
