import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Guides } from '../../gateway/src/description.ts';
import { ROOT } from '../installation/environment.ts';
import { jsonText } from './formatted.ts';

/** The sections of docs/contract.md by the tags of the API description that are texts. */
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

/** The sections of docs/contract.md about the operations of each tag. */
const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  Incidents: ['Incidents', 'Lifecycle', 'Incident lists', 'Incident statistics'],
  Timeline: ['Timeline', 'Timeline imports'],
  Alerts: ['Alerts'],
  'Custom fields': ['Custom fields'],
  Chat: ['Chat'],
  Services: ['Catalog'],
  Teams: ['Catalog'],
  Configuration: ['Configuration'],
  Webhooks: ['Webhooks', 'Deliveries'],
  'Event feed': ['Event feed', 'Waiting and streaming'],
  'Import and export': ['Import', 'Export'],
  Users: ['Users'],
  'API keys': ['API keys'],
  Sessions: ['Sessions'],
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
    const contract = await readSections('docs/contract.md');
    const textOf = (names: readonly string[]) =>
      names.map((name, index) => (index === 0 ? '' : `## ${name}\n\n`) + contract.get(name)).join('\n\n');
    const setup = Object.entries(SETUP).map(async ([name, [file, section]]) => {
      const document = await readSections(file);
      return { name, description: section === undefined ? document.whole : document.get(section) };
    });
    const guides: Guides = {
      guides: [
        ...Object.entries(GUIDES).map(([name, parts]) => ({ name, description: textOf(parts) })),
        ...(await Promise.all(setup)),
      ],
      resources: Object.entries(RESOURCES).map(([name, parts]) => ({ name, description: textOf(parts) })),
    };
    return jsonText(guides);
  },
};

/** The text of a document below its title, and the parts of it by their headings of the second level. */
async function readSections(file: string): Promise<{ whole: string; get: (heading: string) => string }> {
  const markdown = await readFile(path.join(ROOT, file), 'utf8');
  const sections = new Map<string, string>();
  for (const section of markdown.split(/^## /m).slice(1)) {
    const end = section.indexOf('\n');
    sections.set(section.slice(0, end).trim(), withLinks(section.slice(end)).trim());
  }
  return {
    whole: withLinks(markdown.slice(markdown.indexOf('\n'))).trim(),
    get: (heading) => {
      const text = sections.get(heading);
      if (text === undefined) throw new Error(`${file} has no section ${heading}`);
      return text;
    },
  };
}

/** Links to sections lead to their tags in the API reference. Other relative links lead nowhere; their texts stay. */
const withLinks = (markdown: string) =>
  markdown.replaceAll(/\[([^[\]]+)\]\((?!https?:)([^()]+)\)/g, (_, text: string, target: string) => {
    const tag = Object.entries({ ...GUIDES, ...RESOURCES }).find(([, parts]) =>
      parts.some((section) => target.replace('../contract.md', '') === `#${anchorOf(section)}`),
    );
    return tag === undefined ? text : `[${text}](#tag/${anchorOf(tag[0])})`;
  });

const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');
