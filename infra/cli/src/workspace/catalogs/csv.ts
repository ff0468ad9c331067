import { type InfoRecord, parse } from 'csv-parse/sync';
import { readInput } from '../../read-input.ts';
import type { Session } from '../../session.ts';
import type { WorkspaceDocument } from '../document.ts';
import { documentBuilder, slugOf, type CatalogDocument } from './catalog-document.ts';

type Service = NonNullable<WorkspaceDocument['services']>[number];
interface Row {
  record: Partial<Service>;
  info: InfoRecord;
  raw: string;
}

/** Separated by commas or semicolons. */
const LISTS: readonly unknown[] = ['tags', 'observability_names'];
/** `null` clears them. */
const NULLABLE: readonly unknown[] = ['description', 'owner_team', 'external_id', 'runbook_url'];
const COLUMNS: readonly unknown[] = ['slug', 'name', 'tier', ...NULLABLE, ...LISTS];
/** A file that commas separate never means another one. */
const DELIMITERS = [',', ';', '\t'];
const OPTIONS = {
  ...{ bom: true, info: true, raw: true, record_delimiter: '\n', max_record_size: 1_048_576 },
  ...{ skip_empty_lines: true, skip_records_with_empty_values: true },
};

/**
 * Reads services from CSV files with a header. An empty cell says nothing; a row without a slug gets that of its name.
 * @throws Error naming file and line
 */
export async function readCsv(session: Session, files: readonly string[]): Promise<CatalogDocument> {
  const builder = documentBuilder();
  for (const file of files) {
    // The parser counts both characters of an end of a line.
    const text = (await readInput(session, file)).replaceAll(/\r\n?/g, '\n');
    for (const { record, info, raw } of readRows(file, text, builder.ignore)) {
      // Lines are counted up to the end of a row.
      const place = `${file}:${info.lines - (raw.trimEnd().match(/\n/g)?.length ?? 0)}`;
      const said = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
      const slug = record.slug ?? slugOf('services', record.name ?? '');
      if (slug === '') throw new Error(`${place}: slug: Is required, because the name has no letter`);
      builder.add('services', { ...said, slug }, { identity: `slug ${slug}`, place });
    }
  }
  return builder.build(files.join(', '));
}

function readRows(file: string, text: string, ignore: (what: string) => void): Row[] {
  if (text.trim() === '') throw new Error(`${file}: has no header`);
  const [first = ''] = text.trimStart().split('\n', 1);
  const delimiter = DELIMITERS.find((each) => first.includes(each)) ?? ',';
  const columns = (titles: string[]) => {
    const names = titles.map((title) =>
      title
        .trim()
        .toLowerCase()
        .replaceAll(/[\s-]+/g, '_'),
    );
    if (!names.includes('slug') && !names.includes('name'))
      throw new Error(`line 1: Must have slug or name, and may have ${COLUMNS.join(', ')}`);
    return names.map((name, index) => {
      if (names.indexOf(name) !== index) throw new Error(`line 1: the column ${name} is there twice`);
      if (!COLUMNS.includes(name)) ignore(`column ${titles[index] ?? ''}`);
      return COLUMNS.includes(name) ? name : false;
    });
  };
  try {
    return parse(text, {
      ...{ ...OPTIONS, delimiter, columns },
      cast: (cell, { column, header }) => (header ? cell : valueOf(column, cell.trim())),
    }) as unknown as Row[];
  } catch (error) {
    throw new Error(`${file}: is no table of services: ${(error as Error).message}`, { cause: error });
  }
}

function valueOf(column: unknown, text: string): unknown {
  if (text === '') return undefined;
  if (text === 'null' && NULLABLE.includes(column)) return null;
  if (!LISTS.includes(column)) return text;
  const texts = text === 'null' ? [] : text.split(/[,;]/);
  return texts.map((each) => each.trim()).filter((each) => each !== '');
}
