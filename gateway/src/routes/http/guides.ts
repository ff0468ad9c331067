import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const FILE = path.join(import.meta.dirname, '../../../guides.json');

const tag = z.object({ name: z.string(), description: z.string() });
const guides = z.object({
  /** Tags without operations: rules that hold for all of them. */
  guides: z.array(tag),
  /** The tags of the operations. */
  resources: z.array(tag),
});

/** The texts of the public API description; Markdown. */
export type Guides = z.infer<typeof guides>;

/** Reads the texts that are generated from docs/contract. @throws Error naming the file that cannot be read */
export async function readGuides(): Promise<Guides> {
  try {
    return guides.parse(JSON.parse(await readFile(FILE, 'utf8')));
  } catch (error) {
    throw new Error('gateway/guides.json cannot be read: run npm run generate', { cause: error });
  }
}
