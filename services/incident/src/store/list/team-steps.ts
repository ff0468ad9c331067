import { byCodePoints } from '../../domain/compare-text.ts';
import { fold } from '../../domain/fold.ts';
import type { Direction } from '../../domain/list-sort.ts';
import { ofServices } from './conditions.ts';
import { probed } from './probes.ts';
import type { ListQuestion } from './question.ts';
import { sql } from './sql.ts';
import { ordered, type Step } from './steps.ts';

/** By the name of the team that an incident has, or that its service hands on; then those of no team that is known. */
export function teamSteps({ teams, services }: ListQuestion, direction: Direction): Step[] {
  const nameOf = new Map(teams.map(({ id, name }) => [id, fold(name)]));
  const ascending = [...new Set(nameOf.values())].sort(byCodePoints);
  const keys = direction === 'asc' ? ascending : ascending.toReversed();
  const owned = services.flatMap(({ slug, ownerTeamId }) => {
    const key = ownerTeamId === null ? undefined : nameOf.get(ownerTeamId);
    return key === undefined ? [] : [{ key, value: slug }];
  });
  const slugs = owned.map(({ value }) => value);
  return [
    probed(direction, keys, [
      {
        type: 'bigint',
        probes: [...nameOf].map(([id, key]) => ({ key, value: id })),
        match: sql`i.team_id = probe.value`,
      },
      {
        type: 'text',
        probes: owned,
        match: sql`i.team_id is null and i.service_folded = probe.folded and i.service = probe.value`,
      },
    ]),
    ordered(direction, [], {
      where: [
        sql`(i.team_id = any(${[...nameOf.keys()]}) or (i.team_id is null and ${ofServices(slugs)})) is not true`,
      ],
      tie: sql`i.number`,
    }),
  ];
}
