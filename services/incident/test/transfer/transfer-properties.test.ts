import { expect, test } from '@jest/globals';
import { INCIDENT_PROPERTIES } from '../../src/incidents/domain/incident-properties.ts';
import { beginningOf, restOf } from '../../src/transfer/domain/export-line.ts';
import { incidentItem } from '../../src/transfer/http/wire.ts';
import { anIncident } from '../incidents/incident.ts';

/** Properties that an item has in another form. */
const OTHERWISE: Readonly<Record<string, string>> = {
  external_id: 'external',
  team_id: 'team',
  incident_manager: 'people',
  incident_responders: 'people',
  roles: 'people',
};

test('an export has every property that clients write, and an import takes all that an export has', () => {
  const incident = anIncident();
  const context = { workspace: 'acme', team: null, personOf: () => ({ name: 'Ana' }) };
  const line = { ...beginningOf(incident, context), ...restOf(incident, context) };
  const exported = [...Object.keys(line), ...Object.keys(line.moments)];

  const written = Object.values(INCIDENT_PROPERTIES).flatMap((property) =>
    'create' in property ? [property.name] : [],
  );
  expect(written.length).toBeGreaterThan(15);
  // Who may see it is decided again where it arrives.
  const left = written.filter((name) => name !== 'visible_to');
  expect(left.filter((name) => !exported.includes(OTHERWISE[name] ?? name))).toEqual([]);
  expect(incidentItem.parse(line)).toEqual(line);
});
