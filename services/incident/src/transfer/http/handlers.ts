import { COST_HEADER, type Cursors, invalidRequest } from '@tocsin/http';
import type { Dependencies } from '../../dependencies.ts';
import { humanId } from '../../incidents/domain/incident.ts';
import type { ImportItem, ImportResult, Refusal } from '../domain/item.ts';
import { exportLines } from '../export-incidents.ts';
import { importIncidents } from '../import-incidents.ts';
import type { TransferApi } from './contracts.ts';
import { readItem } from './items.ts';
import type { ImportResultWire } from './wire.ts';

/** Timeline events and changelog entries of one request. */
const MAX_PARTS_IN_ALL = 2_500;
/** As many cost as much as a write of one resource. */
const PARTS_OF_ONE_COST = 20;

/** contract: Import, Export */
export const transferHandlers = (options: { dependencies: Dependencies; cursors: Cursors }): TransferApi => ({
  importIncidents: async ({ principal, requestId, body }) => {
    const items = body.incidents.map(readItem);
    const parts = items.reduce((sum, item) => sum + partsOf(item), 0);
    if (parts > MAX_PARTS_IN_ALL) {
      const message = `Must have at most ${MAX_PARTS_IN_ALL} timeline events and changelog entries together`;
      throw invalidRequest('incidents', message);
    }
    const results = await importIncidents(options.dependencies, { principal, requestId, items });
    const written = results.filter(({ outcome }) => outcome === 'created' || outcome === 'updated').length;
    // The request itself costs 1.
    const cost = Math.max(0, written - 1) + Math.floor(parts / PARTS_OF_ONE_COST);
    return { body: { results: results.map(resultView) }, headers: { [COST_HEADER]: String(cost) } };
  },
  exportIncidents: async ({ principal, query: { cursor }, waiting }) => ({
    lines: await exportLines(options, { principal, cursor, waiting }),
  }),
});

const partsOf = (item: ImportItem | Refusal) => ('outcome' in item ? 0 : item.timeline.length + item.changelog.length);

function resultView(result: ImportResult, index: number): ImportResultWire {
  if (result.outcome !== 'refused') {
    const { id, number, revision } = result.incident;
    return { index, outcome: result.outcome, incident_id: id, human_id: humanId(number), revision };
  }
  const { outcome, field, message } = result;
  const none = { incident_id: null, human_id: null, revision: null };
  return { index, outcome, ...none, ...(field !== undefined && { field }), message };
}
