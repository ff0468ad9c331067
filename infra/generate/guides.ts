import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Guides } from '../../gateway/src/description.ts';
import { ROOT } from '../installation/environment.ts';
import { jsonText } from './formatted.ts';

const CONTRACT = 'docs/contract';

/** The sections of docs/contract/README.md by the tags of the API description that are texts. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  Requests: ['Requests'],
  Errors: ['Errors'],
  Authentication: ['Authentication'],
  Tenancy: ['Tenancy'],
  Idempotency: ['Idempotency'],
  Concurrency: ['Revisions'],
  'Lists and cursors': ['Lists and cursors'],
  'Large values': ['Large values'],
  Limits: ['Limits', 'Quotas'],
  Versioning: ['Versioning'],
};

/** The pages of docs/contract about the operations of each tag. */
const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  Incidents: ['incidents.md', 'incident-lists.md'],
  Timeline: ['timeline.md', 'timeline-imports.md'],
  Alerts: ['alerts.md'],
  'Custom fields': ['custom-fields.md'],
  Chat: ['chat.md'],
  Services: ['catalog.md'],
  Teams: ['catalog.md'],
  Configuration: ['configuration.md'],
  Webhooks: ['webhooks.md'],
  Destinations: ['destinations.md'],
  Trackers: ['trackers.md'],
  'Event feed': ['event-feed.md'],
  'Import and export': ['transfer.md'],
  Users: ['users.md'],
  'API keys': ['api-keys.md'],
  Sessions: ['sessions.md'],
  Deletion: ['deletion.md'],
};

/** The guides for operators that the console links to, by their tags, and the section that each one shows; all of it without. */
const SETUP: Readonly<Record<string, readonly [file: string, section?: string]>> = {
  'Sign-in providers': ['docs/guides/sign-in-providers.md'],
  'Connecting Slack': ['docs/guides/administration.md', 'Slack'],
};

/** The texts of the API description, from the documents, so that the rules are written down once. */
export const guidesFile = {
  file: 'gateway/guides.json',
  generate: async () => {
    const contract = await readDocument(`${CONTRACT}/README.md`);
    const pagesOf = async (names: readonly string[]) =>
      joined(
        await Promise.all(
          names.map(async (name) => {
            const { title, whole } = await readDocument(`${CONTRACT}/${name}`);
            return { title, text: whole };
          }),
        ),
      );
    const resources = Object.entries(RESOURCES).map(async ([name, pages]) => ({
      name,
      description: await pagesOf(pages),
    }));
    const setup = Object.entries(SETUP).map(async ([name, [file, section]]) => {
      const document = await readDocument(file);
      return { name, description: section === undefined ? document.whole : document.get(section) };
    });
    const guides: Guides = {
      guides: [
        ...Object.entries(GUIDES).map(([name, parts]) => ({
          name,
          description: joined(parts.map((title) => ({ title, text: contract.get(title) }))),
        })),
        ...(await Promise.all(setup)),
      ],
      resources: await Promise.all(resources),
    };
    return jsonText(guides);
  },
};

/** Texts below each other; the first one has its title elsewhere. */
const joined = (texts: readonly { title: string; text: string }[]) =>
  texts.map(({ title, text }, index) => (index === 0 ? '' : `## ${title}\n\n`) + text).join('\n\n');

interface Document {
  title: string;
  /** The text below the title. */
  whole: string;
  /** The text below a heading of the second level. */
  get: (heading: string) => string;
}

async function readDocument(file: string): Promise<Document> {
  const markdown = await readFile(path.join(ROOT, file), 'utf8');
  const textOf = (part: string) => withLinks(file, part).trim();
  const sections = new Map<string, string>();
  for (const section of markdown.split(/^## /m).slice(1)) {
    const end = section.indexOf('\n');
    sections.set(section.slice(0, end).trim(), textOf(section.slice(end)));
  }
  const end = markdown.indexOf('\n');
  return {
    title: markdown.slice(0, end).replace(/^# /, ''),
    whole: textOf(markdown.slice(end)),
    get: (heading) => {
      const text = sections.get(heading);
      if (text === undefined) throw new Error(`${file} has no section ${heading}`);
      return text;
    },
  };
}

/** Links to the contract lead to its tags in the API reference. Other relative links lead nowhere; their texts stay. */
const withLinks = (file: string, markdown: string) =>
  markdown.replaceAll(/\[([^[\]]+)\]\((?!https?:)([^()]+)\)/g, (_, text: string, target: string) => {
    const tag = tagOf(file, target);
    return tag === undefined ? text : `[${text}](#tag/${anchorOf(tag)})`;
  });

/** Where the API reference has the part of the contract that a link in the file points to. */
export function addressInReference(file: string, target: string): string | undefined {
  const tag = tagOf(file, target);
  return tag === undefined ? undefined : `/docs#tag/${anchorOf(tag)}`;
}

/** The tag of the page, or of the section of the README, that a link in the file points to. */
function tagOf(file: string, target: string): string | undefined {
  const [where = '', anchor = ''] = target.split('#');
  const page = path.relative(CONTRACT, where === '' ? file : path.join(path.dirname(file), where));
  const tags = page === 'README.md' ? GUIDES : RESOURCES;
  const isIn = (part: string) => (page === 'README.md' ? anchorOf(part) === anchor : part === page);
  return Object.keys(tags).find((tag) => tags[tag]?.some(isIn));
}

const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');
