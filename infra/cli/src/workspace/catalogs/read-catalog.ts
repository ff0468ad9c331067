import type { Call } from '../../session.ts';
import { visible } from '../../visible.ts';
import type { LoadedDocument } from '../document.ts';
import { readBackstage } from './backstage.ts';
import { readCsv } from './csv.ts';

const CATALOGS = { backstage: readBackstage, csv: readCsv };

/** A kind of catalog that a plan can be made of, besides files of the workspace. */
export type CatalogName = keyof typeof CATALOGS;

/** Reads folders or files of another system, and says what has no place in a workspace. @throws Error */
export async function readCatalog(call: Call, name: CatalogName, paths: readonly string[]): Promise<LoadedDocument> {
  const { ignored, leftOut, ...loaded } = await CATALOGS[name](call.session, paths);
  for (const what of ignored) call.output.note(`ignored: ${what}`);
  for (const what of leftOut) call.output.note(visible(`left out: ${what}`));
  return loaded;
}
