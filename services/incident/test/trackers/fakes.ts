/**
 * What GitHub, Jira Cloud, GitLab and Linear answer, as their public documentation says: docs.github.com/en/rest,
 * developer.atlassian.com/cloud/jira/platform/rest/v3, docs.gitlab.com/api and linear.app/developers. Nothing here was
 * compared with the trackers themselves.
 */
import { createHmac } from 'node:crypto';
import { behave, type ReceivedRequest } from '@tocsin/testing';

interface FakeIssue {
  number: number;
  title: string;
  body: string;
  labels: string[];
  id: string;
  isDone: boolean;
}

type Behaviour = ReturnType<typeof behave.answer>;

interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
  headers: ReceivedRequest['headers'];
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A tracker with the issues that were made in it. */
export interface FakeTracker {
  issues: FakeIssue[];
  /** Changes of state that were asked for over the API. */
  writes: string[];
  /** What happens to the next requests instead: an answer, or `lost` if it is done but the answer does not arrive; undefined: nothing else. */
  faults: (Answer | 'lost' | undefined)[];
  respond: (request: ReceivedRequest) => Behaviour;
  /** Somebody changes the state there. */
  change: (issue: FakeIssue, isDone: boolean) => void;
}

export interface FakeKind {
  settings: (url: string) => Record<string, string>;
  keyOf: (issue: FakeIssue) => string;
  handle: (fake: FakeTracker, asked: Asked) => Answer;
  /** The body and headers of a webhook about an issue. */
  hook: (issue: FakeIssue, secret: string) => { body: string; headers: Record<string, string> };
}

export function fakeTracker(kind: FakeKind): FakeTracker {
  const fake: FakeTracker = {
    ...{ issues: [], writes: [], faults: [] },
    change: (issue, isDone) => void (issue.isDone = isDone),
    respond: (request) => {
      const url = new URL(request.path, 'https://tracker.example');
      const fault = fake.faults.shift();
      if (typeof fault === 'object')
        return behave.answer(fault.status, fault.headers ?? {}, JSON.stringify(fault.body));
      const body: unknown = request.body === '' ? undefined : JSON.parse(request.body);
      const asked = {
        method: request.method,
        path: url.pathname,
        query: url.searchParams,
        body,
        headers: request.headers,
      };
      const { status, headers = {}, body: answer } = kind.handle(fake, asked);
      if (fault === 'lost') return behave.close();
      return behave.answer(status, headers, answer === undefined ? '' : JSON.stringify(answer));
    },
  };
  return fake;
}

const added = (fake: FakeTracker, issue: Partial<FakeIssue>): FakeIssue => {
  const number = fake.issues.length + 1;
  const whole = { number, title: '', body: '', labels: [], id: '', isDone: false, ...issue };
  fake.issues.push(whole);
  return whole;
};
const written = (fake: FakeTracker, issue: FakeIssue, isDone: boolean) => {
  fake.writes.push(`${issue.number} ${isDone ? 'done' : 'open'}`);
  issue.isDone = isDone;
};
const NOT_FOUND = { status: 404, body: { message: 'Not Found' } };
const REFUSED = { status: 401, body: { message: 'Bad credentials' } };
const sha256 = (body: string, secret: string) => createHmac('sha256', secret).update(body).digest('hex');

const github: FakeKind = {
  settings: (url) => ({ kind: 'github', url, project: 'acme/shop', credential: 'github_pat_1' }),
  keyOf: ({ number }) => `acme/shop#${number}`,
  handle: (fake, { method, path, query, body, headers }) => {
    if (headers.authorization !== 'Bearer github_pat_1') return REFUSED;
    if (headers['x-github-api-version'] !== '2022-11-28' || headers['user-agent'] === undefined) return { status: 403 };
    const view = ({ number, body: text, isDone }: FakeIssue) => ({
      ...{
        number,
        body: text,
        state: isDone ? 'closed' : 'open',
        html_url: `https://github.example/acme/shop/issues/${number}`,
      },
    });
    if (path === '/repos/acme/shop/issues' && method === 'POST')
      return { status: 201, body: view(added(fake, { title: body.title, body: body.body })) };
    if (path === '/repos/acme/shop/issues') {
      const size = Number(query.get('per_page'));
      const from = (Number(query.get('page') ?? 1) - 1) * size;
      return {
        status: 200,
        body: fake.issues
          .toReversed()
          .map(view)
          .slice(from, from + size),
      };
    }
    const issue = fake.issues.find(({ number }) => path === `/repos/acme/shop/issues/${number}`);
    if (issue === undefined) return NOT_FOUND;
    if (method === 'PATCH') written(fake, issue, body.state === 'closed');
    return { status: 200, body: view(issue) };
  },
  hook: ({ number }, secret) => {
    const body = JSON.stringify({ action: 'closed', issue: { number }, repository: { full_name: 'acme/shop' } });
    return { body, headers: { 'x-hub-signature-256': `sha256=${sha256(body, secret)}` } };
  },
};

const jira: FakeKind = {
  settings: (url) => ({ kind: 'jira', url, project: 'OPS', credential: 'ana@acme.example:token' }),
  keyOf: ({ number }) => `OPS-${number}`,
  handle: (fake, { method, path, query, body, headers }) => {
    if (headers.authorization !== `Basic ${btoa('ana@acme.example:token')}`) return REFUSED;
    const view = ({ number }: FakeIssue) => ({
      ...{
        id: String(10_000 + number),
        key: `OPS-${number}`,
        self: `https://acme.atlassian.example/rest/api/3/issue/${number}`,
      },
    });
    if (path === '/rest/api/3/project/OPS') return { status: 200, body: { key: 'OPS' } };
    if (path === '/rest/api/3/issue') {
      const { project, issuetype, summary, description, labels } = body.fields;
      const isValid = project.key === 'OPS' && issuetype.name === 'Task' && description.type === 'doc';
      if (!isValid) return { status: 400, body: { errors: {} } };
      return { status: 201, body: view(added(fake, { title: summary, body: JSON.stringify(description), labels })) };
    }
    if (path === '/rest/api/3/search/jql') {
      const [, label = ''] = /^labels = "([\w-]+)"$/.exec(query.get('jql') ?? '') ?? [];
      return { status: 200, body: { issues: fake.issues.filter(({ labels }) => labels.includes(label)).map(view) } };
    }
    const [, number, rest] = /^\/rest\/api\/3\/issue\/OPS-(\d+)(\/transitions)?$/.exec(path) ?? [];
    const issue = fake.issues[Number(number) - 1];
    if (issue === undefined) return NOT_FOUND;
    if (rest === undefined) {
      const statusCategory = { key: issue.isDone ? 'done' : 'new' };
      return { status: 200, body: { ...view(issue), fields: { status: { name: 'x', statusCategory } } } };
    }
    if (method === 'POST') {
      written(fake, issue, body.transition.id === '31');
      return { status: 204 };
    }
    const transition = (id: string, key: string, required: boolean) => ({
      ...{ id, isAvailable: true, to: { statusCategory: { key } } },
      fields: { resolution: { required, hasDefaultValue: false } },
    });
    const possible = issue.isDone
      ? [transition('11', 'indeterminate', false), transition('12', 'new', false)]
      : [transition('30', 'done', true), transition('31', 'done', false)];
    return { status: 200, body: { transitions: possible } };
  },
  hook: ({ number }, secret) => {
    const body = JSON.stringify({ webhookEvent: 'jira:issue_updated', issue: { key: `OPS-${number}` } });
    return { body, headers: { 'x-hub-signature': `sha256=${sha256(body, secret)}` } };
  },
};

const gitlab: FakeKind = {
  settings: (url) => ({ kind: 'gitlab', url, project: 'acme/shop', credential: 'glpat-1' }),
  keyOf: ({ number }) => `acme/shop#${number}`,
  handle: (fake, { method, path, query, body, headers }) => {
    if (headers['private-token'] !== 'glpat-1') return REFUSED;
    const view = ({ number, isDone }: FakeIssue) => ({
      ...{
        iid: number,
        state: isDone ? 'closed' : 'opened',
        web_url: `https://gitlab.example/acme/shop/-/issues/${number}`,
      },
    });
    const issues = '/api/v4/projects/acme%2Fshop/issues';
    if (path === issues && method === 'POST')
      return {
        status: 201,
        body: view(added(fake, { title: body.title, body: body.description, labels: body.labels.split(',') })),
      };
    if (path === issues) {
      const label = query.get('labels');
      const labelled = fake.issues.filter(({ labels }) => label === null || labels.includes(label));
      return { status: 200, body: labelled.map(view) };
    }
    const issue = fake.issues.find(({ number }) => path === `${issues}/${number}`);
    if (issue === undefined) return NOT_FOUND;
    if (method === 'PUT') written(fake, issue, body.state_event === 'close');
    return { status: 200, body: view(issue) };
  },
  hook: ({ number: iid }, secret) => ({
    body: JSON.stringify({
      object_kind: 'issue',
      object_attributes: { iid },
      project: { path_with_namespace: 'acme/shop' },
    }),
    headers: { 'x-gitlab-token': secret },
  }),
};

const linear: FakeKind = {
  settings: (url) => ({ kind: 'linear', url, project: 'OPS', credential: 'lin_api_1' }),
  keyOf: ({ number }) => `OPS-${number}`,
  handle: (fake, { body, headers }) => {
    if (headers.authorization !== 'lin_api_1')
      return { status: 400, body: { errors: [{ extensions: { code: 'AUTHENTICATION_ERROR' } }] } };
    const { query, variables } = body as { query: string; variables: Record<string, Asked['body']> };
    const view = ({ number }: FakeIssue) => ({
      identifier: `OPS-${number}`,
      url: `https://linear.example/issue/OPS-${number}`,
    });
    const data = (answer: unknown) => ({ status: 200, body: { data: answer } });
    if (query.includes('teams(')) return data({ teams: { nodes: [{ id: 'team-1' }] } });
    if (query.includes('issueCreate')) {
      const { id, title, description } = variables['input'];
      if (fake.issues.some((each) => each.id === id)) return { status: 200, body: { errors: [{ extensions: {} }] } };
      return data({ issueCreate: { success: true, issue: view(added(fake, { id, title, body: description })) } });
    }
    if (query.includes('issues('))
      return data({ issues: { nodes: fake.issues.filter(({ id }) => id === variables['id']).map(view) } });
    const issue = fake.issues.find((each) => view(each).identifier === variables['id']);
    if (issue === undefined)
      return { status: 200, body: { data: null, errors: [{ extensions: { code: 'INPUT_ERROR' } }] } };
    if (query.includes('issueUpdate')) {
      written(fake, issue, variables['input'].stateId !== 'todo');
      return data({ issueUpdate: { success: true } });
    }
    const nodes = [
      ...[
        { id: 'todo', type: 'unstarted' },
        { id: 'done', type: 'completed' },
      ],
      { id: 'canceled', type: 'canceled' },
    ];
    const state = { type: issue.isDone ? 'completed' : 'unstarted' };
    return data({ issue: { state, team: { states: { nodes } } } });
  },
  hook: ({ number }, secret) => {
    const body = JSON.stringify({ action: 'update', type: 'Issue', data: { identifier: `OPS-${number}` } });
    return { body, headers: { 'linear-signature': sha256(body, secret) } };
  },
};

export const FAKES: Readonly<Record<string, FakeKind>> = { github, jira, gitlab, linear };
