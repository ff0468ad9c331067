import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const FILE = path.join(import.meta.dirname, '../../../../guide-pages.json');

const TAGS = [
  ...['h2', 'h3', 'p', 'ul', 'ol', 'li', 'pre', 'a', 'code', 'strong', 'em'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
] as const;

/** A part of a guide: a text, or an element. */
export type GuideNode = string | GuideElement;

export interface GuideElement {
  tag: (typeof TAGS)[number];
  /** Of headings, which links name. */
  id?: string | undefined;
  /** Of a link: to another page, to a part of this one, or from the folder of the guides. */
  href?: string | undefined;
  /** The first number of an `ol`. */
  start?: number | undefined;
  children: GuideNode[];
}

export interface GuidePage {
  /** Its last part of the path. */
  name: string;
  title: string;
  nodes: GuideNode[];
}

/** The guides, by who needs them. */
export interface GuidePages {
  groups: { title: string; guides: GuidePage[] }[];
}

const element: z.ZodType<GuideElement> = z.object({
  tag: z.enum(TAGS),
  id: z.string().optional(),
  href: z.string().optional(),
  start: z.number().optional(),
  children: z.array(z.lazy(() => z.union([z.string(), element]))),
});
const page = z.object({ name: z.string(), title: z.string(), nodes: z.array(z.union([z.string(), element])) });
const pages: z.ZodType<GuidePages> = z.object({
  groups: z.array(z.object({ title: z.string(), guides: z.array(page) })),
});

/** Reads the pages that are generated from docs/guides. @throws Error if they cannot be read */
export function readGuidePages(): GuidePages {
  try {
    return pages.parse(JSON.parse(readFileSync(FILE, 'utf8')));
  } catch (error) {
    throw new Error('gateway/guide-pages.json cannot be read: run npm run generate', { cause: error });
  }
}
