import type { Json } from '@tocsin/http';
import { boundedCache, ENTRY_BYTES, type Instant } from '@tocsin/runtime';
import { durationSeconds } from '../domain/incident.ts';
import type { VersionedIncident } from '../store/incident-store.ts';
import type { IncidentVersion } from '../store/incident-row.ts';
import { incidentView } from './views.ts';
import type { IncidentWire } from './wire.ts';

/** Of all incidents that are kept; about 12,000 of them. */
const KEPT_BYTES = 16 * 1_048_576;
/** A larger one is rendered whenever it is listed. */
const MAX_BYTES = 16_384;

/** The JSON of incidents, which is the same for a version but for the duration of an open incident. */
export interface RenderedIncidents {
  /** Undefined if this version is not kept. What is found stays valid if it is no longer kept. */
  find(version: IncidentVersion): RenderedIncident | undefined;
  /** Whether it has some version of an incident. */
  keeps(id: number): boolean;
  json(incident: RenderedIncident | VersionedIncident, now: Instant): Json<IncidentWire>;
}

interface RenderedIncident extends IncidentVersion {
  /** Without the duration. */
  json: Buffer;
  /** Where the duration belongs. */
  durationAt: number;
  times: DurationTimes;
}

type DurationTimes = Parameters<typeof durationSeconds>[0];

export function renderedIncidents(): RenderedIncidents {
  const kept = boundedCache<number, RenderedIncident>({
    bytes: KEPT_BYTES,
    sizeOf: ({ json }) => ENTRY_BYTES + json.length,
  });
  const find = ({ id, revision, xmin }: IncidentVersion): RenderedIncident | undefined => {
    const rendered = kept.get(id);
    return rendered?.revision === revision && rendered.xmin === xmin ? rendered : undefined;
  };
  return {
    find,
    keeps: (id) => kept.has(id),
    json: (incident, now) => {
      if ('json' in incident) return withDuration(incident, now);
      const keptVersion = find(incident);
      if (keptVersion !== undefined) return withDuration(keptVersion, now);
      const rendered = render(incident, now);
      if (rendered.json.length <= MAX_BYTES) kept.set(incident.id, rendered);
      return withDuration(rendered, now);
    },
  };
}

function render(incident: VersionedIncident, now: Instant): RenderedIncident {
  const { id, revision, xmin, restricted, impactStartedAt, firstReportedAt, createdAt, recoveredAt, endedAt } =
    incident;
  const view = incidentView(incident, now);
  const text = JSON.stringify(view);
  const name = '"duration_seconds":';
  // What comes before it in the view are texts, in which quotation marks are escaped.
  const start = text.indexOf(name) + name.length;
  const before = text.slice(0, start);
  const after = text.slice(start + String(view.duration_seconds).length);
  const durationAt = Buffer.byteLength(before);
  // Not from Buffer's pool: a small one would keep the whole block of 64 KiB alive that it shares with others.
  const json = Buffer.allocUnsafeSlow(durationAt + Buffer.byteLength(after));
  json.write(before);
  json.write(after, durationAt);
  return {
    id,
    revision,
    xmin,
    restricted,
    json,
    durationAt,
    times: { impactStartedAt, firstReportedAt, createdAt, recoveredAt, endedAt },
  };
}

function withDuration({ json, durationAt, times }: RenderedIncident, now: Instant): Buffer {
  const seconds = Buffer.from(String(durationSeconds(times, now)));
  return Buffer.concat([json.subarray(0, durationAt), seconds, json.subarray(durationAt)]);
}
