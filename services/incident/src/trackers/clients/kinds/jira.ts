import { z } from 'zod';
import type { FollowUpStatus } from '../../../follow-ups/domain/follow-up.ts';
import { ANYTHING, isHmac, type TrackerApi } from '../tracker-api.ts';
import { ticketFailure } from '../tracker-failure.ts';
import type { TrackerKind } from './kind.ts';

// https://developer.atlassian.com/cloud/jira/platform/rest/v3 and https://developer.atlassian.com/cloud/jira/platform/webhooks

const key = z.string().regex(/^[A-Z][A-Z0-9_]{0,254}-\d{1,15}$/);
const issue = z.object({ key, self: z.url({ protocol: /^https$/ }) });
const category = z.object({ key: z.string() });
const transitions = z.object({
  transitions: z.array(
    z.object({
      id: z.string().max(64),
      to: z.object({ statusCategory: category }),
      isAvailable: z.boolean().optional(),
      fields: z
        .record(z.string(), z.object({ required: z.boolean(), hasDefaultValue: z.boolean().optional() }))
        .optional(),
    }),
  ),
});
const hook = z.object({ issue: z.object({ key }) });

/** Labels have no spaces. */
const label = (marker: string) => `tocsin-${marker}`;
const pathOf = (issueKey: string) => `/rest/api/3/issue/${encodeURIComponent(issueKey)}`;
const pageOf = ({ key: issueKey, self }: z.output<typeof issue>) => ({
  key: issueKey,
  url: `${new URL(self).origin}/browse/${issueKey}`,
});

/** The Atlassian Document Format, whose texts are not empty. */
const documentOf = (paragraphs: readonly string[]) => ({
  ...{ type: 'doc', version: 1 },
  content: paragraphs
    .flatMap((each) => each.split('\n'))
    .filter((text) => text.trim() !== '')
    .map((text) => ({ type: 'paragraph', content: [{ type: 'text', text }] })),
});

export const JIRA: TrackerKind = {
  url: '',
  project: { pattern: /^[A-Z][A-Z0-9_]{0,254}$/, is: 'the key of a project, such as `OPS`' },
  issueType: 'Task',
  headers: (credential) => ({ authorization: `Basic ${Buffer.from(credential).toString('base64')}` }),

  check: async (api, { project }) =>
    void (await api({ method: 'GET', path: `/rest/api/3/project/${project}`, answer: z.object({ key: z.string() }) })),

  create: async (api, { project, issueType }, { title, paragraphs, marker }) => {
    const body = {
      fields: {
        ...{ project: { key: project }, issuetype: { name: issueType }, summary: title },
        ...{ description: documentOf(paragraphs), labels: [label(marker)] },
      },
    };
    return pageOf(await api({ method: 'POST', path: '/rest/api/3/issue', body, answer: issue }));
  },

  find: async (api, _place, { marker }) => {
    const query = new URLSearchParams({ jql: `labels = "${label(marker)}"`, fields: 'labels', maxResults: '1' });
    const answer = z.object({ issues: z.array(issue) });
    const { issues } = await api({ method: 'GET', path: `/rest/api/3/search/jql?${query.toString()}`, answer });
    return issues[0] && pageOf(issues[0]);
  },

  read: async (api, issueKey) => {
    const answer = z.object({ fields: z.object({ status: z.object({ statusCategory: category }) }) });
    const path = `${pathOf(issueKey)}?fields=status`;
    const { fields } = await api({ method: 'GET', path, answer, isOfTicket: true });
    return fields.status.statusCategory.key === 'done' ? 'done' : 'open';
  },

  write: async (api, issueKey, status) => {
    const path = `${pathOf(issueKey)}/transitions`;
    const body = { transition: { id: await transitionTo(api, path, status) } };
    await api({ method: 'POST', path, body, answer: ANYTHING, isOfTicket: true });
  },

  // What WebSub says, as Jira does, names the method of the signature first.
  isSigned: ({ headers, ...signed }) => isHmac(headers['x-hub-signature'], { ...signed, prefix: 'sha256=' }),

  keyOf: (payload) => hook.safeParse(payload).data?.issue.key,
};

/** The transition to a status of the wanted category that asks for nothing; of those back, one to the beginning. */
async function transitionTo(api: TrackerApi, path: string, status: FollowUpStatus): Promise<string> {
  const request = { method: 'GET', path: `${path}?expand=transitions.fields`, answer: transitions } as const;
  const possible = (await api({ ...request, isOfTicket: true })).transitions.filter(
    ({ isAvailable = true, fields = {} }) =>
      isAvailable &&
      Object.values(fields).every(({ required, hasDefaultValue }) => !required || hasDefaultValue === true),
  );
  const to = (wanted: (name: string) => boolean) => possible.find((each) => wanted(each.to.statusCategory.key));
  const transition =
    status === 'open' ? (to((name) => name === 'new') ?? to((name) => name !== 'done')) : to((name) => name === 'done');
  if (transition === undefined) throw ticketFailure('no_transition');
  return transition.id;
}
