import { readdirSync } from 'node:fs';
import path from 'node:path';
import { readPrivate } from '../contexts.ts';
import { UsageError } from '../operation-parameters.ts';
import { placeOf } from './answers.ts';
import type { AnswersOf, FactReader, Facts } from './source.ts';

function* answersIn(folder: string, beginning = ''): Generator {
  for (const file of namesIn(folder))
    if (file.startsWith(beginning) && file.endsWith('.json')) yield readPrivate(folder, file);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The incidents of a folder, by their IDs: those whose other answers were read, too. */
export function readFacts(folder: string, reader: FactReader) {
  const list = path.join(folder, 'list');
  const placeOfIncident = (id: string) => path.join(...placeOf(folder, `incidents/${id}/x`).slice(0, 1));
  const read = new Set(namesIn(path.join(folder, 'incidents')).map((name) => path.join(folder, 'incidents', name)));
  const ids = new Set<string>();
  for (const answer of answersIn(list))
    for (const { id } of reader.rowsOf(answer)) if (read.has(placeOfIncident(String(id)))) ids.add(String(id));
  if (ids.size < read.size) throw new UsageError(`${folder} has answers about incidents that no list names`);

  const commonOf = new Map<string, readonly unknown[]>();
  const common: AnswersOf = (name) => {
    const answers = commonOf.get(name) ?? [...answersIn(folder, `${name}.`), ...answersIn(path.join(folder, name))];
    commonOf.set(name, answers);
    return answers;
  };
  return {
    ids,
    /** Files of its answers: the longest timeline has most. */
    sizeOf: (id: string): number => namesIn(placeOfIncident(id)).length,
    /** The facts of some of them. One that has changed while the list was read has those of each of its rows. */
    factsOf: (wanted: ReadonlySet<string>): Map<string, Facts[]> => {
      const facts = new Map<string, Facts[]>();
      for (const answer of answersIn(list))
        for (const row of reader.rowsOf(answer)) {
          const id = String(row.id);
          if (!wanted.has(id)) continue;
          const answers: AnswersOf = (beginning) => [...answersIn(placeOfIncident(id), beginning)];
          facts.set(id, [...(facts.get(id) ?? []), reader.factsOf({ row, answers, common })]);
        }
      return facts;
    },
  };
}
