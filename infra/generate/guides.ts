import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Guides } from '../../gateway/src/description.ts';
import { ROOT } from '../environment.ts';
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

/** The texts of the API description, from docs/contract.md, so that the rules are written down once. */
export const guidesFile = {
  file: 'gateway/guides.json',
  generate: async () => {
    const sections = sectionsOf(await readFile(path.join(ROOT, 'docs/contract.md'), 'utf8'));
    const textOf = (names: readonly string[]) =>
      names.map((name, index) => (index === 0 ? '' : `## ${name}\n\n`) + getSection(sections, name)).join('\n\n');
    const guides: Guides = {
      guides: Object.entries(GUIDES).map(([name, parts]) => ({ name, description: textOf(parts) })),
      resources: Object.entries(RESOURCES).map(([name, parts]) => ({ name, description: textOf(parts) })),
    };
    return jsonText(guides);
  },
};

/** The texts of a document by their headings of the second level. */
function sectionsOf(markdown: string): Map<string, string> {
  const sections = new Map<string, string>();
  for (const section of markdown.split(/^## /m).slice(1)) {
    const end = section.indexOf('\n');
    sections.set(section.slice(0, end).trim(), withLinks(section.slice(end)).trim());
  }
  return sections;
}

function getSection(sections: ReadonlyMap<string, string>, name: string): string {
  const text = sections.get(name);
  if (text === undefined) throw new Error(`docs/contract.md has no section ${name}`);
  return text;
}

/** Links to sections lead to their tags in the API reference. Other relative links lead nowhere; their texts stay. */
const withLinks = (markdown: string) =>
  markdown.replaceAll(/\[([^[\]]+)\]\((?!https?:)([^()]+)\)/g, (_, text: string, target: string) => {
    const tag = Object.entries({ ...GUIDES, ...RESOURCES }).find(([, parts]) =>
      parts.some((section) => target === `#${anchorOf(section)}`),
    );
    return tag === undefined ? text : `[${text}](#tag/${anchorOf(tag[0])})`;
  });

const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');
