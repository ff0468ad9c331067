import type { Direction } from '../../domain/list-sort.ts';
import { probed } from './probes.ts';
import type { ListQuestion, ResolvedSort } from './question.ts';
import { type Sql, sql } from './sql.ts';
import { ordered, type Step } from './steps.ts';
import { teamSteps } from './team-steps.ts';

type PlainKey = Exclude<ResolvedSort['key'], 'custom'>;

/** Sorts by what stands in the incident's own row, or is found by it. */
export const PLAIN_STEPS: Readonly<Record<PlainKey, (question: ListQuestion, direction: Direction) => Step[]>> = {
  archived_at: (_question, direction) => [ordered(direction, [sql`i.archived_at`])],
  created_at: (_question, direction) => [ordered(direction, [sql`i.created_at`])],
  case: (_question, direction) => [ordered(direction, [], { tie: sql`i.number` })],
  events: (_question, direction) => [ordered(direction, [sql`i.event_count`])],
  diagnosis: (_question, direction) => [ordered(direction, [sql`i.diagnosis`])],
  last_event_at: (_question, direction) => nullable(sql`i.last_event_at`, direction),
  impact: (_question, direction) => nullable(sql`i.affected_customers`, direction),
  service: (_question, direction) => nullable(sql`i.service_folded`, direction),
  regions: (_question, direction) => nullable(sql`i.region_folded`, direction),
  owner: (_question, direction) => nullable(sql`i.owner_folded`, direction),
  status: ({ configuration }, direction) => configured(sql`i.status`, configuration.statuses, direction),
  // The most severe stands first in the configuration, and last in ascending order.
  severity: ({ configuration }, direction) =>
    configured(sql`i.severity`, configuration.severities.toReversed(), direction),
  team: teamSteps,
};

/** Whatever the direction, incidents without a value come last. */
const nullable = (column: Sql, direction: Direction): Step[] => [
  ordered(direction, [column], { where: [sql`${column} is not null`] }),
  ordered(direction, [], { where: [sql`${column} is null`] }),
];

/** @param entries in ascending order */
function configured(column: Sql, entries: readonly { key: string }[], direction: Direction): Step[] {
  const ascending = entries.map(({ key }) => key);
  const keys = direction === 'asc' ? ascending : ascending.toReversed();
  return [
    probed(direction, keys, [
      { type: 'text', probes: keys.map((key) => ({ key, value: key })), match: sql`${column} = probe.value` },
    ]),
    // Somebody may have declared one while its key was taken out of the configuration.
    ordered(direction, [], { where: [sql`${column} <> all(${keys})`] }),
  ];
}
