import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { ANYTHING } from '../tracker-api.ts';
import { ticketFailure } from '../tracker-failure.ts';
import type { TrackerKind } from './kind.ts';

// https://docs.gitlab.com/api/issues and https://docs.gitlab.com/user/project/integrations/webhooks

const issue = z.object({ iid: z.int().min(1), web_url: z.url({ protocol: /^https$/ }) });
const hook = z.object({
  object_attributes: z.object({ iid: z.int().min(1) }),
  project: z.object({ path_with_namespace: z.string().max(255) }),
});

const label = (marker: string) => `tocsin-${marker}`;
const issuesOf = (project: string) => `/api/v4/projects/${encodeURIComponent(project)}/issues`;
const ticketOf = (project: string, { iid, web_url: url }: z.output<typeof issue>) => ({
  key: `${project}#${iid}`,
  url,
});

/** The path of an issue, of a key such as `acme/shop#12`. */
function pathOf(key: string): string {
  const [, project, iid] = /^(.+)#(\d+)$/.exec(key) ?? [];
  if (project === undefined) throw ticketFailure('gone');
  return `${issuesOf(project)}/${iid}`;
}

/** GitLab would carry out lines such as `/close`. */
const withoutActions = (text: string) =>
  text
    .split('\n')
    .map((line) => (line.trimStart().startsWith('/') ? line.replace('/', '\\/') : line))
    .join('\n');

const digest = (text: string) => createHash('sha256').update(text).digest();

export const GITLAB: TrackerKind = {
  url: 'https://gitlab.com',
  project: { pattern: /^[\w.-]+(?:\/[\w.-]+){1,20}$/, is: 'the path of a project, as `group/name`' },
  headers: (credential) => ({ 'private-token': credential }),

  check: async (api, { project }) =>
    void (await api({ method: 'GET', path: `${issuesOf(project)}?per_page=1`, answer: z.array(ANYTHING) })),

  create: async (api, { project }, { title, paragraphs, marker }) => {
    const description = withoutActions(paragraphs.join('\n\n'));
    const body = { title, description, labels: label(marker) };
    return ticketOf(project, await api({ method: 'POST', path: issuesOf(project), body, answer: issue }));
  },

  find: async (api, { project }, { marker }) => {
    const path = `${issuesOf(project)}?labels=${label(marker)}&per_page=1`;
    const [existing] = await api({ method: 'GET', path, answer: z.array(issue) });
    return existing && ticketOf(project, existing);
  },

  read: async (api, key) => {
    const answer = z.object({ state: z.enum(['opened', 'closed']) });
    const { state } = await api({ method: 'GET', path: pathOf(key), answer, isOfTicket: true });
    return state === 'closed' ? 'done' : 'open';
  },

  write: async (api, key, status) => {
    const body = { state_event: status === 'open' ? 'reopen' : 'close' };
    await api({ method: 'PUT', path: pathOf(key), body, answer: ANYTHING, isOfTicket: true });
  },

  // It sends the secret itself. Digests have the same length.
  isSigned: ({ headers, secret }) => timingSafeEqual(digest(headers['x-gitlab-token'] ?? ''), digest(secret)),

  keyOf: (payload) => {
    const { data } = hook.safeParse(payload);
    return data && `${data.project.path_with_namespace}#${data.object_attributes.iid}`;
  },
};
