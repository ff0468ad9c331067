import { z } from 'zod';
import { ANYTHING, isHmac } from '../tracker-api.ts';
import { ticketFailure } from '../tracker-failure.ts';
import type { TrackerKind } from './kind.ts';

// https://docs.github.com/en/rest/issues/issues and https://docs.github.com/en/webhooks

const issue = z.object({
  number: z.int().min(1),
  html_url: z.url({ protocol: /^https$/ }),
  body: z.string().nullish(),
});
const hook = z.object({
  issue: z.object({ number: z.int().min(1) }),
  repository: z.object({ full_name: z.string().max(255) }),
});

/** Issues on a page, and pages, among which the one of an earlier attempt is looked for. */
const PAGE = 20;
const MOST_PAGES = 25;
/** Milliseconds by which the clock of GitHub may be behind. */
const CLOCKS_DIFFER = 300_000;

const comment = (marker: string) => `<!-- tocsin:${marker} -->`;
const keyOf = (project: string, { number }: { number: number }) => `${project}#${number}`;

/** The path of an issue, of a key such as `acme/shop#12`. */
function pathOf(key: string): string {
  const [, project, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(key) ?? [];
  if (project === undefined) throw ticketFailure('gone');
  return `/repos/${project}/issues/${number}`;
}

export const GITHUB: TrackerKind = {
  url: 'https://api.github.com',
  project: { pattern: /^(?!\.{1,2}\/)[\w.-]{1,100}\/(?!\.{1,2}$)[\w.-]{1,100}$/, is: 'a repository, as `owner/name`' },
  headers: (credential) => ({
    authorization: `Bearer ${credential}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  }),

  check: async (api, { project }) =>
    void (await api({ method: 'GET', path: `/repos/${project}/issues?per_page=1`, answer: z.array(ANYTHING) })),

  create: async (api, { project }, { title, paragraphs, marker }) => {
    const body = { title, body: [...paragraphs, comment(marker)].join('\n\n') };
    const created = await api({ method: 'POST', path: `/repos/${project}/issues`, body, answer: issue });
    return { key: keyOf(project, created), url: created.html_url };
  },

  find: async (api, { project }, { marker, since }) => {
    const from = new Date(Date.parse(since) - CLOCKS_DIFFER).toISOString();
    const query = `state=all&sort=created&direction=desc&per_page=${PAGE}&since=${from}`;
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const path = `/repos/${project}/issues?${query}&page=${page}`;
      const issues = await api({ method: 'GET', path, answer: z.array(issue) });
      const existing = issues.find(({ body }) => body?.includes(comment(marker)) === true);
      if (existing !== undefined) return { key: keyOf(project, existing), url: existing.html_url };
      if (issues.length < PAGE) return undefined;
    }
    return undefined;
  },

  read: async (api, key) => {
    const answer = z.object({ state: z.enum(['open', 'closed']) });
    const { state } = await api({ method: 'GET', path: pathOf(key), answer, isOfTicket: true });
    return state === 'closed' ? 'done' : 'open';
  },

  write: async (api, key, status) => {
    const body = {
      open: { state: 'open', state_reason: 'reopened' },
      done: { state: 'closed', state_reason: 'completed' },
      dropped: { state: 'closed', state_reason: 'not_planned' },
    }[status];
    await api({ method: 'PATCH', path: pathOf(key), body, answer: ANYTHING, isOfTicket: true });
  },

  isSigned: ({ headers, ...signed }) => isHmac(headers['x-hub-signature-256'], { ...signed, prefix: 'sha256=' }),

  keyOf: (payload) => {
    const { data } = hook.safeParse(payload);
    return data && keyOf(data.repository.full_name, data.issue);
  },
};
